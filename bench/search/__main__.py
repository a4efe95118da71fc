"""The search replayed on recorded grids, beside random search, Optuna and a Gaussian process at equal cost.

    python -m bench.search [--grid tiles] [--replays 1000] [--noise 0.1] [--peers PYTHON]

Every replay draws the noise of each run anew from the recorded ones (see `bench.search.replay`). Regret: how much
slower the configuration chosen is than the grid's best. Cost: seconds of all runs, over those of the whole grid at full
size.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.search.recorded import GRIDS, Scene, scene
from bench.search.replay import replay
from wulf.search.space import Config

LIMIT, SHARE, COST = 0.01, 0.95, 0.10
"""Regret of at most one per cent in at least 95 % of replays, at ten per cent of the grid's cost."""

PEERS = {"tpe": "Optuna TPE", "hyperband": "Optuna TPE, Hyperband", "gp": "GP, expected improvement"}


@dataclass(frozen=True)
class Tally:
    """A method's replays."""

    method: str
    regrets: Sequence[float]
    costs: Sequence[float]

    def row(self) -> list[str]:
        """Of the table."""
        regrets = np.array(self.regrets)
        share = float((regrets <= LIMIT + 1e-12).mean())
        return [self.method, f"{100 * share:.1f} %", *(f"{100 * np.quantile(regrets, q):.2f} %" for q in (0.5, 0.95)),
                f"{100 * regrets.max():.2f} %", f"{100 * np.mean(self.costs):.1f} %",
                f"{100 * np.quantile(self.costs, 0.95):.1f} %"]  # fmt: skip


HEADS = ("method", "regret ≤ 1 %", "median", "95 %", "worst", "cost, mean", "95 %")


def searched(grid: str, noise: float, seed: int) -> tuple[float, float]:
    """Regret and cost of one search."""
    where = scene(grid, noise)
    one = replay(where.recorded, where.plan(seed), seed)
    return one.regret, one.cost


@dataclass
class Budget:
    """Runs that are drawn until the money is gone; whoever spends it is judged by the best run at the largest size."""

    scene: Scene
    seconds: float
    seed: int

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._spent = 0.0
        self._best: dict[float, tuple[float, Config]] = {}

    def run(self, config: Config, size: float) -> float | None:
        """Seconds of a run; None where they are not there any more."""
        seconds = self.scene.recorded.draw(config, size, self._random)
        if self._spent + seconds > self.seconds:
            return None
        self._spent += seconds
        now = (seconds, config)
        self._best[size] = min(self._best.get(size, now), now, key=lambda pair: pair[0])
        return seconds

    @property
    def outcome(self) -> tuple[float, float]:
        """Regret and cost."""
        recorded = self.scene.recorded
        best = self._best[max(self._best)][1] if self._best else None
        return recorded.regret(best), self._spent / recorded.whole


def random_search(budget: Budget) -> tuple[float, float]:
    """Configurations at random, at full size, each once."""
    every = list(budget.scene.space.all())
    for i in np.random.default_rng(budget.seed).permutation(len(every)):
        if budget.run(every[i], budget.scene.recorded.full) is None:
            break
    return budget.outcome


def peer_searches(method: str, python: str, budgets: Sequence[Budget]) -> Iterator[tuple[float, float]]:
    """A peer in its own environment: it asks, and is told a run's time."""
    script = Path(__file__).parent / "peers.py"
    with subprocess.Popen([python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdin is not None and peer.stdout is not None
        for budget in budgets:
            knobs = {knob.name: list(knob.values) for knob in budget.scene.space.knobs}
            study = {
                "method": method,
                "seed": budget.seed,
                "knobs": knobs,
                "sizes": sorted(budget.scene.recorded.truth),
            }
            said: object = study
            while said is not None:
                peer.stdin.write(json.dumps(said) + "\n")
                peer.stdin.flush()
                asked = json.loads(peer.stdout.readline())
                said = budget.run(tuple(asked["config"][name] for name in knobs), asked["size"])
            peer.stdin.write("null\n")
            peer.stdin.flush()
            yield budget.outcome


def tallies(where: Scene, replays: int, python: str | None, workers: int, share: float = 0.0) -> Iterator[Tally]:
    """Every method, at what each search cost; the others at this share of the grid, where that is more."""
    with ProcessPoolExecutor(workers) as pool:
        own = list(pool.map(partial(searched, where.name, where.noise), range(replays), chunksize=4))
    yield _tally("wulf", own)
    money = [max(cost, share) * where.recorded.whole for _, cost in own]

    def budgets() -> list[Budget]:
        return [Budget(where, seconds, seed) for seed, seconds in enumerate(money)]

    yield _tally("random", [random_search(one) for one in budgets()])
    for method, title in PEERS.items() if python else ():
        yield _tally(title, list(peer_searches(method, python or "", budgets())))


def _tally(method: str, outcomes: Sequence[tuple[float, float]]) -> Tally:
    return Tally(method, [regret for regret, _ in outcomes], [cost for _, cost in outcomes])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.search", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--grid", choices=GRIDS, default=GRIDS[0])
    parser.add_argument("--replays", type=int, default=1000)
    parser.add_argument("--noise", type=float, default=1.0, help="Times the recorded noise.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--share", type=float, default=0.0, help="Of the grid's cost that others have at least.")
    here = sys.executable if find_spec("optuna") and find_spec("sklearn") else None
    parser.add_argument("--peers", metavar="PYTHON", default=here, help="An interpreter with optuna and scikit-learn.")
    given = parser.parse_args()
    where = scene(given.grid, given.noise)
    recorded = where.recorded
    count, spread = len(recorded.truth[recorded.full]), recorded.spread(recorded.full)
    print(f"{count} configurations of {where.what}; {given.replays} replays")
    print(f"Noise of one run: {100 * spread:.1f} %, {given.noise:g} times what was recorded\n")
    print("| " + " | ".join(HEADS) + " |\n|" + " --- |" * len(HEADS))
    found = []
    for tally in tallies(where, given.replays, given.peers, given.workers, given.share):
        print("| " + " | ".join(tally.row()) + " |", flush=True)
        found.append(tally)
    own = found[0]
    right = np.mean(np.array(own.regrets) <= LIMIT) >= SHARE and np.mean(own.costs) <= COST
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
