"""`wulf cost`: Kronos' published figures, JSON, page, and what does not go together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.wording import Wording, lacking
from wulf.cli.model.cost import command
from wulf.core.errors import UsageError

KRONOS = ("--gflops", "14.53", "--price", "2490", "--watts", "900", "--peak", "28.10")


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert command.main([str(word) for word in words], standalone_mode=False) == 0
    return capsys.readouterr().out


def test_kronos_figures_are_the_published_ones(capsys: pytest.CaptureFixture[str], wording: Wording) -> None:
    out = run(capsys, *KRONOS)
    assert lacking(out.splitlines()[0], "14.53 GFLOPS", "$171/GFLOPS", "16.14 MFLOPS/W", "52 % of peak") == []
    text = " ".join(out.split())
    assert "in June 1993; certainly no. 2 to 24" in text
    assert "been on: June 1998 (no. 500: 13.39 GFLOPS)" in text
    assert "missed: November 1998 (no. 500: 17.12 " in text
    assert max(map(len, out.splitlines())) <= 80
    wording(out[: out.index("\nlist ")])


def test_kronos_place_before_it_was_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(run(capsys, "--gflops", "10.6").split())
    assert "been no. 24 in June 1993 (published: " in text


def test_json_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    found = json.loads(run(capsys, *KRONOS, "--job-seconds", "2h", "--energy-price", "0.3", "--json", "--html", page))
    assert found["flops_per_watt"] == {"value": pytest.approx(14.53e9 / 900), "low": None, "high": None}
    assert found["job"]["energy_price"]["value"] == pytest.approx(0.54)
    assert (found["top500"]["last_on"], found["top500"]["first_missed"]) == ("199806", "199811")
    assert len(found["top500"]["lists"]) >= 67
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "this machine" in text
    assert "November 2025" in text


def test_readings_have_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--gflops", "14.5,14.6,14.4", "--watts", "900,890,905", "--meter", "PDU", "--json")
    found = json.loads(run(capsys, *words))
    assert found["watts"]["source"] == "PDU, mean of 3"
    assert found["rate"]["low"] < 14.5e9 < found["rate"]["high"]
    assert found["flops_per_watt"]["low"] < found["flops_per_watt"]["value"] < found["flops_per_watt"]["high"]


def test_a_modern_machine_would_have_led(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(run(capsys, "--gflops", "60000").split())
    assert "been no. 1 in June 1993, ahead of CM-5/1024" in text
    assert "would have led the lists until June 2004" in text
    assert "1e+" not in text


def test_a_rate_above_its_peak_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "! The rate is above a peak" in run(capsys, "--gflops", "30", "--peak", "28.1")


def test_candidates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nodes.toml"
    path.write_text(
        '[[candidate]]\nname = "old"\nprice = 1000\ngflops = 10\nwatts = 200\n'
        '[[candidate]]\nname = "new"\nprice = 2000\ngflops = 40\nwatts = 300\n'
    )
    out = run(capsys, "--candidates", path, "--energy-price", "0.3", "--years", "4")
    assert out.startswith("Best value: new")
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(run(capsys, "--candidates", path, "--json"))
    assert found["best"] == "new"
    assert found["candidates"][1]["relative_cost"]["value"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "from a run or from --gflops"),
        (["last", "--gflops", "1"], "from a run or from --gflops"),
        (["--gflops", "1", "--metric", "hpl"], "--metric chooses from a run"),
        (["--gflops", "1", "--meter", "PDU"], "give --watts, too"),
        (["--candidates", "x.toml", "--gflops", "1"], "leave the rest out"),
    ],
)
def test_what_does_not_go_together_is_refused(words: list[str], why: str) -> None:
    with pytest.raises(UsageError) as caught:
        command.main(words, standalone_mode=False)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value"), [("--gflops", "0"), ("--peak", "turbo="), ("--peak", "=3"), ("--price", "-1")]
)
def test_numbers_are_checked(option: str, value: str) -> None:
    assert CliRunner().invoke(command, ["--gflops", "1", option, value]).exit_code == 2
