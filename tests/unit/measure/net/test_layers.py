"""Layers: their order, and what each adds, from records alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from wulf.core.records import Record, Verdict
from wulf.measure.net.layers import DifferenceRule, contrasts, differences, layer_name, layers_of, place

RULE = DifferenceRule((8,))


def record(transport: str, samples: Sequence[float], server: str = "n1", blocks: Sequence[int] = ()) -> Record:
    content: dict[str, Any] = {
        "run": "r", "subject": f"n1>{server}", "probe": "net", "metric": "rtt", "unit": "s",
        "params": {"transport": transport, "pattern": "pingpong", "bytes": 1}, "value": 1e-6, "verdict": Verdict.OK,
        "samples": list(samples), "at": "2026-11-21T12:00:00Z", "phase": "layers",
        "blocks": list(blocks or range(len(samples))),
    }  # fmt: skip
    return Record.model_validate(content)


def test_names_and_order() -> None:
    ends = [("tcp", "n2"), ("udp", "n2"), ("tcp", "n1"), ("udp", "n1"), ("unixgram", "n1"), ("vsock", "n1")]
    ends += [("unix", "n1"), ("pipe", "n1"), ("shm", "n1"), ("null", "n1")]
    names = sorted((layer_name(transport, "n1", server) for transport, server in ends), key=place)
    assert names == [
        "null", "shm", "pipe", "unix", "unixgram", "vsock",
        "loopback udp", "loopback tcp", "wire udp", "wire tcp",
    ]  # fmt: skip


def test_each_is_held_against_the_one_below_and_the_wire_against_loopback() -> None:
    assert contrasts(["null", "loopback udp", "loopback tcp", "wire udp", "wire tcp"]) == [
        ("loopback udp", "null"),
        ("loopback tcp", "loopback udp"),
        ("wire udp", "loopback tcp"),
        ("wire tcp", "wire udp"),
        ("wire udp", "loopback udp"),
        ("wire tcp", "loopback tcp"),
    ]
    assert contrasts(["loopback udp", "wire udp"]) == [("wire udp", "loopback udp")], "once"


def test_a_difference_is_taken_within_blocks() -> None:
    drift = [1e-5 * i for i in range(1, 9)]  # ten times what is added: only pairs see through it
    below = record("shm", drift)
    above = record("pipe", [value + 1e-6 for value in drift])
    (found,) = differences([above, below], RULE)
    assert (found.metric, found.unit, found.subject) == ("difference", "s", "n1>n1")
    assert (found.params["layer"], found.params["over"]) == ("pipe", "shm")
    assert found.value == pytest.approx(1e-6)
    assert (found.low, found.high) == (pytest.approx(1e-6), pytest.approx(1e-6))
    assert found.replicates == 8
    assert found.seen is True


def test_only_blocks_that_both_have_are_subtracted() -> None:
    below = record("shm", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], blocks=[0, 1, 2, 3, 4, 6, 7, 8])
    above = record("pipe", [2.0, 3.0, 4.0, 5.0, 6.0, 100.0, 8.0, 9.0], blocks=[0, 1, 2, 3, 4, 5, 7, 8])
    (found,) = differences([below, above], DifferenceRule((7,)))
    assert found.samples == [1.0] * 7


def test_no_difference_says_what_would_have_been_seen() -> None:
    below = record("shm", [1e-5] * 8)
    above = record("pipe", [1e-5 + (-1) ** i * 1e-7 * (i + 1) for i in range(8)])
    (found,) = differences([below, above], RULE)
    assert found.seen is False
    assert found.verdict is Verdict.OK
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    assert found.least_visible > (found.high - found.low) / 2


def test_too_few_blocks_have_no_answer() -> None:
    (found,) = differences([record("shm", [1.0] * 3), record("pipe", [2.0] * 3)], RULE)
    assert (found.verdict, found.value) == (Verdict.UNRESOLVED, None)
    assert "the 3 blocks" in (found.reason or "")


def test_a_layer_without_values_is_passed_by() -> None:
    found = differences([record("null", [1.0] * 8), record("shm", []), record("pipe", [2.0] * 8)], RULE)
    assert [(r.params["layer"], r.params["over"]) for r in found] == [("pipe", "null")]


def test_a_watch_gets_the_median_with_a_confidence_sequence() -> None:
    n = 40
    (found,) = differences([record("shm", [1.0] * n), record("pipe", [2.0] * n)], DifferenceRule((8,), watch=True))
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.statistic == "median of paired differences"


def test_records_of_other_commands_are_no_layers() -> None:
    other = record("tcp", [1.0] * 8)
    other.phase = "pairs"
    assert layers_of([other]) == []
