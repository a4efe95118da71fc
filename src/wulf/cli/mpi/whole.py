"""`wulf mpi sweep`, `collectives`, `onesided`: MPI over sizes and operations."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command
from wulf.cli.mpi.options import launch_options
from wulf.cli.net.curve import curve_options, first_to_last
from wulf.cli.options import Number, measure_options, node_options, nodes_argument
from wulf.core.errors import UsageError
from wulf.measure.mpi.probes import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable

    from wulf.core.records import Param
    from wulf.workflow.engine.study import Study

SECONDS = 0.05
"""Of one replicate of one of many cells."""


class Sizes(click.ParamType[tuple[int, ...]]):
    """`8,1024,65536`, or `8,1K,64K`: numbers of bytes."""

    name = "sizes"
    _FACTORS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}  # noqa: RUF012 - constant

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """To numbers, each once, in their order."""
        if isinstance(value, tuple):
            return value
        sizes: dict[int, None] = {}
        for text in filter(None, (part.strip() for part in str(value).split(","))):
            factor = self._FACTORS.get(text[-1:].upper(), 1)
            number = text[:-1] if factor > 1 else text
            if not re.fullmatch("[0-9]{1,15}", number):
                self.fail(f"{text!r} is not a number of bytes such as 8, 1K or 4M", param, ctx)
            sizes[int(number) * factor] = None
        if not sizes:
            self.fail(f"{value!r} names no size", param, ctx)
        return tuple(sizes)


_sizes = click.option("--sizes", type=Sizes(), default="8,1K,64K", show_default=True, help="Of the messages [B].")


_seconds = click.option("--seconds", type=Number(), default=SECONDS, show_default=True, help="Of one replicate [s].")


@click.command(
    cls=Command,
    epilog="Examples: wulf mpi collectives 'n[1-4]' --per-node 2 --sizes 8,1K,64K,1M; "
    "wulf mpi collectives 'n[1-4]' --tune --rules collectives.conf",
)
@nodes_argument
@node_options
@launch_options
@measure_options
@_sizes
@click.option("--ops", metavar="OP[,OP]", default="", help="These operations alone [all].")
@click.option("--start", help="How an operation begins: window, barrier or none [window].")
@_seconds
@click.option("--tune", is_flag=True, help="Try the MPI's other algorithms where a guideline is violated.")
@click.option(
    "--rules", type=click.Path(path_type=Path), help="With --tune: the file that is written [in the run's folder]."
)
def collectives(
    sizes: tuple[int, ...], ops: str, start: str | None, seconds: float, tune: bool, rules: Path | None, **options: Any
) -> int:
    """All collective operations over sizes, and which guideline is violated.

    Every block measures each operation at each size once, in random order, so that what should not be slower than
    something else (Allreduce than Reduce and Bcast) is held against it block by block, with an interval.

    With --tune each algorithm that Open MPI or MPICH has is then measured beside its own choice, at the violated sizes.
    What is surely more than 3 % faster goes into a file, is measured again through it, and stays there if that bears it
    out.
    """
    from wulf.cli.mpi.command import measured
    from wulf.measure.mpi.probes import mpi_probe
    from wulf.workflow.mpi import whole as mpi_whole

    params: dict[str, Param] = {"seconds": seconds, **({"start": start} if start else {})}
    chosen = tuple(op.strip() for op in ops.split(",") if op.strip())
    for wanted in mpi_whole.collective_params(mpi_probe(), sizes, chosen, params):
        mpi_probe().check(mpi_whole.COLLECTIVE, "", wanted)  # refused before any node is touched
    if rules is not None and not tune:
        raise UsageError("--rules is the file that --tune writes", "add --tune")
    study: Callable[..., Study] = mpi_whole.Collectives
    if tune:
        from wulf.workflow.mpi.tune import TuneCollectives

        study = partial(TuneCollectives, rules=rules)
    return measured("collectives", options, partial(study, sizes=sizes, ops=chosen, params=params))


@click.command(cls=Command, epilog="Example: wulf mpi onesided n1 n2 --sizes 8,4K,1M")
@nodes_argument
@node_options
@launch_options
@measure_options
@_sizes
@_seconds
def onesided(sizes: tuple[int, ...], seconds: float, **options: Any) -> int:
    """Put and get with each way of synchronising, over sizes, between the first rank and the last."""
    from wulf.cli.mpi.command import measured
    from wulf.workflow.mpi.whole import Onesided

    return measured("onesided", options, partial(Onesided, sizes=sizes, params={"seconds": seconds}))


@click.command(cls=Command, epilog="Example: wulf mpi sweep n1 n2 --most 1048576 --width 5%")
@nodes_argument
@node_options
@launch_options
@measure_options
@click.option("--most", type=click.IntRange(min=8), default=4 << 20, show_default=True, help="Largest message [B].")
@_seconds
def sweep(most: int, seconds: float, **options: Any) -> int:
    """MPI's latency and bandwidth over message size, as straight lines.

    As `wulf net sweep`: looks closer where the curve bends, as it does where eager goes over to rendezvous, until the
    lines predict sizes that were held out.
    """
    from wulf.cli.mpi.command import measured
    from wulf.workflow.mpi import whole as mpi_whole

    return measured(
        "sweep", options, partial(mpi_whole.SizeSweep, most=most, params={"seconds": seconds}), usual=SHARED
    )


@click.command(cls=Command, epilog="Example: wulf mpi curve n1 n2 --most 1048576")
@nodes_argument
@node_options
@launch_options
@measure_options
@curve_options
def curve(least: int, most: int, seconds: float, **options: Any) -> int:
    """MPI's throughput over message size: one way, both ways, blocking or not.

    As `wulf net curve`, between the first rank and the last; what falls behind is tried with synchronous sends and with
    buffers that are in no cache.
    """
    from wulf.cli.mpi.command import measured
    from wulf.measure.engine.curve import MPI_ARMS, MPI_SUSPECTS
    from wulf.workflow.engine.curve import Curve
    from wulf.workflow.mpi.whole import StreamCurve

    course = Curve(MPI_ARMS, MPI_SUSPECTS, first_to_last(least, most))
    return measured("curve", options, partial(StreamCurve, curve=course, params={"seconds": seconds}), usual=SHARED)
