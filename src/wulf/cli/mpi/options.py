"""What all commands of `wulf mpi` share: nodes as arguments, how ranks are launched, options from the description."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wulf.cli.commands import rare_option
from wulf.cli.options import all_of, inventory_of
from wulf.cli.params import param_options
from wulf.core.errors import UsageError
from wulf.measure.mpi.probes import BLOCKS, EACH, LAUNCHES, SHARED

if TYPE_CHECKING:
    from wulf.cluster.inventory import Inventory
    from wulf.core.params import ParamSpec
    from wulf.measure.engine.probes import Pattern
    from wulf.workflow.engine.study import Conditions
    from wulf.workflow.mpi.launching import Launch

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

ALONE = 2
"""Ranks of a node that is alone: with one there is nobody to talk to."""

_RANKS = (
    click.option("--mpi", metavar="KIND|PREFIX", help="openmpi, mpich, or where it is installed [the one found]."),
    click.option("--ranks", type=click.IntRange(min=1), help="In all [--per-node times the nodes]."),
    click.option("--per-node", type=click.IntRange(min=1), help="Ranks on each node [1; 2 on a node alone]."),
    rare_option(
        "--starter", type=click.Choice(["mpirun", "srun"]), default="mpirun", show_default=True,
        help="What starts the ranks.",
    ),
)  # fmt: skip

_OPTIONS = (
    *_RANKS,
    rare_option(
        "--launch", type=click.Choice(LAUNCHES), default=None,
        help="One for all replicates, one a block, or one each [blocks; shared with --quick or --watch].",
    ),
)  # fmt: skip


def launch_options(function: F) -> F:
    """How ranks are launched: --mpi, --ranks, --per-node, --starter, --launch."""
    return all_of(_OPTIONS)(function)


def rank_options(function: F) -> F:
    """The same where every replicate is a launch: --mpi, --ranks, --per-node, --starter."""
    return all_of(_RANKS)(function)


def taken(options: dict[str, Any], usual: str = BLOCKS) -> Callable[[int], Launch]:
    """Takes the launch's options out; what is left makes a `Launch` of the number of nodes.

    Parameters
    ----------
    usual
        How often ranks are launched unless --launch says so, or it is to be quick or watched.
    """
    from wulf.cluster.mpi import WorldSpec
    from wulf.workflow.mpi.launching import Launch

    own = {name: options.pop(name) for name in ("mpi", "ranks", "per_node", "starter")}
    hasty = options.get("quick") or options.get("watch")
    how = options.pop("launch", EACH) or (SHARED if hasty else usual)

    def launch(nodes: int) -> Launch:
        ranks, per_node = own["ranks"], own["per_node"]
        if per_node is None:
            per_node = -(-ranks // nodes) if ranks else ALONE if nodes == 1 else 1
        spec = WorldSpec(ranks=ranks, per_node=per_node, mpi=own["mpi"], starter=own["starter"])
        return Launch(spec, how)

    return launch


def over_ranks(
    options: dict[str, Any], make: Callable[[Conditions, Launch], T], usual: str = BLOCKS
) -> Callable[[Conditions], T]:
    """Takes the launch's options out: `make` gets the launch that they come to on the nodes of the conditions."""
    launch = taken(options, usual)
    return lambda given: make(given, launch(len(given.inventory.nodes)))


@contextmanager
def mpi_inventory(options: dict[str, Any]) -> Iterator[Inventory]:
    """The nodes given as arguments or as --nodes; none: this machine.

    Raises
    ------
    UsageError
        They are named twice.
    """
    given = options.pop("nodes_given")
    if given and options.get("nodes"):
        raise UsageError(f"{' '.join(given)} and --nodes both name the nodes", "give one of them")
    options["nodes"] = ",".join(given) or options.get("nodes")
    with inventory_of(**options) as inventory:
        yield inventory


TAKEN = frozenset(
    {
        *(
            "nodes",
            "nodes_given",
            "inventory_file",
            "inventory",
            "hostfile",
            "launcher",
            "lab",
            "network",
            "ssh_config",
        ),
        *("as_json", "json", "out", "quick", "watch", "seed", "width", "budget", "like"),
        *("mpi", "ranks", "per_node", "starter", "launch"),
    }
)
"""Options that are not the probe's: where it has a parameter of such a name, the option has the probe's name before."""


def option_name(pattern: Pattern, spec: ParamSpec) -> str:
    """The option of a parameter: its own name, or `collective_ranks` where another option has that."""
    return f"{pattern.name.replace('-', '_')}_{spec.name}" if spec.name in TAKEN else spec.name


def probe_options(pattern: Pattern) -> list[click.Option]:
    """A command-line option for each of a probe's parameters."""
    return param_options(pattern.params, {spec.name: option_name(pattern, spec) for spec in pattern.params})


def given_params(pattern: Pattern, options: dict[str, Any]) -> dict[str, Any]:
    """Takes the probe's parameters out of the options; those that were not given are left to the probe."""
    found = {spec.name: options.pop(option_name(pattern, spec)) for spec in pattern.params}
    return {name: value for name, value in found.items() if value is not None}
