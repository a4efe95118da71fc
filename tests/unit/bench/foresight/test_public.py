"""Public programs foretold: what is asked of `wulf predict`, and what the errors come to."""

from __future__ import annotations

import pytest
from bench.foresight.__main__ import ordered
from bench.foresight.public import KERNELS, SETTINGS, TRACED, Foretold, Spread, expression, foretold, ladder, summary

from tests.wording import lacking
from wulf.model.network.figures import split_expression


def row(program: str, setting: str, predicted: float, *runs: float, width: float = 0.1) -> Spread:
    return Spread(program, setting, predicted, runs, 1.0, predicted - width, predicted + width)


def test_settings_are_changes_of_the_network_that_predict_understands() -> None:
    longer, shorter, narrower = (expression(setting, 1e-3) for setting in SETTINGS[1:])
    assert expression(TRACED, 1e-3) == ""
    assert longer == "+latency=4000us", "two links, 2 ms more each"
    assert shorter == "*latency=0.2", "1 ms less .8 ms"
    base, (bandwidth, headers, gap) = split_expression(f"this{narrower}")
    assert (base, bandwidth.part, bandwidth.amount) == ("this", "bandwidth", 0.2)
    assert headers.adds and headers.amount == pytest.approx(66 * 8 * (1 / 20e6 - 1 / 100e6))
    assert (gap.part, gap.amount) == ("gap", headers.amount), "they part small messages, too"


def test_an_answer_of_predict_is_a_time_for_each_setting() -> None:
    times = [{"value": v, "low": v - 1, "high": v + 1} for v in (4.0, 8.0, 2.0, 6.0)]
    answer = {"baseline": {"seconds": times[0]}, "candidates": [{"seconds": one} for one in times[1:]]}
    found = foretold(answer)
    assert list(found) == [setting.name for setting in SETTINGS]
    assert found["latency ÷ 5"] == Foretold(2.0, 1.0, 3.0)


def test_errors_of_other_settings_are_told_apart_from_the_traced_ones() -> None:
    rows = [
        row("cg", TRACED.name, 1.0, 1.25),
        row("cg", "latency × 5", 4.0, 4.0, 3.9, 4.1),
        row("cg", "latency ÷ 5", 0.6, 0.5, width=0.2),
        row("cg", "bandwidth ÷ 5", 1.4, 1.4),
    ]
    assert rows[1].held and rows[2].held and not rows[0].held
    words = summary(rows)
    assert lacking(words, "1 programs", "median |error| 0.0%, greatest 20.0%, 1 of 3 above 15%") == []
    assert lacking(words, "hold 3 of 3 runs", "right for every program", "traced setting: median |error| 20.0%") == []


def test_the_order_is_of_settings_whose_runs_do_not_overlap() -> None:
    slow, fast = row("is", "latency × 5", 1.0, 3.0, 3.2), row("is", "latency ÷ 5", 2.0, 1.0, 3.1)
    assert ordered([slow, fast], "is"), "their runs overlap"
    assert not ordered([slow, row("is", "latency ÷ 5", 2.0, 1.0)], "is")


def test_the_ladder_has_every_kernel_of_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.engine.places import LOOPS

    monkeypatch.setattr("bench.foresight.public.compiled", lambda mpi, source: f"{source.stem}-{mpi}")
    text = (LOOPS / "ladder.cpp").read_text()
    found = ladder("openmpi")
    assert list(found) == list(KERNELS)
    assert found["busy"]["argv"] == ["ladder-openmpi", "busy"]
    assert all(f'{{"{kernel}", ' in text for kernel in KERNELS)
