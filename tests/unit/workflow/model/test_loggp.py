"""`wulf model loggp` over simulated ranks: round trips, trains, then pauses; and runs that were measured otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.workflow.mpi_fakes import FakeWorld, launcher
from tests.unit.workflow.simulating import simulator
from wulf.core.errors import UsageError
from wulf.core.records import Record
from wulf.model.network.fitting import fit_loggp
from wulf.model.network.measured import from_loggp
from wulf.model.network.patterns import BOTH_WAYS, PATTERNS, TOGETHER, WINDOW, window_time
from wulf.store.run import Run
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.model.loggp import (
    CONGESTION,
    CROSSED,
    HEADER,
    MANY_SIZES,
    MESSAGES,
    PAUSED,
    SIZES,
    STAGGERED,
    LogGPStudy,
    edge_of,
    measured_of,
    near_edge,
)
from wulf.workflow.mpi import probes as mpi
from wulf.workflow.mpi.launching import Launch

LATENCY, SENDING, RECEIVING, GAP, PER_BYTE = 2e-6, 0.4e-6, 0.6e-6, 0.8e-6, 1e-9
SLOWER = 1.5
"""Times as long take the calls of the pair's second rank."""
SMALL_HIDES, HIDES, LONGER = 0.9, 0.03, 1.2
"""Of an exchange, behind computing; and how much longer windows take than LogGP has it."""
SLOW_FROM = 500_000
"""Bytes of messages that cross from which on they hold each other up."""


def ranks(random: np.random.Generator, probe: str, params: Mapping[str, Any], _: int) -> dict[str, Any]:
    """PRTT of a pair whose parameters are known."""
    size = params["bytes"]
    send, receive = (own * (1 + SLOWER) / 2 for own in (SENDING, RECEIVING))
    way = LATENCY + send + receive + size * PER_BYTE
    more, delay = params.get("messages", 1) - 1, params.get("delay", 0.0)
    trip = 2 * (way + more * delay) + more * (GAP + size * PER_BYTE)
    window = LONGER * window_time(way, send, receive, GAP + size * PER_BYTE)
    back = params.get("a") == 1
    found = {
        "pingping": {"time": way * (1.0 if size < SLOW_FROM else 1.5)},
        "stream": {"throughput": 2 * WINDOW * size / window, "rate": 2 * WINDOW / window},
        "overlap": {"overlap": HIDES if size > max(PAUSED) else SMALL_HIDES},
        "loggp": {"prtt": trip},
    }[probe]  # fmt: skip
    if delay:
        found |= {"send": SENDING * (SLOWER if back else 1), "receive": RECEIVING * (1 if back else SLOWER)}
    values = {name: float(value * np.exp(0.002 * random.normal())) for name, value in found.items()}
    return {"ok": True, "metrics": {name: {"unit": "s", "value": value} for name, value in values.items()}}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[RunOutcome, FakeWorld]:
    worlds: list[FakeWorld] = []
    monkeypatch.setattr(mpi, "open_world", launcher(partial(ranks, np.random.default_rng(1)), worlds))

    return simulator(monkeypatch, tmp_path, LogGPStudy)("n[1-2]", {"launch": Launch(), "seconds": 0.01}), worlds[0]


def test_round_trips_and_trains_of_all_sizes_then_pauses(measured: tuple[RunOutcome, FakeWorld]) -> None:
    outcome, world = measured
    assert outcome.exit_code == 0
    trains = [params for name, params in world.ran if name == "loggp"]
    crossings = {(params["bytes"], params.get(STAGGERED, False)) for name, params in world.ran if name == "pingping"}
    assert crossings == {*((size, False) for size in CROSSED), (max(SIZES), True)}
    assert {params["bytes"] for name, params in world.ran if name == "stream"} == set(MANY_SIZES)
    assert {params["bytes"] for name, params in world.ran if name == "overlap"} == {max(PAUSED), max(SIZES)}
    asked = {(p["bytes"], p["messages"], "delay" in p, p.get("a") == 1) for p in trains}
    assert asked == {(s, n, False, False) for s in SIZES for n in (1, MESSAGES)} | {
        (s, MESSAGES, True, back) for s in PAUSED for back in (False, True)
    }
    for params in trains:
        if "delay" in params:
            trip = 2 * (LATENCY + (SENDING + RECEIVING) * (1 + SLOWER) / 2 + params["bytes"] * PER_BYTE)
            assert params["delay"] == pytest.approx(trip, rel=0.02)
    later = [name != "loggp" or "delay" in params for name, params in world.ran]
    assert later == sorted(later), "round trips and trains come first"


