"""`wulf history`: exit codes, output for people and programs, and errors that say what to do."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.unit.report.make_history import line, write_run, write_weeks
from tests.wording import lacking
from wulf.cli.commands import listings
from wulf.cli.main import cli
from wulf.cli.runs.history import Setting, command
from wulf.core.errors import UsageError


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_weeks(tmp_path_factory.mktemp("runs"))


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    code = command.main([str(word) for word in words], standalone_mode=False)
    return int(code), capsys.readouterr().out


def test_it_is_a_command() -> None:
    assert listings()["history"].module == "wulf.cli.runs.history"
    result = CliRunner().invoke(cli, ["history", "--help"])
    assert result.exit_code == 0
    assert "Example: wulf history rtt" in result.output
    assert "Exit code 1" in result.output


def test_better_at_last_is_all_well(weeks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "rtt", "--in", weeks)
    assert code == 0
    assert lacking(out.splitlines()[0], "round trip changed", " 1 of 2 series", " 90 runs") == []
    assert "with n1 kernel.release: 6.1.0-28-amd64 → 6.1.0-31-amd64" in out
    assert "mtu" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out


@pytest.mark.parametrize(("metric", "factor", "code"), [("rtt", 1.2, 1), ("rtt", 0.8, 0), ("throughput", 0.8, 1)])
def test_the_exit_code_says_whether_it_is_worse_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], metric: str, factor: float, code: int
) -> None:
    for number in range(24):
        value = (1 + 0.01 * (number * 7 % 5)) * (factor if number >= 12 else 1)
        write_run(tmp_path, number, [line("n1>n2", metric, value)])
    assert run(capsys, metric, "--in", tmp_path)[0] == code


def test_json_and_filters(weeks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "rtt", "--in", weeks, "--json", "--subject", "n1>n2", "--param", "transport=tcp")
    (item,) = [json.loads(text) for text in out.splitlines()]
    assert code == 0
    assert item["subject"] == "n1>n2"
    assert [change["at"] for change in item["changes"]] == [40, 70]


def test_the_page(weeks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = run(capsys, "rtt", "--in", weeks, "--html", tmp_path / "h.html")
    assert out.rstrip().endswith(f"page: {tmp_path / 'h.html'}")
    assert "kernel.release" in (tmp_path / "h.html").read_text()


def test_errors_say_what_to_do(weeks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError) as caught:
        run(capsys, "rt", "--in", weeks)
    assert "rtt, throughput" in caught.value.next_step
    with pytest.raises(UsageError, match="no runs under"):
        run(capsys, "rtt", "--in", tmp_path)
    with pytest.raises(click.UsageError, match="such as transport=tcp"):
        run(capsys, "rtt", "--param", "tcp")
    with pytest.raises(click.UsageError, match="metric"):
        run(capsys)


def test_a_parameter_and_its_value() -> None:
    assert Setting().convert("a=b=c", None, None) == ("a", "b=c")
    assert Setting().convert(" bytes = 1", None, None) == ("bytes", "1")
