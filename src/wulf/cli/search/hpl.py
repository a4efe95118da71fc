"""`wulf search hpl`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wulf.cli.commands import Command, rare_option
from wulf.cli.options import NumberIn, WholeNumbers
from wulf.cli.search.command import Changes, search_options, searched
from wulf.core.errors import UsageError


@click.command(cls=Command, epilog="Example: wulf search hpl 'n[1-4]' --per-node 8 --hours 4 --memory 0.8")
@search_options
@click.option("--n", type=click.IntRange(min=400), help="Rows of the matrix [by --memory].")
@click.option("--memory", type=NumberIn(0, 0.95, min_open=True), default=0.8, show_default=True,
              help="Share of the nodes' memory for the matrix.")  # fmt: skip
@rare_option("--hours", type=NumberIn(0, min_open=True), help="As --budget, in hours.")
@click.option("--nb", "nbs", type=WholeNumbers(), help="Block sizes to try [32 to 512].")
@click.option("--threads", type=WholeNumbers(), default="1", show_default=True,
              help="Threads a rank to try: ranks times threads stay the same.")  # fmt: skip
@click.option("--blas", metavar="PATH,…|all|own",
              help="Libraries to measure before, on all nodes [all, if the program can be given another].")  # fmt: skip
@rare_option("--env", "environment", metavar="NAME=V1:V2", multiple=True,
              help="A variable to try: OMPI_MCA_btl_vader_eager_limit=4096:65536.")  # fmt: skip
@click.option("--settings", metavar="NAME=V1:V2,…",
              help="Settings of the nodes to try, what is there first: net.busy_poll=0:50.")  # fmt: skip
@click.option("--apply", is_flag=True, help="With --settings: change them [show what would be].")
@click.option("--program", type=click.Path(path_type=Path), help="Path of xhpl or hpcc on the nodes [the one found].")
@click.option("--source", metavar="DIR",
              help="HPL's source on the first node: every MPI and compiler there is tried.")  # fmt: skip
@rare_option("--compilers", metavar="NAME,…", help="With --source: gcc, clang-14.0.6, … [all that are there].")
def hpl(**options: Any) -> int:
    """Find the best HPL.dat for these nodes: NB, P x Q, broadcast, look-ahead, factorisation, threads, BLAS.

    With --source, MPI and compiler as well: xhpl is built once with each.

    Before the first solve, every BLAS library of the nodes multiplies matrices of HPL's shape on all cores: one that is
    proven to be slower than the fastest is left out, the others are searched over. --blas own leaves that out.

    It is to beat the HPL.dat that comes with HPL, and the ramble formula (NB 384, a grid near square), both at the same
    N. The winner's HPL.dat stands in the run's folder.
    """
    from wulf.search.recipe import COMPILER, MPI
    from wulf.workflow.search.hpl import NBS, HplAsked, hpl_task

    hours = options.pop("hours")
    if hours is not None and options["budget"] is not None:
        raise UsageError("--hours and --budget both say how long", "give one of them")
    options["budget"] = options["budget"] if hours is None else hours * 3600
    changes = _changes(options.pop("settings"), apply=options.pop("apply"))
    blas, program = options.pop("blas"), options.pop("program")
    source, compilers = options.pop("source"), options.pop("compilers")
    if source is not None and program is not None:
        raise UsageError("--program and --source both say which xhpl to run", "give one of them")
    if source is None and compilers is not None:
        raise UsageError("--compilers builds HPL, and its source is missing", "give --source DIR")
    tools = {MPI: options["mpi"], COMPILER: compilers}
    own = {
        "n": options.pop("n"), "memory": options.pop("memory"), "nbs": options.pop("nbs") or NBS,
        "threads": options.pop("threads"), "timeout": options["timeout"],
        "blas": tuple(blas.split(",")) if blas else (), "program": None if program is None else str(program),
        "source": source, "tools": {name: tuple(words.split(",")) for name, words in tools.items() if words},
        "environment": dict(map(_variable, options.pop("environment"))), "settings": changes.settings,
    }  # fmt: skip
    return searched("hpl", options, lambda effort, spec: hpl_task(HplAsked(spec, effort, **own)), changes)


def _changes(text: str | None, *, apply: bool) -> Changes:
    """Settings of the nodes and what they may be."""
    if text is None:
        if apply:
            raise UsageError("--apply changes nothing without --settings", "write --settings net.busy_poll=0:50")
        return Changes({}, ("HPL",), apply=False)
    from wulf.tune.catalogue import catalogue
    from wulf.tune.values import parse_settings

    found = {name: tuple(dict.fromkeys(values)) for name, values in parse_settings(text, catalogue()).items()}
    for name, values in found.items():
        if len(values) < 2:
            raise UsageError(f"--settings: {name} has no two values to try", f"write {name}=NOW:OTHER")
    return Changes(found, ("HPL",), apply)


def _variable(text: str) -> tuple[str, tuple[str, ...]]:
    name, equals, values = text.partition("=")
    found = tuple(dict.fromkeys(values.split(":")))
    if not equals or not name or len(found) < 2:
        raise UsageError(
            f"--env {text!r} is no NAME=VALUE:VALUE", "write --env OMPI_MCA_btl_tcp_eager_limit=4096:65536"
        )
    return name, found
