"""`wulf demo`."""

from __future__ import annotations

from pathlib import Path

import click

from wulf.cli.commands import Command
from wulf.cli.options import measuring
from wulf.cli.showing import colour_console, echo

LISTED = ("demo", "Measure", 20, "A four-node lab with one slow link, surveyed.")

NODES, SLOW, RATE = 4, "n3", "200mbit"


@click.command(cls=Command, epilog="Example: wulf demo --out demo")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
@click.option("--quick", is_flag=True, help="Six replicates a figure.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the random order [drawn, and recorded].")
@click.option("--backend", type=click.Choice(["netns", "loopback"]), help="Of the lab [what this machine allows].")
def command(out: Path | None, quick: bool, seed: int | None, backend: str | None) -> int:
    """Make a four-node cluster, slow one node's link, survey it, and see whether the survey finds it.

    Exits 0 when the findings name the slowed node and no other, 1 when they do not.
    """
    from wulf.report.run.terminal import print_report
    from wulf.workflow.net.demo import demo, verdict

    with measuring("demo", out, seed, argv=["demo"]) as (writer, drawn, line):
        shown = demo(NODES, SLOW, RATE, writer, drawn, quick=quick, backend=backend, watch=line)
    print_report(shown.outcome.run, colour_console())
    code, text = verdict(shown, SLOW)
    echo(text)
    echo(f"report: {shown.outcome.run.path.resolve() / 'report.html'}")
    return code
