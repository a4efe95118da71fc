"""`python -m bench.undo`: what is left changed when whoever changed settings is killed; wulf beside tuned.

Every trial has a network, mounts and processes of its own, and changes settings of that network alone; all else of
/proc/sys and /sys is read-only there. Rewrites the table of docs/how-it-works/undo.md.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from bench.engine.errors import BenchError, told
from bench.engine.places import DOCS
from bench.report.docs import rewrite
from bench.undo.cases import CASES, Seen
from bench.undo.contenders import CONTENDERS
from wulf.core.errors import OK

PAGE = DOCS / "how-it-works" / "undo.md"
TRIALS = 10
PRIVATE = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
PATIENCE_S = 120


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 the page is written, 2 a contender could not be run."""
    parser = argparse.ArgumentParser(prog="python -m bench.undo", description="The table of docs/how-it-works/undo.md.")
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each case")
    parser.add_argument("--tuned", default="tuned", help="command that starts tuned")
    parser.add_argument("--print", action="store_true", help="the table, and no page")
    asked = parser.parse_args(arguments)
    made = table(contest(asked.trials, asked.tuned), asked.trials, version(asked.tuned))
    if asked.print:
        print(made)
    else:
        rewrite(PAGE, made)
    return OK


def contest(trials: int, tuned: str) -> dict[str, dict[str, list[Seen]]]:
    """Case → contender → what each trial left; contenders take turns."""
    if shutil.which(shlex.split(tuned)[0]) is None:
        raise BenchError(f"there is no {tuned} here: `apt-get install tuned`, or --tuned COMMAND")
    seen: dict[str, dict[str, list[Seen]]] = {case: {name: [] for name in CONTENDERS} for case in CASES}
    for _ in range(trials):
        for case, by_name in seen.items():
            for name, trials_seen in by_name.items():
                trials_seen.append(trial(case, name, tuned))
    return seen


def trial(case: str, contender: str, tuned: str) -> Seen:
    """One trial, in namespaces that end with it."""
    words = [*PRIVATE, sys.executable, "-m", "bench.undo.cases", case, contender, tuned]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode != 0:
        raise BenchError(f"{contender}, {case}: {done.stderr.strip()[-500:]}")
    return Seen(**json.loads(done.stdout.splitlines()[-1]))


def version(tuned: str) -> str:
    """'tuned 2.20.0'."""
    said = subprocess.run([*shlex.split(tuned), "--version"], capture_output=True, text=True, timeout=60, check=False)
    return said.stdout.strip() or "tuned of an unknown version"


def table(seen: dict[str, dict[str, list[Seen]]], trials: int, peer: str) -> str:
    """Settings left changed, of all that were changed, over all trials."""
    rows = ["| " + " | ".join(["case", *CONTENDERS]) + " |", "| --- " * (len(CONTENDERS) + 1) + "|"]
    for case, by_name in seen.items():
        rows.append("| " + " | ".join([CASES[case].title, *map(cell, by_name.values())]) + " |")
    return "\n".join([*rows, "", f"{trials} trials of each, {datetime.now(UTC):%Y-%m-%d}; {peer}."])


def cell(trials: Sequence[Seen]) -> str:
    """'0 of 120', and what was done to somebody else's value."""
    left, of = sum(seen.left for seen in trials), sum(seen.of for seen in trials)
    foreign = [seen.foreign_kept for seen in trials if seen.foreign_kept is not None]
    words = f"{left} of {of}"
    return f"{words}; his value kept {sum(foreign)} of {len(foreign)} times" if foreign else words


if __name__ == "__main__":
    sys.exit(main())
