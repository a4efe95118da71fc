"""`wulf node [NODESET]`: every node's own figures, or one probe of wulf-node with parameters as asked."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import PARAM_TYPES, margin_option, measure_options, node_options
from wulf.cli.showing import echo
from wulf.cli.studying import show_run, studied
from wulf.core.errors import UsageError
from wulf.measure.engine.probes import Probe

if TYPE_CHECKING:
    from wulf.core.params import ParamSpec
    from wulf.core.records import Param

LISTED = ("node", "Measure", 40, "Each node's CPU, memory, system, noise; which node deviates.")


def node_probe() -> Probe:
    """What wulf-node can do, as it says on this machine."""
    from wulf.cluster.programs import find_program

    return Probe.of_program(find_program("wulf-node").path)


def _probe_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    try:
        return [name for name in node_probe().patterns if name.startswith(incomplete)]
    except UsageError:  # nothing to complete where nothing is built
        return []


def _group_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from wulf.measure.node.rows import GROUPS

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{group}" for group in GROUPS if group.startswith(last)]


def parse_settings(probe: Probe, name: str, texts: tuple[str, ...]) -> dict[str, Param]:
    """`bytes=1048576`, `pages=huge` to a probe's parameters, checked against its own description.

    Raises
    ------
    UsageError
        There is no such probe or parameter, or a value is not of its type, choices or limits.
    """
    specs = {spec.name: spec for spec in probe.pattern(name).params}
    params: dict[str, Param] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set {text!r} is not a parameter and its value", f"write NAME=VALUE; {_names(specs)}")
        params[key] = _value(specs[key], text, value.strip()) if key in specs else value
    return probe.check(name, "", params)


def _names(specs: dict[str, ParamSpec]) -> str:
    return f"names: {', '.join(specs)}"


def _value(spec: ParamSpec, text: str, value: str) -> Param:
    try:
        converted: Param = PARAM_TYPES[spec.type].convert(value, None, None)
    except click.BadParameter as error:
        raise UsageError(f"--set {text!r}: {error.message}", spec.help) from error
    return converted


@click.command(cls=Command, epilog="Example: wulf node 'n[1-4]' --only memory --quick")
@click.argument("nodeset", required=False, shell_complete=offers.nodes)
@node_options
@measure_options
@margin_option
@click.option(
    "--only",
    metavar="GROUP[,GROUP]",
    shell_complete=_group_names,
    help="Of cpu, memory, os, net, noise and power [all].",
)
@click.option("--probe", "name", metavar="NAME", shell_complete=_probe_names, help="One probe alone; see --list.")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="A parameter of --probe; may be repeated.")
@click.option("--noise", is_flag=True, help="Noise alone, as --only noise.")
@click.option("--why", is_flag=True, help="With --noise: trace who took the CPU (root on the nodes).")
@click.option("--cpus", metavar="LIST", help="Of --why: 0,2-5, or all [16 at most of a node].")
@click.option(
    "--fleet", type=click.Path(path_type=Path), metavar="FILE",
    help="A sentry's state: are the figures what other nodes of this hardware have?",
)  # fmt: skip
@click.option("--list", "listing", is_flag=True, help="Print the probes and the rows, and measure nothing.")
def command(nodeset: str | None, only: str | None, name: str | None, settings: tuple[str, ...], noise: bool,
            why: bool, cpus: str | None, fleet: Path | None, listing: bool, **options: Any) -> int:  # fmt: skip
    """Every node's own figures, and which node deviates.

    lmbench's table and more, with intervals: arithmetic, memory and its caches, system calls, processes, the network
    within the node and to the next, noise, power. NODESET in ClusterShell syntax; none: this machine. All nodes are
    measured at once, those that share a machine one at a time. --quick takes at most 30 s, all of it at most 3 min.
    """
    if listing:
        _print_list()
        return 0
    if nodeset and options.get("nodes"):
        raise UsageError(f"{nodeset!r} and --nodes both name the nodes", "give one of them")
    if settings and not name:
        raise UsageError("--set is of one probe", "name it with --probe, or leave --set out")
    if only and name:
        raise UsageError("--only is of the whole table, --probe of one probe", "give one of them")
    if noise and (only or name):
        raise UsageError("--noise is a choice of its own", "leave --only and --probe out")
    if (why or cpus is not None) and not (noise and why):
        raise UsageError("--why belongs to --noise, and --cpus to both", "wulf node --noise --why --cpus 0,1")
    if fleet and (name or why):
        raise UsageError("--fleet is of the table", "leave --probe and --why out")
    options["nodes"] = nodeset or options.get("nodes")
    as_json = options.pop("as_json")
    if why:
        return _why(cpus, as_json, options)
    return _one(name, settings, as_json, options) if name else _all("noise" if noise else only, fleet, as_json, options)


def _why(cpus: str | None, as_json: bool, options: dict[str, Any]) -> int:
    """Who took the CPUs."""
    from wulf.workflow.node.noise import NoiseCulprits, chosen_cpus

    make = partial(NoiseCulprits, probe=node_probe(), cpus=chosen_cpus(cpus))
    return show_run(studied("node-noise", options, make), as_json=as_json)


def _all(only: str | None, fleet: Path | None, as_json: bool, options: dict[str, Any]) -> int:
    """The whole table, or groups of it; printed and kept as a run."""
    from wulf.workflow.node.survey import NodeSurvey, groups_of

    groups_of(only)  # refused before any node is touched
    if fleet is not None:
        from wulf.sentry.state import SentryState

        SentryState(fleet, read_only=True).close()  # as well
    outcome = studied("node", options, partial(NodeSurvey, only=only, fleet=fleet), margin=options["margin"])
    return show_run(outcome, as_json=as_json)


def _one(name: str, settings: tuple[str, ...], as_json: bool, options: dict[str, Any]) -> int:
    """One probe on every node."""
    from wulf.workflow.node.survey import NodeProbe

    probe = node_probe()
    params = parse_settings(probe, name, settings)
    outcome = studied(f"node-{name}", options, partial(NodeProbe, probe=probe, name=name, params=params))
    return show_run(outcome, as_json=as_json, whole=False, page=False)


def _print_list() -> None:
    """The probes with parameters and metrics, as wulf-node describes itself, and the rows of the table."""
    from wulf.measure.node.rows import table

    probe = node_probe()
    for pattern in probe.patterns.values():
        echo(f"{pattern.name}: {pattern.help}")
        for spec in pattern.params:
            echo(f"    {_param_text(spec)}")
        echo(f"    gives {', '.join(f'{metric.name} [{metric.unit}]' for metric in pattern.metrics)}")
    for title, rows in table().blocks.items():
        echo(f"\n{title} ({rows[0].group})")
        for row in rows:
            label = f"  {row.beside}" if row.beside else ""
            echo(f"    {row.name:<28} {row.title}{label}")


def _param_text(spec: ParamSpec) -> str:
    kind = "|".join(spec.choices) if spec.choices else spec.type
    unit = f" {spec.unit}" if spec.unit and spec.unit != "1" else ""
    default = "" if spec.default is None else f", default {spec.default}"
    least = "" if spec.min is None else f", at least {spec.min:g}"
    most = "" if spec.max is None else f", at most {spec.max:g}"
    return f"{spec.name}={kind}{unit}{default}{least}{most}: {spec.help}"
