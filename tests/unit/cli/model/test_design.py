"""`wulf design`: published choices from their own prices, times from tables, runs and traces, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.predict_fakes import FakeReplay, make_trace
from tests.wording import Wording
from wulf.cli.model.design import command
from wulf.core.errors import UsageError

EXAMPLES = Path(__file__).parents[4] / "examples" / "design"

TIMES = "workers,seconds\n" + "".join(
    f"{n},{(100 / n + 5 + 0.1 * n) * f:.4f}\n" for n in (1, 2, 4, 8, 16) for f in (1.0, 1.01, 0.99)
)

PARTS = """
currency = "€"
[[node]]
name = "small"
price = 1000
watts = 200
seconds = [100, 102, 98]
[[node]]
name = "large"
price = 2500
watts = 300
seconds = 50
workers = 1
[[network]]
name = "own"
figures = "gbe"
price = 50
switches = [{ ports = 24, price = 200 }]
[[network]]
name = "fast"
figures = "ib-sdr"
switches = [{ ports = 24, price = 3000 }]
[work]
bytes = 8192
"""


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert command.main([str(word) for word in words], standalone_mode=False) == 0
    return capsys.readouterr().out


def found(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(capsys, *words, "--json"))
    return answer


def best(answer: dict[str, Any]) -> tuple[int, str, str]:
    return answer["best"]["nodes"], answer["best"]["node"], answer["best"]["network"]


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    (tmp_path / "times.csv").write_text(TIMES)
    (tmp_path / "parts.toml").write_text(PARTS)
    return tmp_path / "parts.toml"


def refused(*words: str | Path) -> str:
    with pytest.raises(UsageError) as error:
        command.main([str(word) for word in words], standalone_mode=False)
    return f"{error.value.what} | {error.value.next_step}"


def test_kronos_choice_from_its_own_prices(capsys: pytest.CaptureFixture[str]) -> None:
    """Eight nodes with Gigabit Ethernet for $2490, though Fast Ethernet would leave the money for a ninth."""
    answer = found(capsys, EXAMPLES / "kronos.toml", "--budget", "2500", "--gain", "37.1%")
    assert best(answer) == (8, "sempron", "gbe")
    assert answer["best"]["price"] == 2490
    assert answer["best"]["watts"] == 900
    (other,) = answer["others"]
    assert (other["nodes"], other["network"], other["surely_slower"]) == (9, "fast-ethernet", True)
    assert other["over_best"]["value"] == pytest.approx(12.74 / 7.45 * 8 / 9, rel=1e-3)
    # "as much as three more nodes": 10.6 GFLOPS before the tuning and 14.53 after it
    assert answer["gain"]["nodes"]["value"] == 3
    assert answer["gain"]["price"] == pytest.approx(3 * 311.25)


@pytest.mark.parametrize(
    ("budget", "node", "count", "price"),
    [(1500, "2.2-ghz", 2, 1491.30), (2520, "2.2-ghz", 4, 2515.44), (3540, "2.2-ghz", 6, 3539.58),
     (4570, "2.2-ghz", 8, 4563.72), (5444, "2.6-ghz", 8, 5443.72)],
)  # fmt: skip
def test_laytons_designs_of_2007(
    capsys: pytest.CaptureFixture[str], budget: float, node: str, count: int, price: float
) -> None:
    """His totals for 2, 4, 6 and 8 nodes, and the faster processors where the switch has no ninth port."""
    answer = found(capsys, EXAMPLES / "layton-2007.toml", "--budget", str(budget))
    assert best(answer) == (count, node, "gbe")
    assert answer["best"]["price"] == pytest.approx(price, abs=0.02)


def test_browns_reasoning(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """N* = √(Tp/Tis) bounds what money buys; a better network pays only where there are nodes enough for it."""
    path = EXAMPLES / "brown.toml"
    small, middle, large = (found(capsys, path, "--budget", sum_) for sum_ in ("30000", "150000", "400000"))
    assert best(small)[2] == "cheap"
    assert best(middle) == (100, "node", "cheap")  # √(10000/1)
    assert middle["best"]["price"] < middle["budget"] - 20_000
    assert best(large)[2] == "fast"
    # $1 a watt and year, three years of 300 W a node
    assert middle["best"]["running"] == pytest.approx(3 * 300 * 100, rel=0.001)
    # work that nodes share without a word: the cheapest network, and all the money in nodes
    alone = tmp_path / "alone.toml"
    alone.write_text(path.read_text().replace("communication = 1 }", "communication = 0 }"))
    answer = found(capsys, alone, "--budget", "400000")
    assert best(answer)[2] == "cheap"
    assert answer["budget"] - answer["best"]["price"] < 2000


def test_what_is_said(capsys: pytest.CaptureFixture[str], wording: Wording) -> None:
    out = run(capsys, EXAMPLES / "brown.toml", "--budget", "100000", "--gain", "5%")
    assert max(map(len, out.splitlines())) <= 80
    wording(out[out.index("\n\nWhat it costs") : out.index("\nThe frontier")])


def test_a_table_over_workers(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = found(capsys, parts, "--budget", "10000", "--for", parts.parent / "times.csv")
    assert answer["times_from"].endswith("times.csv")
    assert best(answer) == (9, "small", "own")
    time = answer["best"]["seconds"]
    assert time["low"] < time["value"] < time["high"]
    assert time["value"] == pytest.approx(100 / 9 + 5 + 0.9, rel=0.03)
    assert {(one["node"], one["network"]) for one in answer["others"]} == {
        ("small", "fast"), ("large", "own"), ("large", "fast")}  # fmt: skip
    assert any("A port of fast is taken to cost $312 (2009" in note for note in answer["notes"])


def test_the_default_file_and_speedups_own_json(
    parts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from wulf.cli.model.command import speedup

    assert speedup.main([str(parts.parent / "times.csv"), "--json"], standalone_mode=False) == 0
    (parts.parent / "speedup.json").write_text(capsys.readouterr().out)
    monkeypatch.chdir(parts.parent)
    parts.rename("design.toml")
    answer = found(capsys, "--budget", "10000", "--for", "speedup.json")
    assert best(answer) == (9, "small", "own")
    assert any("holds means alone" in note for note in answer["notes"])


def test_traces_of_three_numbers_of_ranks(fake: FakeReplay, parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = [
        make_trace(parts.parent / f"t{ranks}", ranks, seconds) for ranks, seconds in ((2, 2.5), (4, 1.6), (8, 1.26))
    ]
    words = [word for trace in traces for word in ("--for", trace)]
    answer = found(capsys, parts, "--budget", "10000", *words)
    assert answer["times_from"] == "3 traces of 2, 4, 8 ranks"
    assert answer["best"]["nodes"] > 1
    assert answer["best"]["seconds"]["low"] < answer["best"]["seconds"]["high"]


def test_a_trace_of_one_number_of_ranks_is_for_designs_of_as_many(
    fake: FakeReplay, parts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = found(capsys, parts, "--budget", "100000", "--for", make_trace(parts.parent / "trace", 4))
    assert {one["nodes"] for one in [answer["best"], *answer["others"], *answer["frontier"]]} == {4}
    assert set(refused(parts, "--budget", "3000", "--for", parts.parent / "trace").split()) >= {"4", "×"}


def test_traces_of_two_numbers_of_ranks_are_refused(fake: FakeReplay, parts: Path) -> None:
    words = [word for n in (2, 4) for word in ("--for", make_trace(parts.parent / f"t{n}", n))]
    assert "3 are needed" in refused(parts, "--budget", "10000", *words)


def test_the_page(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = parts.parent / "page.html"
    out = run(capsys, parts, "--budget", "10000", "--for", parts.parent / "times.csv", "--html", page)
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "design-frontier" in text
    assert f"page: {page}" in out
    assert max(map(len, out.splitlines()[:-1])) <= 80


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("price = 1000", "price = -1", "node.0.price: Input should be greater than 0"),
        ("price = 1000", "price = 1e300", "node.0.price: Input should be less than or equal to"),
        ("price = 1000", "price = nan", "nan is no figure"),
        ("price = 1000", 'price = "much"', "node.0.price: Input should be a valid number"),
        ("watts = 200", "wats = 200", "node.0.wats: Extra inputs"),
        ("seconds = 50", "gflops = 50", "node 'large' has gflops, and 'small' seconds"),
        ("seconds = 50", "", "node 'large' has no speed"),
        ('name = "large"', 'name = "small"', "two of the name 'small' under [[node]]"),
        ('figures = "gbe"', 'figures = "gpe"', "is no network"),
        ('figures = "ib-sdr"', "", "has no price"),
        ('figures = "ib-sdr"', "price = 3", "does not say how fast it is"),
        ("price = 50", "parts = { parallel = 1 }", "give one of figures, communication and parts"),
        ("ports = 24", "ports = 3", "ports: Input should be greater than or equal to 4"),
        ("bytes = 8192", "", "how long messages are is not known"),
        ("bytes = 8192", 'bytes = 1\nnode = "none"', "[work] names the node 'none'"),
        ("[work]", "[running]\nyears = 0\n[work]", "running.years: Input should be greater than 0"),
        ("[work]", '[[build]]\nname = "own"\nhours = 3\n[work]', "hour is missing"),
        ("[work]", '[[step]]\nname = "r"\nprice = 1\nnodes = 2\nwatts = 3\n[work]', "give nodes or watts"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_told_by_field(parts: Path, old: str, new: str, said: str) -> None:
    parts.write_text(PARTS.replace(old, new, 1))
    assert said in refused(parts, "--budget", "10000", "--for", parts.parent / "times.csv")


def test_what_does_not_go_together(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = parts.parent / "times.csv"
    assert "has no [running]" in refused(parts, "--budget", "10000", "--for", times, "--owned")
    assert "the cheapest, 1 × small, costs €1,000" in refused(parts, "--budget", "999", "--for", times)
    assert "nothing says how long" in refused(parts, "--budget", "9999")
    assert "choose from a run" in refused(parts, "--budget", "9999", "--for", times, "--metric", "x")
    assert "one of them is none" in refused(parts, "--budget", "9999", "--for", times, "--for", times)
    assert "can't read" in refused(parts.parent / "none.toml", "--budget", "9999")
    (parts.parent / "bad.json").write_text('{"workers": [1, 2], "seconds": [3, -1]}')
    assert "seconds.1" in refused(parts, "--budget", "9999", "--for", parts.parent / "bad.json")
    (parts.parent / "bad.json").write_text('{"workers": [1, 2], "seconds": [3]}')
    assert "not as many" in refused(parts, "--budget", "9999", "--for", parts.parent / "bad.json")
