"""`python -m bench.selftest.models`: Brown's figures, and the models' claims, simulated: docs/how-to/models.md."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

import numpy as np
from rich.console import Console

from bench.engine.errors import told
from bench.engine.places import DOCS
from bench.report.docs import rewrite
from wulf.core.errors import FOUND, OK
from wulf.report.kit.terminal import print_view
from wulf.report.model.brown import brown_view
from wulf.report.selftest import markdown
from wulf.selftest import loggp, models
from wulf.stats.claims import Claim, Size, missed

PAGE = DOCS / "how-to" / "models.md"
SEED = 20261121
CAMPAIGNS = 1000
QUICK = 100
FITTED = 5
"""One in so many of the campaigns for LogGP, whose lines take longest."""

WIDTH = 80


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 every claim holds, 1 one does not, 2 the page can't be written."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.selftest.models", description="The made part of docs/how-to/models.md."
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} campaigns a claim, and no page")
    quick = parser.parse_args(arguments).quick
    found = simulated(QUICK if quick else CAMPAIGNS)
    if quick:
        print(claims_table(found))
    else:
        rewrite(PAGE, made(found))
    return FOUND if missed(found) else OK


def simulated(campaigns: int) -> list[Claim]:
    """All claims, each over so many campaigns."""
    found: list[Claim] = []
    steps = [(*step, campaigns) for step in models.plan()]
    steps += [(*step, campaigns // FITTED) for step in loggp.plan()]
    steps += [(*step, campaigns) for step in models.harder()]
    for number, (words, step, count) in enumerate(steps):
        print(words, file=sys.stderr, flush=True)
        found += step(np.random.default_rng([SEED, number]), size=Size(campaigns, count))
    return found


def made(claims: Sequence[Claim]) -> str:
    """The part of the page that is made."""
    return f"### Brown's figures\n\n{brown_text()}\n### By simulation, seed {SEED}\n\n{claims_table(claims)}"


def claims_table(claims: Sequence[Claim]) -> str:
    """What is claimed, and what was found."""
    return markdown(claims)


def brown_text() -> str:
    """His figures as `wulf model speedup --brown` prints them."""
    out = io.StringIO()
    print_view(brown_view(), Console(file=out, width=WIDTH))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "```text\n" + "\n".join(lines).strip() + "\n```\n"


if __name__ == "__main__":
    sys.exit(main())
