"""`wulf net curve CLIENT SERVER`: throughput over message size, as Hpcbench draws it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.net.pairs import pair_inventory
from wulf.cli.options import Number, all_of, measure_options, node_options
from wulf.cli.studying import show_run, studied
from wulf.core.errors import UsageError
from wulf.measure.engine.probes import net_probe

F = TypeVar("F", bound=Callable[..., Any])

WARMUP = 0.02
"""Seconds before each replicate: connections have grown their windows by then on any network of one site."""

_OPTIONS = (
    click.option("--least", type=click.IntRange(min=1), default=1, show_default=True, help="Shortest message [B]."),
    click.option("--most", type=click.IntRange(min=1), default=4 << 20, show_default=True, help="Longest message [B]."),
    click.option("--seconds", type=Number(), default=0.05, show_default=True, help="Of one replicate [s]."),
)


def curve_options(function: F) -> F:
    """From which size to which, and how long each: --least, --most, --seconds."""
    return all_of(_OPTIONS)(function)


def first_to_last(least: int, most: int) -> list[int]:
    """The sizes of a curve in bytes: the least, its double, … the most.

    Raises
    ------
    UsageError
        The least is longer than the most.
    """
    from wulf.workflow.engine.sweep import first_sizes

    if least > most:
        raise UsageError(f"--least {least} is longer than --most {most}", "swap them")
    return first_sizes(most, least)


@click.command(cls=Command, epilog="Example: wulf net curve n1 n2 --least 64 --most 1048576")
@click.argument("client", shell_complete=offers.nodes)
@click.argument("server", shell_complete=offers.nodes)
@node_options
@measure_options
@click.option(
    "--transport", type=click.Choice(["tcp", "udp"]), default="tcp", show_default=True, help="What carries it."
)
@curve_options
def curve(
    client: str, server: str, transport: str, least: int, most: int, seconds: float, as_json: bool, **options: Any
) -> int:
    """Throughput over message size: one way, both ways, blocking or not.

    With what it costs both hosts: CPUs busy, interrupts and retransmissions a message. Says from where to where it is
    best, and how much is lost beyond; that is then measured anew in blocks, beside what may be the cause: a call's
    length, how the receiver is woken, memory that is in no cache.
    """
    from wulf.measure.engine.curve import NET_ARMS, NET_SUSPECTS
    from wulf.measure.engine.plan import Cell
    from wulf.workflow.engine.curve import Curve
    from wulf.workflow.net.one_pair import PairCurve

    probe = net_probe()
    pattern = probe.pattern("stream")
    sizes = first_to_last(least, min(most, probe.max_bytes[transport]))
    params = probe.check("stream", transport, {"bytes": sizes[-1], "seconds": seconds, "warmup_seconds": WARMUP})
    cell = Cell(0, client, server, transport, "stream", params, pattern.metrics)
    suspects = NET_SUSPECTS if transport == "tcp" else ()
    study = partial(PairCurve, cell=cell, curve=Curve(NET_ARMS, suspects, sizes))
    outcome = studied("net-curve", options, study, where=partial(pair_inventory, client, server))
    return show_run(outcome, as_json=as_json)
