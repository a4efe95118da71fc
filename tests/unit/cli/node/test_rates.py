"""`wulf rates`: exit codes, what it prints, and errors that say what to do."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import wulf.rates
from tests.unit.rates.making import LATENCY, SIZE, written
from tests.unit.workflow.node.test_rates import here, row
from wulf.cli.main import cli
from wulf.cli.node.rates import command
from wulf.core.errors import USAGE, UsageError
from wulf.store.run import RunWriter

SCHEMA = json.loads((Path(__file__).parents[4] / "docs" / "reference" / "rates.schema.json").read_text())


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WULF_RATES", str(tmp_path / "rates.json"))
    return tmp_path / "rates.json"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with RunWriter(tmp_path / "run", "node") as writer:
        writer.append(row("mem.l2.latency", value=3e-9))
        writer.append(row("os.io_uring", value=None, verdict="unresolved", reason="no io_uring here"))
        writer.write_json("fingerprint.json", {"n1": here()})
        writer.finish("complete")
    return tmp_path / "run"


def call(*words: str | Path) -> int:
    code = command.main([str(word) for word in words], standalone_mode=False)
    return int(code or 0)


def test_a_run_is_published_and_read(file: Path, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("publish", "--from", run) == 0
    out = capsys.readouterr()
    assert out.out.startswith(f"{file}: 1 rates measured, ")
    assert "have no value: `wulf rates list` says why" in out.err
    jsonschema.validate(json.loads(file.read_text()), SCHEMA)
    assert call("get", "mem.l2.latency") == 0
    assert capsys.readouterr().out == "3e-09 s\n"
    assert call("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("mem.l2.latency  3 ns") for line in lines)
    assert any(line.startswith("os.io_uring") and line.endswith("no io_uring here") for line in lines)


@pytest.mark.parametrize(
    "words", [("get", "mem.l2.size"), ("get", "mem.l2.size", "--json"), ("list",), ("list", "--json")]
)
def test_a_rates_file_of_others_drives_no_terminal(
    file: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """It is the service's, and may be read by root."""
    written(file)
    content = json.loads(file.read_text())
    odd = "\x1b]0;owned\x07\u202e\x9b31m"
    content["host"] = odd
    content["rates"]["mem.l2.size"]["unit"] = odd
    file.write_text(json.dumps(content))
    call(*words)
    said = "".join(capsys.readouterr())
    assert said
    assert not set(said) & set("\x1b\x07\u202e\x9b")


def test_a_rate_as_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(file)
    call("get", "mem.l2.size", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["value"], found["low"], found["unit"]) == ("mem.l2.size", 1048576, 983040, "B")
    assert found["age"] > 0
    call("list", "--json")
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_whole_sizes_are_printed_whole(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(file, replace(SIZE, value=503316480.0))
    call("get", "mem.l2.size")
    assert capsys.readouterr().out == "503316480 B\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["get", "mem.l9.size"], wulf.rates.RateMissingError),
        (["get", "os.io_uring"], wulf.rates.RateUnknownError),
        (["get", "mem.l2.size", "--max-age", "7d"], wulf.rates.RateOldError),
    ],
)
def test_missing_or_old_ends_with_3(file: Path, words: list[str], error: type[wulf.rates.RatesError]) -> None:
    written(file, *(replace(rate, at="2020-01-31T12:00:00.000Z") for rate in (SIZE, LATENCY)))
    written(file)
    if error is wulf.rates.RateOldError:
        written(file, replace(SIZE, at="2020-01-31T12:00:00.000Z"))
    with pytest.raises(error) as caught:
        call(*words)
    assert caught.value.exit_code == 3


def test_no_file_ends_with_3(file: Path) -> None:
    with pytest.raises(wulf.rates.RatesMissingError) as caught:
        call("get", "mem.l2.size")
    assert caught.value.exit_code == 3


def test_what_does_not_go_together_is_refused(file: Path, run: Path) -> None:
    for words in (["--from", run, "--quick"], ["--from", run, "--rate", "x"], ["--node", "n1"], ["--only", "colour"]):
        with pytest.raises(UsageError) as caught:
            call("publish", *words)
        assert caught.value.exit_code == USAGE
    assert not file.exists()


def test_a_rate_that_is_no_row_names_the_nearest(file: Path) -> None:
    with pytest.raises(UsageError, match=r"mem\.l2\.latencx") as caught:
        call("publish", "--rate", "mem.l2.latencx")
    assert "mem.l2.latency" in caught.value.next_step


def test_a_run_without_a_value_is_incomplete(file: Path, tmp_path: Path) -> None:
    with RunWriter(tmp_path / "empty", "node") as writer:
        writer.append(row("os.io_uring", value=None, verdict="unresolved", reason="no io_uring here"))
        writer.write_json("fingerprint.json", {"n1": here()})
        writer.finish("complete")
    assert call("publish", "--from", tmp_path / "empty") == 3


def test_the_path_is_the_readers(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("path")
    assert capsys.readouterr().out == f"{file}\n"


def test_the_compiler_finds_the_header(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["rates", "--cflags"])
    assert result.exit_code == 0
    (flag,) = shlex.split(result.output)
    assert (Path(flag.removeprefix("-I")) / "wulf_rates.h").is_file()


def test_refresh_on_a_busy_machine_measures_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setattr("wulf.workflow.node.refresh_host.background", lambda: None)
    monkeypatch.setattr("os.getloadavg", lambda: (1000.0, 0.0, 0.0))
    monkeypatch.setattr("wulf.workflow.node.refresh_host.time.sleep", lambda _: None)
    assert call("refresh", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["why"], found["measured"]) == ("the load is above the limit", [])
    assert (tmp_path / "state" / "refresh.json").exists()
