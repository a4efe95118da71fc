"""`wulf net pairs`, `incast`, `bisection`: the network probe over a whole cluster."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from wulf.cli.commands import Command
from wulf.cli.options import measure_options, node_options
from wulf.cli.studying import show_run, studied


@click.command(cls=Command, epilog="Example: wulf net pairs --nodes 'n[1-512]' --rounds 8")
@node_options
@measure_options
@click.option("--rounds", type=click.IntRange(min=1), help="Pairs that each node is in [all up to 64 nodes, else 4].")
@click.option("--all", "everything", is_flag=True, help="All pairs, however many nodes.")
@click.option("--together", is_flag=True, help="At the same time even where nodes share a machine, as in a lab.")
def pairs(rounds: int | None, everything: bool, together: bool, as_json: bool, **options: Any) -> int:
    """TCP round trip and streams over all pairs, or a sample of them.

    In rounds of disjoint pairs, each node in one, that begin at the same moment: what a loaded network does. Tells a
    slow node from a slow link, and says with which chance a sample misses a bad link. Where the nodes have an MPI,
    `wulf mpi pairs` measures the round trips of all pairs within one launch.
    """
    from wulf.workflow.net.pairs import Pairs

    study = partial(Pairs, rounds=rounds, everything=everything, together=together)
    return show_run(studied("net-pairs", options, study), as_json=as_json)


@click.command(cls=Command, epilog="Example: wulf net incast --nodes 'n[1-8]' --to n3")
@node_options
@measure_options
@click.option("--to", metavar="NODESET", help="Receivers [each node in turn].")
@click.option("--senders", type=click.IntRange(min=2, max=63), help="At most so many, drawn at random [all, up to 63].")
def incast(to: str | None, senders: int | None, as_json: bool, **options: Any) -> int:
    """Many senders to one node at the same time.

    At each node in turn: what arrives from all senders together, how evenly they share, what is sent again, and what
    one sender reaches alone.
    """
    from wulf.workflow.net.incast import Incast

    return show_run(studied("net-incast", options, partial(Incast, to=to, senders=senders)), as_json=as_json)


@click.command(cls=Command, epilog="Example: wulf net bisection --nodes 'n[1-64]' --halvings 8 --search 16")
@node_options
@measure_options
@click.option("--halvings", type=click.IntRange(min=1), default=4, show_default=True, help="Random ones.")
@click.option(
    "--search", "steps", type=click.IntRange(min=0), default=8, show_default=True, help="Steps towards a worse one."
)
@click.option("--one-way", is_flag=True, help="One half only sends [both ways at the same time].")
def bisection(halvings: int, steps: int, one_way: bool, as_json: bool, **options: Any) -> int:
    """All nodes in disjoint pairs that stream at the same time.

    Random halvings with their mean, then the worst that a search by swapping partners finds; each stream's share of
    it, against a stream alone: full bisection bandwidth, or which part of it.
    """
    from wulf.workflow.net.bisection import Bisection

    study = partial(Bisection, halvings=halvings, steps=steps, both=not one_way)
    return show_run(studied("net-bisection", options, study), as_json=as_json)


COMMANDS = {"pairs": pairs, "incast": incast, "bisection": bisection}
"""Name → command, for the group."""
