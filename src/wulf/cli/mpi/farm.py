"""`wulf mpi farm`: the master-worker farm over workers and batches."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from wulf.cli.commands import Command
from wulf.cli.mpi.options import launch_options
from wulf.cli.options import NumberIn, WholeNumbers, measure_options, node_options, nodes_argument
from wulf.core.errors import UsageError


@click.command(
    cls=Command, epilog="Example: wulf mpi farm 'n[1-4]' --per-node 2 --workers 1,3,7 --batch 1,10,100 --metg"
)
@nodes_argument
@node_options
@launch_options
@measure_options
@click.option("--workers", type=WholeNumbers(), default="1,3,7", show_default=True, help="Beside the master.")
@click.option("--batch", type=WholeNumbers(), default="1,2,4,10,100", show_default=True, help="Units a message.")
@click.option("--units", type=click.IntRange(1, 2**32 - 1), default=10_000, show_default=True, help="Of each run.")
@click.option(
    "--unit", type=click.Choice(["sha1", "spin"]), default="sha1", show_default=True,
    help="SHA-1 of data rebuilt from 4 bytes, or a calibrated spin.",
)  # fmt: skip
@click.option("--bytes", "size", type=click.IntRange(1, 1 << 26), default=32768, show_default=True, help="Of sha1 [B].")
@click.option("--spin-seconds", type=NumberIn(0, 10), default=1e-5, show_default=True, help="Of spin [s].")
@click.option("--style", type=click.Choice(["async", "plain"]), default="async", show_default=True,
              help="Nonblocking with two batches a worker, or the loop of 2007.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1, 256), default=1, show_default=True,
              help="Of each worker, that share its batches out; its ranks are then not bound to cores.")  # fmt: skip
@click.option("--networks", nargs=2, metavar="A B",
              help="A farm over each of two of the nodes' networks, in blocks: 10.0.0.0/24 10.1.0.0/24.")  # fmt: skip
@click.option("--kinds", metavar="LENGTH:SHARE,...", default="",
              help="Measure units of several lengths, too: 1:0.5,10:0.5; the mean unit stays as long.")  # fmt: skip
@click.option("--metg", "search", is_flag=True, help="Look for the unit that uses half of the workers' time.")
def farm(
    workers: tuple[int, ...],
    batch: tuple[int, ...],
    units: int,
    unit: str,
    size: int,
    spin_seconds: float,
    style: str,
    threads: int,
    networks: tuple[str, str] | None,
    kinds: str,
    search: bool,
    **options: Any,
) -> int:
    """A master deals units of work out to workers: the experiment of 2007, and what limits it.

    Every block measures each number of workers with each batch once, in random order, and a serial run. The XOR of all
    results must be that of a serial run. Printed beside the tables of 2007: the master's time a message o = a + c·b,
    how many workers it feeds, Karp and Flatt's serial fraction, USL, with --metg the least unit that is worth it, and
    with --kinds what units of several lengths cost beside equal ones.
    """
    from wulf.cli.mpi.command import measured
    from wulf.cluster.inventory import parse_networks
    from wulf.measure.mpi.farm import Design
    from wulf.workflow.mpi.farm import Farm

    work = {"unit": unit, **({"bytes": size} if unit == "sha1" else {"spin_seconds": spin_seconds})}
    if networks and (search or kinds):
        other = "--metg looks for one unit" if search else "--kinds has two farms of its own"
        raise UsageError(f"{other}, and --networks has two farms", "give one of them")
    over = parse_networks(networks) if networks else ()
    table = tuple(sorted(workers)), tuple(sorted(batch))
    design = Design(*table, units, work, style, threads, over, checked_kinds(kinds))
    options["ranks"] = options.get("ranks") or design.ranks
    return measured("farm", options, partial(Farm, design=design, search=search))


def checked_kinds(text: str) -> str:
    """As the probe takes them, without blanks; empty where none are given.

    Raises
    ------
    UsageError
        They are no list of lengths and shares.
    """
    from wulf.model.farm.kinds import Kinds

    kinds = "".join(text.split())
    try:
        if kinds:
            Kinds.of(kinds)
    except ValueError as error:
        raise UsageError(f"--kinds: {error}", "give lengths and shares, as 1:0.5,10:0.5") from error
    return kinds
