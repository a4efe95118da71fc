"""wulf-replay beside the reference on programs by chance: `python -m tests.reference.compare --programs 10000`.

Each program is replayed over one network by both engines, with and without the receiver's gap; every rank's last clock
has to be the same to the picosecond. A program that differs is printed as JSON, so that it can be put into a test.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from tests.process.native.session import Session
from tests.reference.programs import network, program, safe_bytes
from tests.reference.replay import FRACTION, Result, Step, replay

Engine = Literal["a", "b"]
ENGINES: tuple[Engine, ...] = ("a", "b")
MOST_RANKS, MOST_STEPS = 10, 120


@dataclass(frozen=True)
class Case:
    """One program, the networks it is replayed over and the scale of its compute (20 fractional bits)."""

    seed: int
    ranks: list[list[Step]]
    networks: list[dict[str, Any]]
    scale: int

    @property
    def request(self) -> dict[str, Any]:
        return {"program": {"ranks": self.ranks}, "compute": self.scale / (1 << FRACTION)}


@dataclass(frozen=True)
class Difference:
    """What one engine answered, and what it should have."""

    case: Case
    engine: Engine
    network: dict[str, Any]
    expected: Result
    found: dict[str, Any]

    def __str__(self) -> str:
        wanted = {"ranks": self.expected.ranks, "inversions": self.expected.inversions}
        told = {key: self.found.get(key) for key in wanted}
        return (
            f"seed {self.case.seed}, engine {self.engine}: the reference has {wanted}, wulf-replay {told}\n"
            f"  network {json.dumps(self.network)}\n  request {json.dumps(self.case.request)}"
        )


def case(seed: int) -> Case:
    """The program and the two networks of a seed."""
    rng = random.Random(seed)
    ranks = rng.randrange(1, MOST_RANKS + 1)
    drawn = network(rng, ranks)
    networks = [drawn, {**drawn, "receiver_gap": False}]
    scale = rng.choice((1 << FRACTION, 1 << FRACTION, 1 << (FRACTION - 1), rng.randrange(1, 4 << FRACTION)))
    return Case(seed, program(rng, ranks, rng.randrange(1, MOST_STEPS), safe_bytes(*networks)), networks, scale)


def load(session: Session, request: dict[str, Any]) -> Any:
    """The loaded program's number."""
    answer = session.ask("load", **request)
    assert answer["ok"], answer
    return answer["program"]


def runs(session: Session, loaded: Any, networks: list[dict[str, Any]], engine: Engine) -> list[dict[str, Any]]:
    """wulf-replay's answer for each of the networks."""
    answer = session.ask("replay", program=loaded, networks=networks, engine=engine, detail=True)
    assert answer["ok"], answer
    found: list[dict[str, Any]] = answer["runs"]
    return found


def agrees(expected: Result, found: dict[str, Any], engine: Engine) -> bool:
    """Every rank's end, the whole time, and with engine A the inversions."""
    times = found["ranks"] == expected.ranks and found["ps"] == expected.ps
    return times and (engine == "b" or found["inversions"] == expected.inversions)


def differences(session: Session, one: Case) -> Iterator[Difference]:
    """Where wulf-replay and the reference are not of one mind."""
    loaded = load(session, one.request)
    for engine in ENGINES:
        answers = runs(session, loaded, one.networks, engine)
        for drawn, found in zip(one.networks, answers, strict=True):
            expected = replay(one.ranks, drawn, engine, one.scale)
            if not agrees(expected, found, engine):
                yield Difference(one, engine, drawn, expected, found)
    session.ask("drop", program=loaded)


def main() -> int:
    """Exit status 0: all agree; 1: some did not, and are printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    began, different, steps = time.monotonic(), 0, 0
    with Session(program="wulf-replay") as session:
        for seed in range(options.first, options.first + options.programs):
            one = case(seed)
            steps += sum(len(rank) for rank in one.ranks)
            for difference in differences(session, one):
                different += 1
                print(difference, flush=True)
    compared = len(list(product(ENGINES, (True, False)))) * options.programs
    print(
        f"{options.programs} programs, {steps} steps, {compared} replays: {different} differ from the reference, "
        f"in {time.monotonic() - began:.0f} s"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
