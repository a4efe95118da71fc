"""wulf-replay's answers about many networks are those about each of them: at once, swept, and by their corners."""

from __future__ import annotations

import random
from bisect import bisect_right
from typing import Any

import pytest

from tests.process.native.session import Session
from tests.reference import compare
from tests.reference.programs import network, program

SEEDS = range(12)
RANKS = 6
FRACTION = 20
LARGEST = {"latency": 40_000_000, "byte": 4_000 << FRACTION}
"""Up to where a parameter is swept: 40 µs, 4 ns a byte."""

FIELD = {"latency": "latency_ps", "byte": "byte_fp"}


class Loaded:
    """A program by chance, in a session."""

    def __init__(self, session: Session, seed: int) -> None:
        self._session = session
        self.rng = random.Random(seed)
        self.ranks = program(self.rng, RANKS, 150)
        self.number = compare.load(session, {"program": {"ranks": self.ranks}})

    @property
    def messages(self) -> int:
        return sum(step[0] == "send" for rank in self.ranks for step in rank)

    def networks(self, count: int) -> list[dict[str, Any]]:
        return [network(self.rng, RANKS, receiver_gap=self.rng.random() < 0.7) for _ in range(count)]

    def runs(self, networks: list[dict[str, Any]], engine: compare.Engine, **options: Any) -> list[dict[str, Any]]:
        return self.ask("replay", networks=networks, engine=engine, detail=True, **options)["runs"]

    def times(self, base: dict[str, Any], over: str, values: list[int]) -> list[int]:
        """T at each value of the parameter between hosts, by replaying."""
        networks = [{**base, "inter": {**base["inter"], FIELD[over]: value}} for value in values]
        return [run["ps"] for run in self.runs(networks, "a")]

    def ask(self, op: str, **fields: Any) -> Any:
        answer = self._session.ask(op, program=self.number, **fields)
        assert answer["ok"], answer
        return answer


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 17, 64, 65])
@pytest.mark.parametrize("engine", compare.ENGINES)
def test_many_networks_at_once_are_each_of_them_alone(session: Session, engine: compare.Engine, count: int) -> None:
    loaded = Loaded(session, count)
    networks = loaded.networks(count)
    alone = [run for each in networks for run in loaded.runs([each], engine)]
    assert loaded.runs(networks, engine) == alone


@pytest.mark.parametrize("engine", compare.ENGINES)
def test_the_answer_does_not_depend_on_the_number_of_threads(session: Session, engine: compare.Engine) -> None:
    loaded = Loaded(session, 0)
    networks = loaded.networks(20)
    first, *others = [loaded.runs(networks, engine, threads=threads) for threads in (1, 2, 3, 7)]
    assert all(other == first for other in others)


class Corners:
    """T as wulf-replay says that it depends on one parameter."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.points, self.slopes = answer["points"], answer["slopes"]
        self._begins = [point[0] for point in self.points[: len(self.slopes)]]

    def at(self, value: int) -> float:
        place = bisect_right(self._begins, value) - 1
        begin, time = self.points[place]
        unit = (self.points[-1][1] - self.points[-2][1]) / (self.points[-1][0] - self.points[-2][0])
        scale = unit / self.slopes[-1] if self.slopes[-1] else 1.0
        return float(time + self.slopes[place] * scale * (value - begin))


def swept(loaded: Loaded, answer: dict[str, Any], largest: int) -> list[int]:
    """Values everywhere, and close to every corner."""
    values = {loaded.rng.randrange(largest + 1) for _ in range(300)} | {0, largest}
    for begin, _ in answer["points"]:
        values |= {min(largest, max(0, int(begin) + near)) for near in (-1, 0, 1, 2)}
    return sorted(values)


@pytest.mark.parametrize("over", LARGEST)
@pytest.mark.parametrize("seed", SEEDS)
def test_corners_are_what_a_dense_sweep_shows(session: Session, seed: int, over: str) -> None:
    """Over the latency to the picosecond; over the byte but for the rounding of each message on the way."""
    loaded = Loaded(session, seed)
    (base,) = loaded.networks(1)
    largest = LARGEST[over]
    answer = loaded.ask("breakpoints", network=base, over=over, **{"from": 0, "to": largest})
    assert answer["slopes"] == sorted(set(answer["slopes"]))  # convex, and no corner is none
    values = swept(loaded, answer, largest)
    corners = Corners(answer)
    allowed = 0.5 if over == "latency" else 4 * loaded.messages + 1
    for value, time in zip(values, loaded.times(base, over, values), strict=True):
        assert abs(corners.at(value) - time) <= allowed, (value, time, answer)


def test_programs_by_chance_have_corners(session: Session) -> None:
    counts = []
    for seed in SEEDS:
        loaded = Loaded(session, seed)
        (base,) = loaded.networks(1)
        answer = loaded.ask("breakpoints", network=base, over="latency", **{"from": 0, "to": LARGEST["latency"]})
        counts.append(len(answer["slopes"]))
    assert max(counts) > 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tolerance_is_the_last_latency_that_keeps_the_time(session: Session, seed: int) -> None:
    loaded = Loaded(session, seed)
    (base,) = loaded.networks(1)
    (now,) = loaded.times(base, "latency", [base["inter"]["latency_ps"]])
    (found,) = loaded.ask("tolerance", network=base, shares=[0.05])["tolerances"]
    if found["latency_ps"] is None:  # nothing goes between hosts
        return
    last = base["inter"]["latency_ps"] + found["latency_ps"]
    kept, grown = loaded.times(base, "latency", [last, last + 1])
    assert kept <= now * 1.05 < grown


@pytest.mark.parametrize("seed", SEEDS)
def test_the_critical_path_goes_from_the_beginning_to_the_end(session: Session, seed: int) -> None:
    loaded = Loaded(session, seed)
    (base,) = loaded.networks(1)
    (run,) = loaded.runs([base], "a", parts=True)
    path = loaded.ask("path", network=base, most=1_000_000)
    assert sum(run["parts"].values()) == run["ps"] == path["ps"]
    moments = [0, *(step["end"] for step in path["steps"])]
    assert [step["begin"] for step in path["steps"]] == moments[:-1]
    assert moments[-1] == run["ps"]
    for kind, total in run["parts"].items():
        assert sum(step["end"] - step["begin"] for step in path["steps"] if step["kind"] == kind) == total
