"""`wulf stats`."""

from __future__ import annotations

import json

import click

from wulf.cli.commands import Group
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import FOUND, OK, UsageError

LISTED = ("stats", "Lab and tools", 40, "Try the statistics on noise whose truth is known: selftest.")


@click.group(cls=Group)
def command() -> None:
    """What wulf's statistics promise, tried on noise whose truth is known."""


def _areas(_ctx: click.Context, _param: click.Parameter, text: str | None) -> tuple[str, ...]:
    from wulf.selftest.run import AREAS

    wanted = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    for area in wanted:
        if area not in AREAS:
            raise UsageError(f"--only {area!r} is no area", f"areas: {', '.join(AREAS)}")
    return wanted


@command.command(epilog="Example: wulf stats selftest --quick --only blame,tune")
@click.option("--quick", is_flag=True, help="Thirteen minutes of CPU time: some hundred campaigns a claim.")
@click.option("--only", metavar="AREA[,AREA]", callback=_areas, help="Of comparisons, blame, tune, … [all].")
@click.option(
    "--seed", type=click.IntRange(min=0), help="Of the simulated noise [the one of docs/explanation/statistics.md]."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a claim.")
@click.option("--markdown", is_flag=True, help="The table of docs/explanation/statistics.md.")
def selftest(quick: bool, only: tuple[str, ...], seed: int | None, as_json: bool, markdown: bool) -> int:
    """Simulate thousands of campaigns, and hold every claim of docs/explanation/statistics.md against its bound.

    A goal is met when the whole interval of the share lies within it or no more than two points beyond, and open where
    so few campaigns don't tell. Exit code 1 when one is missed by more than chance explains.
    """
    from wulf.cli.progress import progress_line
    from wulf.report import selftest as shown
    from wulf.selftest.run import SEED, claims, speeds
    from wulf.stats.claims import missed

    with progress_line() as line:
        found = claims(quick=quick, seed=SEED if seed is None else seed, only=only, watch=line)
        line.say("speed")
        timed = speeds()
    if as_json:
        for claim in found:
            echo(json.dumps(shown.as_json(claim)))
    elif markdown:
        echo(shown.markdown(found), nl=False)
    else:
        shown.print_claims(found, colour_console())
    for speed in timed:
        word = "" if speed.met else ": TOO SLOW"
        echo(f"{speed.what}: {speed.seconds:.3g} s (limit {speed.limit:g} s){word}", err=as_json or markdown)
    echo(shown.summary(found), err=as_json or markdown)
    return FOUND if missed(found) else OK
