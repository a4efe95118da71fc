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
    assert "been no. 8 in June 1993 (published: Eadline, Layton" in text
    assert "431 in June 1998 (448 (304–497) by the law)" in text
    assert "been on: June 1998 (no. 500: 13.39 GFLOPS)" in text
    assert "missed: November 1998 (no. 500: 17.12 " in text
    assert max(map(len, out.splitlines())) <= 80
    wording(out[: out.index("\n  list ")])


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


STEPS = Path(__file__).parents[4] / "examples" / "cost" / "kronos.csv"


def test_kronos_steps_have_share_price_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    """What is published of its table 1; where no price was published there is none."""
    found = json.loads(run(capsys, "--steps", STEPS, "--peak", "28.10", "--json"))
    rows = [
        (one["step"], one["price_per_flops"] and round(one["price_per_flops"]["value"] * 1e9),
         round(one["peaks"]["peak"]["share"]["value"], 2),
         one["first"]["best"], one["last"]["list"], one["last"]["best"])
        for one in found["steps"]
    ]  # fmt: skip
    assert (rows[0][:3], rows[2][:3]) == (
        ("over Fast Ethernet", None, 0.27), ("before its network was tuned", 195, 0.45)
    )  # fmt: skip
    assert rows[1] == ("before it was tuned", 235, 0.38, 24, "199711", 417)
    assert rows[3] == ("tuned", 171, 0.52, 8, "199806", 431)
    assert found["rate"]["value"] == pytest.approx(14.53e9)
    text = run(capsys, "--steps", STEPS, "--peak", "28.10")
    assert text.startswith("14.53 GFLOPS: $171/GFLOPS, 52 % of peak")
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("step,gflops\n", "has no step"),
        ("gflops\n14\n", "column 'step' is missing"),
        ("step,gflops\nfirst,0\n", "line 2: gflops is 0"),
        ("step,gflops,price\nfirst,14,free\n", "price is 'free'"),
        ("step,gflops,watts\nfirst,14,9\n", "column 'watts' is not known"),
    ],
)
def test_a_table_of_steps_that_is_wrong_names_line_and_column(tmp_path: Path, table: str, said: str) -> None:
    path = tmp_path / "steps.csv"
    path.write_text(table)
    with pytest.raises(UsageError) as error:
        command.main(["--steps", str(path)], standalone_mode=False)
    assert said in error.value.what


def test_a_table_of_steps_has_the_rates_and_one_price_may_be_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "steps.csv"
    path.write_text("step,gflops\nfirst,10\nsecond,20\n")
    with pytest.raises(UsageError, match="--steps has the rate"):
        command.main(["--steps", str(path), "--gflops", "14"], standalone_mode=False)
    found = json.loads(run(capsys, "--steps", path, "--price", "1000", "--json"))["steps"]
    assert [one["price_per_flops"]["value"] * 1e9 for one in found] == [pytest.approx(100), pytest.approx(50)]


def test_kronos_gain_is_three_more_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    """10.6 GFLOPS before the tuning, 14.53 after it, on eight nodes: "as much as three more nodes"."""
    words = ("--gflops", "14.53", "--price", "2490", "--before", "10.6", "--nodes", "8")
    found = json.loads(run(capsys, *words, "--json"))["gain"]
    assert found["nodes"]["value"] == pytest.approx(2.966, abs=0.001)
    assert found["price"]["value"] == pytest.approx(2490 * (14.53 / 10.6 - 1))
    assert "as much as 2.97 more nodes, $923." in run(capsys, *words)
    given = json.loads(run(capsys, "--gflops", "14.53", "--gain", "9.2%", "--nodes", "8", "--json"))["gain"]
    assert (given["nodes"]["value"], given["price"]) == (pytest.approx(0.736), None)
    several = json.loads(run(capsys, *words[:-3], "10.5,10.6,10.7", "--nodes", "8", "--json"))["gain"]
    assert several["nodes"]["low"] < several["nodes"]["value"] < several["nodes"]["high"]


def test_records_stand_beside_a_price_in_dollars(capsys: pytest.CaptureFixture[str]) -> None:
    """KASY0's $84 and $211, in single and double precision, and Kronos' own $171."""
    found = json.loads(run(capsys, *KRONOS, "--json"))["records"]
    prices = {(one["name"], one["precision"]): round(one["price_per_gflops"]) for one in found}
    assert prices["KASY0", "single"] == 84
    assert prices["KASY0", "double"] == 211
    assert prices["Kronos", "double"] == 171
    assert "this machine" in run(capsys, *KRONOS)
    assert "records of price" not in run(capsys, *KRONOS, "--currency", "€")
    assert "records of price" not in run(capsys, "--gflops", "14.53")


def test_candidates_by_seconds_and_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two clusters by the program's own time on all of their nodes: price × time, with the runs' interval."""
    path = tmp_path / "clusters.toml"
    path.write_text(
        '[[candidate]]\nname = "eight"\nprice = 300\nnodes = 8\nwatts = 100\nseconds = [100, 101, 99]\n'
        '[[candidate]]\nname = "four"\nprice = 900\nnodes = 4\nwatts = 150\nseconds = 60\n'
    )
    found = json.loads(run(capsys, "--candidates", path, "--json"))
    eight, four = found["candidates"]
    assert found["basis"] == "your program's seconds"
    assert (eight["price"], four["price"], eight["watts"]["value"]) == (2400, 3600, 800)
    assert four["relative_time"]["value"] == pytest.approx(0.6)
    assert four["relative_time"]["low"] < 0.6 < four["relative_time"]["high"]
    assert four["relative_cost"]["value"] == pytest.approx(0.9)
    assert four["rate_unit"] == "1/s"
    assert "by your program's seconds" in " ".join(run(capsys, "--candidates", path).split())
    path.write_text(
        '[[candidate]]\nname = "one"\nprice = 300\ngflops = 5\n'
        '[[candidate]]\nname = "two"\nprice = 300\ngflops = 5\nnodes = 2\n'
    )
    two = json.loads(run(capsys, "--candidates", path, "--json"))["candidates"][1]
    assert (two["relative_time"]["value"], two["relative_cost"]["value"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("gflops = 5\nseconds = 3", "needs one of gflops, run, seconds"),
        ("seconds = []", "seconds is []"),
        ("seconds = -3", "seconds is -3"),
        ("seconds = [3, 1e300]", "seconds is [3, 1e+300]"),
        ("gflops = 5\nnodes = 0", "nodes is 0"),
        ("gflops = 5\nnodes = 1.5", "nodes is 1.5"),
        ("gflops = 5", "and b none"),
    ],
)
def test_a_wrong_candidate(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "clusters.toml"
    path.write_text(
        f'[[candidate]]\nname = "a"\nprice = 300\nseconds = 3\n[[candidate]]\nname = "b"\nprice = 3\n{row}\n'
    )
    with pytest.raises(UsageError) as error:
        command.main(["--candidates", str(path)], standalone_mode=False)
    assert said in error.value.what


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
