"""Whose path loses: beside queues that overflow, whatever is sent, and nobody where it is queues alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from wulf.stats.cluster.losses import Losses, lossy
from wulf.stats.cluster.outliers import Way
from wulf.stats.samples import Floats

NODES, POLLS = 5, 48
FULL, EMPTY = 0.12, 0.004
"""Round trips with a queue that is full, and with one that a lossy path never fills."""

Rates = Mapping[tuple[int, int], float]


def made(
    random: np.random.Generator, lost: Rates, *, streams: bool, segments: float = 100.0, nodes: int = NODES
) -> Losses:
    """Polls of all pairs. Streams come and go, fill their queue over some polls, and lose a burst where it is full."""
    ends = np.array([(a, b) for a in range(nodes) for b in range(nodes) if a != b])
    shape = len(ends), POLLS
    sent: Floats = random.poisson(segments, shape).astype(float)
    trips, again = np.full(shape, EMPTY), np.zeros(shape)
    for row, pair in enumerate(ends):
        rate = lost.get((int(pair[0]), int(pair[1])), 0.0)
        again[row] = random.binomial(sent[row].astype(int), rate)
        if streams:
            _fill(random, sent[row], trips[row], again[row], lossy=rate > 0)
    return Losses([f"n{number}" for number in range(nodes)], ends, again, sent, trips)


def _fill(random: np.random.Generator, sent: Floats, trips: Floats, again: Floats, *, lossy: bool) -> None:
    """A pair whose queue rises over some polls until it overflows; one that loses before never gets there."""
    at = 0
    while at < len(sent):
        idle, rising = int(random.integers(0, 8)), int(random.integers(4, 12))
        sent[at : at + idle] = again[at : at + idle] = 0
        at += idle
        rise = np.linspace(0.2, 1.0, rising)[: max(0, len(sent) - at)]
        if not lossy and len(rise):
            trips[at : at + rising] = FULL * rise
            if len(rise) == rising:
                again[at + rising - 1] = random.integers(1, 1 + max(1, sent[at + rising - 1]) * 0.6)
        at += rising


def node(number: int, way: Way, rate: float) -> Rates:
    place = 0 if way is Way.SEND else 1
    return {(a, b): rate for a in range(NODES) for b in range(NODES) if a != b and (a, b)[place] == number}


def named(losses: Losses) -> list[tuple[str, str]]:
    found = lossy(losses)
    links = [(">".join(one.subject), str(one.way)) for one in found.links]
    return [*((str(one.subject), str(one.way)) for one in found.nodes), *links]


def recorded(name: str) -> tuple[Losses, dict[str, str] | None]:
    """A window of streams in a lab (bench/links), polled each 0.25 s, and what was planted."""
    told = json.loads(Path(__file__).with_name("recorded_losses.json").read_text())[name]
    pairs = [pair.split(">") for pair in told["pairs"]]
    names = sorted({node for pair in pairs for node in pair})
    ends = np.array([[names.index(node) for node in pair] for pair in pairs])
    again, segments, trips = (
        np.array([own[which] for own in told["pairs"].values()], dtype=float)
        for which in ("again", "segments", "trips_ms")
    )
    return Losses(names, ends, again, segments, trips / 1e3), told["planted"]


@pytest.mark.parametrize("name", ["quiet", "quiet-uneven", "pair", "sender", "receiver"])
def test_of_streams_that_were_recorded_what_was_planted_is_named_and_nothing_else(name: str) -> None:
    """Healthy pairs lose up to a sixth of what they send; planted is a loss of 1 or 2 %."""
    losses, planted = recorded(name)
    assert named(losses) == ([(planted["subject"], planted["way"])] if planted else [])
    assert losses.again.sum() > 0.01 * losses.segments.sum()


@pytest.mark.parametrize("streams", [True, False])
def test_nobody_is_named_where_queues_overflow(streams: bool) -> None:
    random = np.random.default_rng(1)
    wrong = [one for _ in range(60) if (one := named(made(random, {}, streams=streams)))]
    assert wrong == []


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("way", [Way.SEND, Way.RECEIVE])
def test_a_node_whose_way_loses_is_named_with_the_way(way: Way, streams: bool) -> None:
    random = np.random.default_rng(2)
    found = [named(made(random, node(3, way, 0.01), streams=streams)) for _ in range(20)]
    assert found == [[("n3", str(way))]] * 20


@pytest.mark.parametrize("streams", [True, False])
def test_a_pair_whose_path_loses_is_named_and_not_its_nodes(streams: bool) -> None:
    random = np.random.default_rng(3)
    found = [named(made(random, {(1, 2): 0.02}, streams=streams)) for _ in range(20)]
    assert found == [[("n1>n2", "send")]] * 20


def test_of_a_fast_network_what_lasts_is_told_though_every_poll_loses_something() -> None:
    """200,000 segments a poll: events alone are one for each."""
    random = np.random.default_rng(4)
    found = lossy(made(random, node(0, Way.SEND, 0.005), streams=False, segments=200_000.0))
    ((one,), links) = (found.nodes, found.links)
    assert (one.subject, one.way, links) == ("n0", Way.SEND, ())
    assert one.low <= 0.005 <= one.high * 1.02  # the quieter half is a little below the mean
    assert named(made(random, {}, streams=True, segments=200_000.0)) == []


def test_two_faults_are_both_told() -> None:
    random = np.random.default_rng(5)
    losses = made(random, {**node(3, Way.RECEIVE, 0.02), (0, 1): 0.03}, streams=True)
    assert sorted(named(losses)) == [("n0>n1", "send"), ("n3", "receive")]


def test_a_share_of_all_that_is_lost_everywhere_accuses_nobody() -> None:
    random = np.random.default_rng(6)
    everywhere = {(a, b): 0.01 for a in range(NODES) for b in range(NODES) if a != b}
    assert named(made(random, everywhere, streams=False)) == []


def test_of_two_nodes_nobody_can_be_told() -> None:
    assert named(made(np.random.default_rng(7), {(0, 1): 0.05}, streams=False, nodes=2)) == []


def test_too_few_segments_say_nothing() -> None:
    assert named(made(np.random.default_rng(8), {(0, 1): 0.2}, streams=False, segments=4.0)) == []


def test_without_polls_or_pairs_there_is_nothing() -> None:
    none = np.zeros((0, 0))
    assert named(Losses([], np.zeros((0, 2), dtype=np.int64), none, none, none)) == []


def test_a_figure_has_what_the_others_lose_beside_it() -> None:
    found = lossy(made(np.random.default_rng(9), node(3, Way.SEND, 0.01), streams=False))
    (one,) = found.nodes
    assert (one.partners, one.slower) == (4, 4)
    assert one.expected == pytest.approx(0.0005), "none of the others lose: no less counts as usual"
    assert one.low < one.value < one.high
