"""What `wulf report` refuses, before it reads anything; and a site as JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.unit.sentry.making import made
from wulf.cli.runs.report import command
from wulf.core.errors import UsageError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--site", "last"], "--site is about no run"), (["--site", "--full"], "--site is about no run"),
        (["--site", "--in", "."], "--site is about no run"), (["--days", "9"], "about --site"),
        (["--state", "x.db"], "about --site"),
        (["--site", "--state", "/none/sentry.db"], "there is no state of a sentry"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        command.main(words, standalone_mode=False)


def test_a_site_is_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = made(tmp_path / "sentry.db", nodes=50, days=61, every=5, end=time.time())
    page = tmp_path / "page.html"
    command.main(["--site", "--json", "--state", str(state), "--html", str(page)], standalone_mode=False)
    told = capsys.readouterr()
    read = json.loads(told.out)
    assert (read["nodes"], read["as_they_were"], read["days"]) == (50, 48, 120)
    assert {one["node"] for one in read["open"]} == {"n17", "n42", "@epyc-9654"}
    assert f"page: {page}" in told.err
    assert page.is_file()
