"""`wulf net zero-loss CLIENT SERVER`: RFC 2544's throughput."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.net.pairs import pair_inventory
from wulf.cli.options import Number, WholeNumbers, measure_options, node_options
from wulf.cli.studying import show_run, studied
from wulf.core.errors import UsageError
from wulf.measure.engine.probes import net_probe

WARMUP = 0.01
"""Seconds before each trial, whose losses count as well."""


@click.command("zero-loss", cls=Command, epilog="Example: wulf net zero-loss n1 n2 --frames 64,1518 --seconds 60")
@click.argument("client", shell_complete=offers.nodes)
@click.argument("server", shell_complete=offers.nodes)
@node_options
@measure_options
@click.option("--frames", type=WholeNumbers(), help="Lengths on the wire [RFC 2544's seven, 64 to 1518] [B].")
@click.option("--seconds", type=Number(), default=0.2, show_default=True, help="Of a trial; 60 by RFC 2544 [s].")
def zero_loss(
    client: str, server: str, frames: tuple[int, ...] | None, seconds: float, as_json: bool, **options: Any
) -> int:
    """The fastest rate at which no datagram is lost.

    RFC 2544's throughput, for each length of frame: as fast as it goes, then by halving between a rate that lost
    nothing in six trials and one that lost something, until both are within --width.
    """
    from wulf.measure.engine.plan import Cell
    from wulf.measure.net.zero_loss import FRAMES, HEADERS, METRICS
    from wulf.workflow.net.zero_loss import ZeroLoss

    probe = net_probe()
    pattern = probe.pattern("stream")
    lengths = frames or FRAMES
    short = [length for length in lengths if length <= HEADERS]
    if short:
        raise UsageError(f"--frames {short[0]}: {HEADERS} B of it are headers", "Ethernet's shortest frame has 64 B")
    for length in lengths:
        probe.check("stream", "udp", {"bytes": length - HEADERS})
    params = probe.check("stream", "udp", {"bytes": lengths[0] - HEADERS, "seconds": seconds, "warmup_seconds": WARMUP})
    metrics = tuple(metric for name in METRICS for metric in pattern.metrics if metric.name == name)
    cell = Cell(0, client, server, "udp", "stream", params, metrics)
    study = partial(ZeroLoss, cell=cell, frames=lengths)
    outcome = studied("net-zero-loss", options, study, where=partial(pair_inventory, client, server))
    return show_run(outcome, as_json=as_json)
