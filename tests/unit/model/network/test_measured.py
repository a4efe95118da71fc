"""What was measured of a pair as a network: its figures, what they allow for, and what to beware of."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from wulf.model.network.figures import Edit, Network, changed, draws, network_object, values_of
from wulf.model.network.loggp import LogGP
from wulf.model.network.measured import from_loggp
from wulf.stats.curves.piecewise import PiecewiseCurve, Stretch
from wulf.stats.estimates import Interval


def at(value: float) -> Interval:
    return Interval(value, value * 0.9, value * 1.1)


def lines(*some: tuple[float, float, float, float]) -> PiecewiseCurve:
    found = tuple(Stretch(first, last, at(alpha), at(beta)) for first, last, alpha, beta in some)
    switches = tuple((a.last, b.first) for a, b in pairwise(found))
    return PiecewiseCurve(found, switches)


def loggp(times: PiecewiseCurve, latency: Interval | None = None, overhead: Interval | None = None) -> LogGP:
    reasons = {} if latency else {"send": "only round trips were measured", "gap": "no trains"}
    return LogGP(latency, overhead, overhead, at(2e-6) if latency else None, {}, times, None, [], reasons)


def test_a_measured_pair_is_a_network() -> None:
    times = lines((1, 1024, 5e-6, 2e-9), (2048, 65536, 12e-6, 1e-9))
    file, notes = from_loggp(loggp(times, at(3e-6), at(1e-6)), "this", "run r1")
    assert notes == ()
    values = values_of(file.inter)
    assert values == {"latency": 3e-6, "send": 1e-6, "receive": 1e-6, "gap": 2e-6, "byte": 1e-9,
                      "send_byte": 0.0, "receive_byte": 0.0, "packet_byte": 1e-9, "packet": 1024.0,
                      "eager": 1024.0, "eager_more": 0.0}  # fmt: skip
    latency = file.inter.latency
    assert latency is not None and (latency.low, latency.high) == pytest.approx((2.7e-6, 3.3e-6))


def test_packets_that_are_stored_are_told_from_the_time_of_a_byte() -> None:
    """Twice the time of a byte up to 1500 B; longer messages come by a packet's time later."""
    times = lines((1, 1024, 5e-6, 2e-9), (2048, 8192, 6.5e-6, 1e-9), (16384, 65536, 15e-6, 1e-9))
    file, _ = from_loggp(loggp(times, at(3e-6), at(1e-6)), "this", "run r1")
    values = values_of(file.inter)
    assert values["packet_byte"] == pytest.approx(1e-9)
    assert values["packet"] == pytest.approx(1500)
    assert changed(values, [Edit("bandwidth", 2.0)])["packet_byte"] == pytest.approx(0.5e-9)


def test_a_slope_that_is_not_told_from_the_time_of_a_byte_is_no_packet() -> None:
    times = lines((1, 1024, 5e-6, 1.05e-9), (2048, 65536, 5e-6, 1e-9))
    file, _ = from_loggp(loggp(times, at(3e-6), at(1e-6)), "this", "run r1")
    assert file.inter.packet is None
    assert network_object("x", values_of(file.inter))["inter"]["packet_byte_fp"] == 0


def test_a_sweep_alone_has_latency_alone_and_says_so() -> None:
    file, notes = from_loggp(loggp(lines((1, 65536, 20e-6, 1e-9))), "this", "run r1")
    assert values_of(file.inter)["latency"] == 20e-6
    assert values_of(file.inter)["send"] == 0
    assert len(notes) == 3 and all(note.startswith("run r1: ") for note in notes)


def test_the_eager_limit_is_the_greatest_rise() -> None:
    three = lines((1, 64, 5e-6, 1e-9), (128, 8192, 5.1e-6, 1e-9), (16384, 65536, 15e-6, 1e-9))
    assert loggp(three, at(3e-6), at(1e-6)).eager == Interval(8192, 8192, 16384)
    assert loggp(lines((1, 64, 5e-6, 1e-9), (128, 512, 6e-6, 1e-9)), at(3e-6), at(1e-6)).eager is None


def test_the_eager_limit_is_where_the_lines_are_whatever_the_edges_interval() -> None:
    """Resamples put the edge anywhere from 1536 B on: the lines themselves end at 48 KiB, and begin again at 64."""
    times = lines((1, 49152, 5e-6, 1e-9), (65536, 1 << 20, 15e-6, 1e-9))
    doubtful = replace(times, switches=((1536.0, 98304.0),))
    limit = loggp(doubtful, at(3e-6), at(1e-6)).eager
    assert limit == Interval(49152, 1536, 98304)
    file, _ = from_loggp(loggp(doubtful, at(3e-6), at(1e-6)), "this", "run r1")
    assert (file.inter.eager.low, file.inter.eager.value, file.inter.eager.high) == (1536, 49152, 98304)
    drawn = sorted(inter["eager"] for inter, _ in draws(Network(file), 199, seed=1))
    assert drawn[0] < 4096 and drawn[-1] > 80_000, "predictions share the doubt"
    assert drawn[99] == pytest.approx(49152, rel=0.1)
