"""What `wulf sentry metrics` refuses, before it reads anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.sentry.making import made
from wulf.cli.sentry.metrics import metrics
from wulf.core.errors import UsageError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--serve", ":0", "--textfile", "x"], "--textfile"), (["--stay"], "--stay"), (["--serve", "n1:80"], "--serve"),
        (["--textfile", "/none/x.prom"], "can't be written"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        metrics.main(["--state", str(tmp_path / "none.db"), *words], standalone_mode=False)


def test_so_many_series_as_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made(tmp_path / "sentry.db", nodes=40, days=2)
    metrics.main(["--state", str(path), "--series", "100", "--format", "text"], standalone_mode=False)
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert sum(not line.startswith("wulf_sentry_series_left_out") for line in lines) == 100


def test_without_a_state_it_fails_and_the_file_says_so_too(tmp_path: Path) -> None:
    target = tmp_path / "wulf.prom"
    with pytest.raises(UsageError, match="there is no state of a sentry"):
        metrics.main(["--state", str(tmp_path / "none.db"), "--textfile", str(target)], standalone_mode=False)
    assert target.read_text().endswith("wulf_sentry_readable 0.0\n")


def test_printed_it_is_openmetrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made(tmp_path / "sentry.db", nodes=4, days=2)
    metrics.main(["--state", str(path)], standalone_mode=False)
    assert capsys.readouterr().out.endswith("# EOF\n")
