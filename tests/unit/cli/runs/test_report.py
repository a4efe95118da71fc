"""What `wulf report` refuses, before it reads anything."""

from __future__ import annotations

from pathlib import Path

import pytest

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