def test_the_planted_parameters_are_found(measured: tuple[RunOutcome, FakeWorld]) -> None:
    given = measured_of(measured[0].run)
    assert given.subject == "n1>n2 openmpi 4.1.4"
    assert given.messages == MESSAGES
    found = given.fitted()
    assert found.latency is not None and found.send is not None and found.receive is not None
    assert found.gap is not None
    assert found.latency.value == pytest.approx(LATENCY, rel=0.02)
    assert found.send.value == pytest.approx(SENDING * (1 + SLOWER) / 2, rel=0.01)
    assert found.receive.value == pytest.approx(RECEIVING * (1 + SLOWER) / 2, rel=0.01)
    assert found.send.low < 1.01 * SENDING and found.send.high > 0.99 * SENDING * SLOWER, "it holds both ends'"
    assert found.gap.value == pytest.approx(GAP, rel=0.02)
    assert found.per_byte.value == pytest.approx(PER_BYTE, rel=0.02)
    assert found.edges == ()
    assert max(abs(check.error.value) for check in found.checks if check.what not in PATTERNS) < 0.02


def test_messages_that_cross_are_held_against_what_one_alone_takes(measured: tuple[RunOutcome, FakeWorld]) -> None:
    """What the lines miss of a pattern that they were not made of, the network's figures allow for."""
    found = measured_of(measured[0].run).fitted()
    crossed = {check.bytes: check.error.value for check in found.checks if check.what == BOTH_WAYS}
    assert set(crossed) == set(CROSSED)
    assert crossed[1048576] == pytest.approx(1 / 1.5 - 1, abs=0.01)
    assert max(abs(error) for size, error in crossed.items() if size < SLOW_FROM) < 0.02
    assert found.missed(BOTH_WAYS) < 0.01 < 0.3 < found.missed(BOTH_WAYS, by_byte=True)
    file, notes = from_loggp(found, "this", "a run")
    byte = file.inter.byte
    assert byte is not None and byte.high is not None and byte.high > 1.3 * byte.value
    assert any("messages that cross" in note and "G's interval" in note for note in notes)


def test_windows_are_held_against_what_logp_makes_of_them_and_the_gap_allows_for_it(
    measured: tuple[RunOutcome, FakeWorld],
) -> None:
    found = measured_of(measured[0].run).fitted()
    windows = {check.bytes: check.error.value for check in found.checks if check.what == TOGETHER}
    assert set(windows) == set(MANY_SIZES)
    assert list(windows.values()) == pytest.approx([1 / LONGER - 1] * len(windows), abs=0.02)
    file, notes = from_loggp(found, "this", "a run")
    gap, send = file.inter.gap, file.inter.send
    assert gap is not None and gap.high is not None and gap.high > 1.12 * gap.value
    assert send.high is not None and send.high > 1.12 * send.value
    assert any("16 messages each way" in note for note in notes)


def test_large_messages_that_hide_behind_nothing_get_on_in_calls_alone(measured: tuple[RunOutcome, FakeWorld]) -> None:
    found = measured_of(measured[0].run).fitted()
    assert found.hidden[max(SIZES)].value == pytest.approx(HIDES, rel=0.01)
    file, notes = from_loggp(found, "this", "a run")
    assert file.progress is False
    assert any("in calls of MPI alone, as 3%" in note for note in notes)


LIMIT = 65536 - 20
"""As Open MPI's over TCP: 64 KiB, of which its own header takes some."""


