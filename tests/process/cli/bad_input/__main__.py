"""Try malformed input: `make bad-input`. What ends in another way than a clear error is listed."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import pkgutil
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import wulf
from tests.process.cli.bad_input import files, nodes, options
from tests.process.cli.bad_input.trial import End, Input, judged, trouble
from wulf.core.errors import INTERRUPTED

KINDS = ("refused", "incomplete", "taken", "wrong")


def load_all() -> None:
    """All modules of wulf, so that a fork has nothing left to import."""
    for module in pkgutil.walk_packages(wulf.__path__, "wulf."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()  # no fork looks through them all for garbage, and copies their pages by that


def collected(scratch: Path, seed: int, sample: int | None, only: str) -> list[Input]:
    """All inputs, or a sample in which every surface has its share."""
    found = [
        one
        for one in (*options.inputs(), *files.inputs(scratch, seed), *nodes.inputs(seed))
        if only in f"{one.surface} {one.what}"
    ]
    chance = random.Random(seed)
    chance.shuffle(found)
    if sample is None or sample >= len(found):
        return found
    rank: Counter[str] = Counter()
    ranked = []
    for one in found:
        ranked.append((rank[one.surface], one))
        rank[one.surface] += 1
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])][:sample]


def main(arguments: Sequence[str] | None = None) -> int:
    """Status 1 where an input ended in another way than it may."""
    parser = argparse.ArgumentParser(prog="make bad-input", description=__doc__)
    parser.add_argument("--sample", type=int, help="how many of them [all]")
    parser.add_argument("--seed", type=int, default=1, help="of what is changed in sound files, and of the sample [1]")
    parser.add_argument("--only", default="", help="those whose description has this in it")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="how many at once")
    parser.add_argument("--taken", action="store_true", help="list what was taken, too")
    options_given = parser.parse_args(arguments)
    load_all()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wulf-bad-input-") as name:
        scratch = Path(name)
        (scratch / "bin").mkdir()
        (scratch / "bin" / "ssh").write_text(nodes.SSH)
        (scratch / "bin" / "ssh").chmod(0o755)
        os.environ["PATH"] = f"{scratch / 'bin'}:{os.environ['PATH']}"
        os.environ["NO_COLOR"] = "1"
        tried_in = scratch / "a/b/c/d/e"  # so deep that ../../../../etc/passwd is not this host's
        tried_in.mkdir(parents=True)
        given = collected(scratch, options_given.seed, options_given.sample, options_given.only)
        return report(given, tried_in, options_given.jobs, began, taken=options_given.taken)


def report(given: list[Input], scratch: Path, jobs: int, began: float, *, taken: bool) -> int:
    """Try them; print the first of each way to go wrong when it is seen, and at its end or Ctrl-C a table of all."""
    counts: dict[str, Counter[str]] = {}
    ways: Counter[str] = Counter()
    slowest, largest, number, interrupted = 0.0, 0, 0, False
    try:
        for number, (one, end) in enumerate(judged(given, scratch, jobs), 1):
            found = trouble(one, end)
            kind = "wrong" if found else {0: "taken", 1: "taken", 2: "refused"}.get(end.code, "incomplete")
            counts.setdefault(one.surface, Counter())[kind] += 1
            slowest, largest = max(slowest, end.cpu), max(largest, end.memory)
            if found:
                ways[way(found, end)] += 1
                if ways[way(found, end)] == 1:
                    print(f"wrong  {one.surface}: {one.what}\n    {found}: {end.err.strip()[-400:]}", flush=True)
            elif taken and kind == "taken":
                print(f"taken  {one.surface}: {one.what[:150]}")
            progress(number, len(given), time.monotonic() - began)
    except KeyboardInterrupt:
        interrupted = True
    print(f"{'read by':<26}" + "".join(f"{kind:>12}" for kind in KINDS))
    counts["all"] = sum(counts.values(), Counter())
    for surface, row in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"{surface:<26}" + "".join(f"{row[kind]:>12}" for kind in KINDS))
    tried_of = f"{number} of {len(given)} inputs" if interrupted else f"{number} inputs"
    print(f"{tried_of} in {time.monotonic() - began:.0f} s; the most that one took: {slowest:.2f} s of a CPU, "
          f"{largest >> 20} MiB")  # fmt: skip
    for name, times in ways.most_common():
        print(f"{times} x {name}")
    return INTERRUPTED if interrupted else 1 if ways else 0


def progress(number: int, of: int, took: float) -> None:
    """Tell how far it is: on a terminal all the time, elsewhere at each tenth."""
    left = f"{number} of {of}, {took / number * (of - number):.0f} s left"
    if sys.stderr.isatty():
        if number % 20 == 0:
            print(f"\r{left} ", end="", file=sys.stderr)
    elif number * 10 // of > (number - 1) * 10 // of:
        print(left, file=sys.stderr, flush=True)


def way(found: str, end: End) -> str:
    """What many that went wrong alike have in common: the place of a defect, or the kind of trouble."""
    defect = re.search(r"wulf itself failed: (\S+ at \S+?):? ", end.err)
    return defect[1] if defect else found.partition(":")[0]


if __name__ == "__main__":
    sys.exit(main())
