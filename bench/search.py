"""The search replayed on a recorded grid, beside random search and Optuna's TPE at equal cost.

    python -m bench.search [--replays 1000] [--optuna PYTHON]

Every replay draws the noise of each run anew from the recorded ones (see `wulf.search.replay`). Regret: how much slower
the configuration chosen is than the grid's best. Cost: seconds of all runs, over those of the whole grid at full size.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench.search_grid import ABOUT, GRID, KNOBS, REPEATS, SIZES
from wulf.cli.search import REPEATS as AGAIN
from wulf.cli.search import THOROUGH
from wulf.search.plan import Plan
from wulf.search.replay import Recorded, replay
from wulf.search.space import Config, Knob, Space

LIMIT, SHARE, COST = 0.01, 0.95, 0.10
"""Regret of at most one per cent in at least 95 % of replays, at ten per cent of the grid's cost."""

NEAR = 5
"""Anchors that tell how fast the machine was just then."""

NUMBERS = ("nb", "depth", "nbmin")


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


def value_of(name: str, text: str) -> str | int:
    """As the space has it."""
    return int(text) if name in NUMBERS else text


def space() -> Space:
    """The recorded knobs; by default as HPCC's example has them."""
    defaults: dict[str, str | int] = {
        "blas": "openblas",
        "grid": "1x2",
        "nb": 128,
        "depth": 1,
        "pfact": "right",
        "nbmin": 8,
    }
    return Space(tuple(Knob(n, tuple(value_of(n, v) for v in vs), defaults[n]) for n, vs in KNOBS.items()))


def read_grid(path: Path = GRID, noise: float = 1.0) -> Recorded:
    """The recorded times, from HPL's GFLOPS and its own count of operations: the best of each process' solves.

    The machine's drift is taken out: each is divided by what the anchors near it were, against all anchors.
    """
    with path.open() as lines:
        rows = list(csv.DictReader(lines))
    grid: dict[float, dict[Config, list[float]]] = {float(n): defaultdict(list) for n in SIZES}
    for n in SIZES:
        work = 2 / 3 * n**3 + 3 / 2 * n**2
        seconds = np.array([work / max(float(row[f"n{n}.{i}"]) for i in range(REPEATS)) / 1e9 for row in rows])
        anchors = np.array([i for i, row in enumerate(rows) if row["kind"] == "anchor"])
        usual = np.median(seconds[anchors])
        for i, row in enumerate(rows):
            if row["kind"] == "grid":
                near = anchors[np.argsort(abs(anchors - i), kind="stable")[:NEAR]]
                config = tuple(value_of(name, row[name]) for name in KNOBS)
                grid[n][config].append(float(seconds[i] * usual / np.median(seconds[near])))
    return Recorded(grid, noise)


def plan(seed: int, **more: Any) -> Plan:
    """The search as `wulf search hpl` has it, on the recorded knobs."""
    where = space()
    return Plan(
        where, tuple(map(float, SIZES)), 3.0, {"default": where.default}, seed, rungs=THOROUGH, repeats=AGAIN, **more
    )


@lru_cache(maxsize=2)
def _recorded(noise: float) -> Recorded:
    return read_grid(noise=noise)


def searched(noise: float, seed: int) -> tuple[float, float, float]:
    """Regret, cost, cost without the comparisons, of one search."""
    one = replay(_recorded(noise), plan(seed), seed)
    return one.regret, one.cost, one.search_cost


def random_search(noise: float, seed: int, budget: float) -> tuple[float, float]:
    """Configurations at random, at full size, each once, until the budget is spent; the fastest run wins."""
    recorded, random = _recorded(noise), np.random.default_rng(seed)
    every = list(space().all())
    spent, best = 0.0, (float("inf"), every[0])
    for i in random.permutation(len(every)):
        seconds = recorded.draw(every[i], recorded.full, random)
        if spent + seconds > budget:
            break
        spent += seconds
        best = min(best, (seconds, every[i]), key=lambda pair: pair[0])
    return recorded.regret(best[1]), spent / recorded.whole


def optuna_search(noise: float, python: str, budgets: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Optuna's TPE with its defaults, in its own environment: it asks, and is told a run's time."""
    recorded = _recorded(noise)
    knobs = {knob.name: list(knob.values) for knob in space().knobs}
    script = Path(__file__).parent / "search_optuna.py"
    with subprocess.Popen([python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdin is not None and peer.stdout is not None
        for seed, budget in enumerate(budgets):
            random = np.random.default_rng(seed)
            peer.stdin.write(json.dumps({"seed": seed, "knobs": knobs}) + "\n")
            peer.stdin.flush()
            spent, best = 0.0, (float("inf"), ())
            while True:
                asked = json.loads(peer.stdout.readline())
                config = tuple(asked[name] for name in knobs)
                seconds = recorded.draw(config, recorded.full, random)
                over = spent + seconds > budget
                peer.stdin.write(json.dumps(None if over else seconds) + "\n")
                peer.stdin.flush()
                if over:
                    break
                spent += seconds
                best = min(best, (seconds, config), key=lambda pair: pair[0])
            yield recorded.regret(best[1]), spent / recorded.whole


def tallies(noise: float, replays: int, python: str | None, workers: int) -> list[Tally]:
    """Every method, at what each search cost."""
    with ProcessPoolExecutor(workers) as pool:
        own = list(pool.map(partial(searched, noise), range(replays), chunksize=4))
    whole = _recorded(noise).whole
    found = [Tally("wulf", [r for r, _, _ in own], [c for _, c, _ in own])]
    budgets = [cost * whole for _, cost, _ in own]
    others = [random_search(noise, seed, budget) for seed, budget in enumerate(budgets)]
    found.append(Tally("random", [r for r, _ in others], [c for _, c in others]))
    if python:
        others = list(optuna_search(noise, python, budgets))
        found.append(Tally("Optuna TPE", [r for r, _ in others], [c for _, c in others]))
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replays", type=int, default=1000)
    parser.add_argument("--noise", type=float, default=1.0, help="Times the recorded noise.")
    parser.add_argument("--workers", type=int, default=2)
    here = sys.executable if find_spec("optuna") else None
    parser.add_argument("--optuna", metavar="PYTHON", default=here, help="An interpreter that has optuna.")
    given = parser.parse_args()
    found = tallies(given.noise, given.replays, given.optuna, given.workers)
    about = json.loads(ABOUT.read_text())
    recorded = _recorded(given.noise)
    count, spread = len(recorded.truth[recorded.full]), recorded.spread(recorded.full)
    print(f"{count} configurations of {about['what']}, N = {SIZES[-1]}, {about['cpu']}; {given.replays} replays")
    print(f"Noise of one run: {100 * spread:.1f} %, {given.noise:g} times what was recorded\n")
    print("| " + " | ".join(HEADS) + " |\n|" + " --- |" * len(HEADS))
    for tally in found:
        print("| " + " | ".join(tally.row()) + " |")
    own = found[0]
    right = np.mean(np.array(own.regrets) <= LIMIT) >= SHARE and np.mean(own.costs) <= COST
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