def trips(sizes: list[int], limit: int = LIMIT, cv: float = 0.002) -> dict[float, list[float]]:
    """Round trips where messages above the limit wait for their receiver."""
    random = np.random.default_rng(3)
    return {
        size: ((20e-6 + size * 1e-9 + 16e-6 * (size > limit)) * np.exp(cv * random.normal(size=8))).tolist()
        for size in sizes
    }


def test_the_edge_of_the_protocol_is_looked_for_at_powers_of_two_less_a_header() -> None:
    more = near_edge(edge_of(trips(list(SIZES))))
    assert more == [56756, 65536 - HEADER]
    found = fit_loggp(trips([*SIZES, *more]))
    limit = found.eager
    assert limit is not None
    assert limit.value == 65536 - HEADER < LIMIT < 65536


def test_without_an_edge_no_more_sizes_are_measured() -> None:
    assert near_edge(edge_of(trips(list(SIZES), limit=1 << 30))) == []
    assert near_edge(edge_of(trips([1, 2]))) == []


def test_an_edge_between_powers_of_two_is_halved() -> None:
    edge = edge_of(trips([1, 1 << 10, 1 << 12, 1 << 14, 100_000, 110_000, 120_000], limit=90_000))
    assert near_edge(edge) == [
        32768 - HEADER, 32768, round((16384 * 100_000) ** 0.5), 65536 - HEADER, 65536,
    ]  # fmt: skip


def trip(size: int, subject: str = "n1>n2", transport: str = "tcp", **more: Any) -> Record:
    half = 20e-6 + size * 1e-9
    content: dict[str, Any] = {
        "run": "r", "subject": subject, "probe": "net", "metric": "rtt", "unit": "s", "value": 2 * half, "at": "now",
        "verdict": "ok", "params": {"transport": transport, "bytes": size}, "samples": [2 * half, 2.02 * half] * 3,
        **more,
    }  # fmt: skip
    return Record(**content)


def run(*records: Record) -> Run:
    return Run(Path("r"), {"id": "r"}, records=list(records))


def test_a_sweep_of_tcp_has_no_overhead() -> None:
    given = measured_of(run(*(trip(size) for size in (1, 100, 1000, 10_000, 100_000))))
    assert given.subject == "n1>n2 tcp"
    found = given.fitted()
    assert found.send is None and found.receive is None
    assert found.per_byte.value == pytest.approx(1e-9, rel=0.02)


def test_one_of_several_pairs_is_chosen() -> None:
    both = run(*(trip(s, subject=pair) for s in (1, 100, 1000, 10_000) for pair in ("n1>n2", "n1>n3")))
    with pytest.raises(UsageError, match="holds 2 pairs") as error:
        measured_of(both)
    assert error.value.next_step == "choose with --subject: n1>n2 tcp, n1>n3 tcp"
    assert measured_of(both, "n1>n3 tcp").subject == "n1>n3 tcp"
    with pytest.raises(UsageError, match="holds no such pair"):
        measured_of(both, "n1>n4 tcp")


def test_what_can_not_be_fitted_says_so() -> None:
    with pytest.raises(UsageError, match="no round trips over sizes"):
        measured_of(run())
    with pytest.raises(UsageError, match="n1>n2 tcp: 2 sizes"):
        measured_of(run(trip(1), trip(8))).fitted()


@pytest.mark.parametrize(
    ("controls", "said"),
    [
        ({"n1": "bbr", "n2": "bbr"}, "n[1-2]: TCP's congestion control is bbr"),
        ({"n1": "cubic", "n2": "bbr"}, "n2: TCP's congestion control is bbr"),
        ({"n1": "cubic", "n2": "reno"}, None),
        ({"n1": "bbr"}, None),  # one host: its ranks' messages need no TCP
        ({"n1": None, "n2": None}, None),
    ],
)
def test_a_congestion_control_that_paces_is_a_caution(controls: dict[str, str | None], said: str | None) -> None:
    given = run(*(trip(size) for size in (1, 100, 1000)))
    given.fingerprint = {node: {CONGESTION: {"value": value}} for node, value in controls.items()}
    cautions = measured_of(given).cautions
    assert [one.startswith(said) for one in cautions] == [True] if said else cautions == ()
