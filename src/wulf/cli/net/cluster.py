"""`wulf net pairs`, `incast`, `bisection`: the network probe over a whole cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.options import colour_console, echo_records, inventory_of, measure_options, measuring, node_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from wulf.workflow.engine.measuring import Outcome


def _run(name: str, measure: Callable[..., Outcome], options: dict[str, Any]) -> int:
    """Measure over the nodes that the options name; print, and keep as a run."""
    from wulf.report.run.terminal import print_report
    from wulf.workflow.engine.measuring import Effort

    as_json, out, seed = options.pop("as_json"), options.pop("out"), options.pop("seed")
    effort = Effort(**{key: options.pop(key) for key in ("width", "budget", "quick", "watch")})
    own = {key: options.pop(key) for key in list(options) if key not in _WHERE}
    with inventory_of(**options) as inventory:
        nodes = [node.name for node in inventory.nodes]
        with measuring(f"net-{name}", out, seed, argv=sys.argv[1:], nodes=nodes) as (writer, drawn, line):
            outcome = measure(inventory, effort, writer, drawn, watch=line, **own)
    if as_json:
        echo_records(outcome.run.records)
    else:
        print_report(outcome.run, colour_console())
    click.echo(f"report: {outcome.run.path / 'report.html'}", err=as_json)
    return outcome.exit_code


_WHERE = frozenset({"nodes", "inventory_file", "hostfile", "launcher", "lab", "network", "ssh_config"})
"""What `inventory_of` takes; all else is the command's own."""


@click.command(epilog="Example: wulf net pairs --nodes 'n[1-512]' --rounds 8")
@node_options
@measure_options
@click.option("--rounds", type=click.IntRange(min=1), help="Pairs that each node is in [all up to 64 nodes, else 4].")
@click.option("--all", "everything", is_flag=True, help="All pairs, however many nodes.")
@click.option("--together", is_flag=True, help="At the same time even where nodes share a machine, as in a lab.")
def pairs(**options: Any) -> int:
    """TCP round trip and streams over all pairs, or a sample of them.

    In rounds of disjoint pairs, each node in one, that begin at the same moment: what a loaded network does. Tells a
    slow node from a slow link, and says with which chance a sample misses a bad link. Where the nodes have an MPI,
    `wulf mpi pairs` measures the round trips of all pairs within one launch.
    """
    from wulf.workflow.net.pairs import pairs as measure

    return _run("pairs", measure, options)


@click.command(epilog="Example: wulf net incast --nodes 'n[1-8]' --to n3")
@node_options
@measure_options
@click.option("--to", metavar="NODESET", help="Receivers [each node in turn].")
@click.option("--senders", type=click.IntRange(min=2, max=63), help="At most so many, drawn at random [all, up to 63].")
def incast(**options: Any) -> int:
    """Many senders to one node at the same time.

    At each node in turn: what arrives from all senders together, how evenly they share, what is sent again, and what
    one sender reaches alone.
    """
    from wulf.workflow.net.incast import incast as measure

    return _run("incast", measure, options)


@click.command(epilog="Example: wulf net bisection --nodes 'n[1-64]' --halvings 8 --search 16")
@node_options
@measure_options
@click.option("--halvings", type=click.IntRange(min=1), default=4, show_default=True, help="Random ones.")
@click.option(
    "--search", "steps", type=click.IntRange(min=0), default=8, show_default=True, help="Steps towards a worse one."
)
@click.option("--one-way", is_flag=True, help="One half only sends [both ways at the same time].")
def bisection(one_way: bool, **options: Any) -> int:
    """All nodes in disjoint pairs that stream at the same time.

    Random halvings with their mean, then the worst that a search by swapping partners finds; each stream's share of
    it, against a stream alone: full bisection bandwidth, or which part of it.
    """
    from wulf.workflow.net.bisection import bisection as measure

    return _run("bisection", measure, {**options, "both": not one_way})


COMMANDS = {"pairs": pairs, "incast": incast, "bisection": bisection}
"""Name → command, for the group."""
