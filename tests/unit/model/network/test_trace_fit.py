"""Figures fitted to calls whose times are a known function of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

import pytest

from wulf.model.network.trace_fit import Kinds, fit

MEASURED = {"latency": 20e-6, "send": 1e-6, "receive": 2e-6, "gap": 1e-6, "byte": 1e-9}


def calls(values: Mapping[str, float], *, noise: float = 0.0) -> Kinds:
    """A thousand small messages, a hundred large ones, and the sends of both, on the network as it really is."""

    def times(own: Mapping[str, float], more: float) -> dict[tuple[str, int, str], float]:
        return {
            ("MPI_Recv", 8, ""): 1000 * (own["latency"] + own["send"] + own["receive"]) * (1 + more),
            ("MPI_Recv", 65536, ""): 100 * (own["latency"] + own["receive"] + 65536 * own["byte"]) * (1 - more),
            ("MPI_Send", 8, ""): 1100 * own["send"],
        }

    real = times({**MEASURED, "latency": 55e-6, "send": 30e-6, "byte": 8e-9}, noise)
    return {kind: (real[kind], seconds) for kind, seconds in times(values, 0.0).items()}


def test_what_the_calls_tell_is_found_and_what_they_do_not_is_left_out() -> None:
    found = fit(MEASURED, calls)
    assert sorted(found.parts) == ["byte", "latency", "send"], "of gap and receive the calls tell nothing apart"
    assert found.parts["latency"].value == pytest.approx(55e-6, rel=0.03)
    assert found.parts["send"].value == pytest.approx(30e-6, rel=0.03)
    assert found.parts["byte"].value == pytest.approx(8e-9, rel=0.03)
    assert all(one.low < one.value < one.high for one in found.parts.values())


def test_what_calls_cannot_agree_on_widens_the_intervals() -> None:
    def width(seconds: float) -> float:
        """Of the latency, with a thousand messages more that took so long."""
        more = ("MPI_Recv", 64, "")
        found = fit(MEASURED, lambda own: {**calls(own), more: (seconds, 1000 * own["latency"])}).parts["latency"]
        return log(found.high / found.low)

    assert width(0.07) > 1.2 * width(0.055)


def test_a_trace_without_messages_leaves_everything_as_measured() -> None:
    assert fit(MEASURED, lambda values: {}).parts == {}


def test_what_was_measured_as_nothing_can_be_found() -> None:
    found = fit({**MEASURED, "send": 0.0}, calls)
    assert found.parts["send"].value == pytest.approx(30e-6, rel=0.03)
