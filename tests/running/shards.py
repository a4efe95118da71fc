"""The parts of `make test-all` (shards.toml), which `python -m tests.running.shards [NAME …] [-- WORD …]` runs.

The words are handed on to pytest. CI runs the shard `turn`: whose turn it is, by the number of commits.

Exit status: 0 all passed, 1 something failed; 2 no such shard.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARDS = Path(__file__).with_name("shards.toml")
NOTHING_FOUND = 5
"""pytest's exit status where no test is left: of a shard, where the words that were handed on leave none."""
TURN = "turn"

Run = Callable[[Sequence[str]], int]
"""Runs a command in the project's root, its output shown; returns its exit status."""


@dataclass(frozen=True)
class Shard:
    """A part of what `make test` leaves out.

    Attributes
    ----------
    tests
        Patterns of files below tests/; a test belongs to the first shard that has its file.
    alone
        Those marked `alone`, whatever their file: one at a time, with the machine to themselves.
    workers
        How many of its tests run at a time: pytest-xdist's `-n`.
    commands
        What it runs besides, each a line for a shell in the project's root.
    """

    name: str
    what: str
    tests: tuple[str, ...] = ()
    alone: bool = False
    workers: int | str = "auto"
    commands: tuple[str, ...] = ()


def read(path: Path = SHARDS) -> list[Shard]:
    """All shards, in the order in which CI takes them in turn."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["shard"]
    return [Shard(**{name: tuple(v) if isinstance(v, list) else v for name, v in each.items()}) for each in entries]


def shard_of(file: str, *, alone: bool, known: Iterable[Shard]) -> str | None:
    """The shard of a test that is marked `full`, by its file below tests/; None: no shard has it."""
    for shard in known:
        if shard.alone if alone else any(fnmatch(file, pattern) for pattern in shard.tests):
            return shard.name
    return None


def in_turn(known: Sequence[Shard], commits: int) -> Shard:
    """The shard whose turn it is after so many commits: as many landings as there are shards run them all."""
    return known[commits % len(known)]


def lines(shard: Shard, python: str, words: Sequence[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The commands of a shard, each with the exit statuses that are no failure. `words` are handed on to pytest."""
    if shard.tests or shard.alone:
        fine = (0, NOTHING_FOUND) if words else (0,)
        yield [python, "-m", "pytest", "-q", "--shard", shard.name, "-n", str(shard.workers), *words], fine
    for command in shard.commands:
        yield ["/bin/sh", "-c", command], (0,)


def run(shards: Sequence[Shard], words: Sequence[str], execute: Run, clock: Callable[[], float]) -> list[str]:
    """Run them one after the other, whatever fails; return what failed."""
    failed = []
    for shard in shards:
        began = clock()
        print(f"== shard {shard.name}: {shard.what}", flush=True)
        for command, fine in lines(shard, sys.executable, words):
            if (status := execute(command)) not in fine:
                failed.append(f"shard {shard.name}: {command[-1] if command[0] == '/bin/sh' else 'tests'} ({status})")
        print(f"== shard {shard.name} took {clock() - began:.0f} s", flush=True)
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    end = given.index("--") if "--" in given else len(given)
    options, words = _parser().parse_args(given[:end]), given[end + 1 :]
    known = {shard.name: shard for shard in read()}
    if unknown := set(options.shard) - {TURN, *known}:
        print(
            f"tests/running/shards.toml has no shard {', '.join(unknown)}; it has {', '.join(known)}", file=sys.stderr
        )
        return 2
    if TURN in options.shard:
        known[TURN] = in_turn(list(known.values()), commits := _commits())
        print(f"== after {commits} commits it is the turn of {known[TURN].name}")
    chosen = [known[name] for name in options.shard or known]
    failed = run(chosen, words, _execute, time.monotonic)
    for line in failed:
        print(f"== failed: {line}")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.running.shards", description="Runs shards of `make test-all`."
    )
    parser.add_argument(
        "shard", nargs="*", help=f"names of tests/running/shards.toml, or {TURN}: whose turn it is; default: all"
    )
    return parser


def _commits() -> int:
    told = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(told.stdout)


def _execute(command: Sequence[str]) -> int:
    # `make test-all` hands what it was given to every make below it: ARGS are for pytest alone.
    environment = {
        name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    }
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
