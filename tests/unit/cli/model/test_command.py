"""`wulf model`: options, exit codes, output for people and programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.unit.workflow.model.test_roofline import FULL
from tests.unit.workflow.model.test_traces import traced
from tests.wording import lacking
from wulf.cli.model import command as model_command
from wulf.cli.model.command import command
from wulf.core.errors import UsageError
from wulf.rates.machine import read_identity
from wulf.rates.publishing import publish
from wulf.rates.rate import Rate

TABLE = "workers,seconds\n" + "\n".join(f"{n},{100 / n + 5}\n{n},{101 / n + 5}" for n in (1, 2, 4, 8, 16))


@pytest.fixture
def times(tmp_path: Path) -> Path:
    path = tmp_path / "times.csv"
    path.write_text(TABLE)
    return path


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert command.main([str(word) for word in words], standalone_mode=False) == 0
    return capsys.readouterr().out


def test_a_table_is_studied(times: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "speedup", times, "--at", "32,640")
    text = " ".join(out.split())
    assert "5 numbers of workers, 1 to 16, 10 runs" in text
    assert lacking(text, "! 640 workers: more than 2 times", "measured (16)") == []


def test_json_and_page(times: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    found = json.loads(run(capsys, "speedup", times, "--json", "--html", page, "--serial", "104"))
    assert found["best"] in found["forms"]
    assert {"ts", "tip"} <= set(found["forms"]["brown"]["parameters"])
    assert page.read_text().startswith("<!doctype html>")


def test_traces_tell_browns_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [traced(tmp_path / f"of{n}", n) for n in (1, 2, 4, 8)]
    found = json.loads(run(capsys, "speedup", *names, "--json"))
    assert found["parameters"]["tp"]["value"] == pytest.approx(10, rel=1e-3)
    assert "traces of 8 ranks tell Ts + Tp/N" in " ".join(run(capsys, "speedup", names[-1]).split())


def test_browns_figures(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, "speedup", "--brown", "--json"))
    assert [figure["tis"] for figure in found["figures"]] == [0, 1, 10, 10, 1]
    assert [figure["figure"] for figure in found["figures"]] == [None, None, None, 4, 4]
    assert found["figures"][1]["curves"][3] == {
        "tp": 10000,
        "peak": pytest.approx(100),
        "speedup": pytest.approx(10010 / 211),
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["speedup"], "from a table or from a run"),
        (["speedup", "TIMES", "--from", "last"], "from a table or from a run"),
        (["speedup", "TIMES", "--metric", "seconds"], "choose from a run"),
        (["speedup", "TIMES", "--brown"], "--brown draws his figures"),
        (["speedup", "TIMES", "a"], "is a table, which stands alone"),
        (["speedup", "a", "b", "--serial", "1"], "--serial is not for traces"),
        (["speedup", "a", "--from", "last"], "--from is not for traces"),
        (["roofline", "--node", "n1"], "--node chooses from a run"),
        (["loggp", "--subject", "n1>n2"], "--subject chooses from a run"),
        (["loggp", "n1", "n2", "--from", "last"], "--from names a run that was"),
    ],
)
def test_what_does_not_go_together_is_refused(times: Path, words: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        command.main([str(times) if word == "TIMES" else word for word in words], standalone_mode=False)


@pytest.mark.parametrize(
    ("asked", "ranks"),
    [([], 2), (["--ranks", "4"], 4), (["--per-node", "2"], None)],
    ids=["a pair", "ranks", "per node"],
)
def test_loggp_is_of_a_pair_however_many_nodes_there_are(
    monkeypatch: pytest.MonkeyPatch, asked: list[str], ranks: int | None
) -> None:
    def launched(options: dict[str, object], make: object) -> None:
        raise UsageError(f"ranks: {options['ranks']}")

    monkeypatch.setattr(model_command, "over_ranks", launched)
    with pytest.raises(UsageError, match=f"^ranks: {ranks}"):
        command.main(["loggp", "n1", "n2", "n3", *asked], standalone_mode=False)


@pytest.mark.parametrize(("option", "value"), [("--at", "0.5"), ("--at", "x"), ("--serial", "-1"), ("--serial", "inf")])
def test_numbers_are_checked(times: Path, option: str, value: str) -> None:
    result = CliRunner().invoke(command, ["speedup", str(times), option, value])
    assert result.exit_code == 2
    assert value in result.output


def test_too_few_points_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("workers,seconds\n1,2\n2,1\n")
    with pytest.raises(UsageError, match="needs 3 numbers of workers; there are 2") as error:
        command.main(["speedup", str(path)], standalone_mode=False)
    assert error.value.next_step == "measure more numbers of workers"


def test_a_roofline_of_this_machines_rates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rates.json"
    rates: dict[str, Rate] = FULL
    publish(path, rates, read_identity(), "2026-01-31T12:00:00.000Z", host="n1")
    monkeypatch.setenv("WULF_RATES", str(path))
    assert "one CPU: peak 10 Gflop/s" in run(capsys, "roofline", "--intensity", "0.5")
    found = json.loads(run(capsys, "roofline", "--intensity", "0.5", "--json"))
    assert found["roofs"][0]["memories"][0]["attainable"][0]["value"] == pytest.approx(5e9)
