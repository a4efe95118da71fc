"""`wulf net PATTERN CLIENT SERVER`: one command a pattern, with the options that the probe's --describe names."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.net import cluster as net_cluster
from wulf.cli.net.layers import layers
from wulf.cli.net.like import as_option, given, run_like
from wulf.cli.net.pairs import net_probe as _probe
from wulf.cli.net.pairs import pair_inventory as _pair
from wulf.cli.options import (
    PARAM_TYPES,
    Number,
    Percent,
    colour_console,
    echo_records,
    measure_options,
    measuring,
    node_options,
)
from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.core.params import ParamSpec
    from wulf.core.records import Param
    from wulf.measure.engine.probes import Pattern, Probe

WHERE = ("nodes", "inventory_file", "hostfile", "launcher", "lab", "network", "ssh_config")
"""The options that say where the nodes are."""


def _option(param: ParamSpec) -> click.Option:
    """A command-line option from a parameter's description."""
    unit = f" [{param.unit}]" if param.unit and param.unit != "1" else ""
    shown = "" if param.default is None else f" (default {param.default})"
    return click.Option(
        [f"--{param.name.replace('_', '-')}", param.name],
        type=click.Choice(param.choices) if param.choices else PARAM_TYPES[param.type],
        default=None,
        help=f"{param.help}{unit}{shown}",
    )


class NetGroup(click.Group):
    """The patterns of wulf-net as commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As the probe names them, the sweep over sizes, the layers of one exchange, and whole clusters."""
        return [*_probe().patterns, "sweep", "layers", *net_cluster.COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The pattern's command, or None."""
        if cmd_name == "sweep":
            return sweep
        if cmd_name == "layers":
            return layers
        if cmd_name in net_cluster.COMMANDS:
            return net_cluster.COMMANDS[cmd_name]
        probe = _probe()
        return _pattern_command(probe, probe.patterns[cmd_name]) if cmd_name in probe.patterns else None


def _pattern_command(probe: Probe, pattern: Pattern) -> click.Command:
    default = "tcp" if "tcp" in pattern.transports else pattern.transports[0]

    @click.argument("client")
    @click.argument("server")
    @node_options
    @measure_options
    @click.option(
        "--transport",
        type=click.Choice(pattern.transports),
        default=default,
        show_default=True,
        help="What carries the messages.",
    )
    @click.option(
        "--versus",
        metavar="[PARAM=VALUE,…]",
        is_flag=False,
        flag_value="",
        help="Measure a second configuration against this one, in random order; alone: the same one again (A/A).",
    )
    @click.option(
        "--delta", type=Percent(), default="1%", show_default=True, help="What --versus counts as no difference."
    )
    @as_option
    def run(like: str | None, **options: Any) -> int:
        params = {p.name: options.pop(p.name) for p in pattern.params}
        if like is not None:
            return _like(like, pattern.name, probe, params, **options)
        return _measure(probe, pattern, params, **options)

    run.__doc__ = f"{pattern.help}"
    command = click.command(pattern.name, epilog=f"Example: wulf net {pattern.name} n1 n2 --transport {default}")(run)
    command.params.extend(_option(param) for param in pattern.params)
    return command


def parse_changes(pattern: Pattern, text: str) -> dict[str, Param]:
    """`nodelay=false,bytes=64` to what differs in the second configuration.

    Raises
    ------
    UsageError
        A part is no assignment, or its value is not of the parameter's type.
    """
    kinds = {param.name: param.type for param in pattern.params}
    changes: dict[str, Param] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in kinds:
            known = ", ".join(kinds)
            raise UsageError(f"--versus {part!r} is not a parameter and its value", f"write NAME=VALUE; names: {known}")
        try:
            changes[name] = PARAM_TYPES[kinds[name]].convert(value.strip(), None, None)
        except click.BadParameter as error:
            raise UsageError(f"--versus {part!r}: {error.message}") from error
    return changes


def _like(
    tool: str, command: str, probe: Probe, params: dict[str, Any], *, client: str, server: str, most: int = 0,
    transport: str, **options: Any,
) -> int:  # fmt: skip
    """One pair as another tool measures it; of what has a default, only what the user wrote counts."""
    if options.get("versus") is not None:
        raise UsageError(f"--versus compares two configurations, --as repeats what {tool} does", "give one of them")
    where = {name: options[name] for name in WHERE}
    return run_like(
        tool, command, probe, _pair(client, server, where),
        {name: value for name, value in params.items() if value is not None and given(name)},
        transport=transport if given("transport") else None, most=most, client=client, server=server, options=options,
    )  # fmt: skip


def _measure(
    probe: Probe,
    pattern: Pattern,
    given: dict[str, Any],
    *,
    client: str,
    server: str,
    transport: str,
    as_json: bool,
    out: Path | None,
    quick: bool,
    watch: bool,
    seed: int | None,
    width: float,
    budget: float | None,
    versus: str | None,
    delta: float,
    **where: Any,
) -> int:
    """One cell, measured until its interval is narrow enough, or two against each other; printed and kept as a run."""
    from wulf.measure.engine.plan import Cell
    from wulf.report.run.terminal import print_records
    from wulf.stats.comparison import versus_rule
    from wulf.workflow.engine.measuring import Effort
    from wulf.workflow.net import survey

    probe.check_ends(transport, client, server)
    params = probe.check(pattern.name, transport, {k: v for k, v in given.items() if v is not None})
    with _pair(client, server, where) as chosen:
        nodes = [node.name for node in chosen.nodes]
        with measuring(f"net-{pattern.name}", out, seed, argv=sys.argv[1:], nodes=nodes) as (writer, drawn, line):
            effort = Effort(width, budget, quick, watch)
            cell = Cell(0, client, server, transport, pattern.name, params, pattern.metrics)
            if versus is None:
                outcome = survey.single(chosen, cell, effort, writer, drawn, watch=line)
            else:
                changed = probe.check(pattern.name, transport, {**params, **parse_changes(pattern, versus)})
                arms = replace(cell, phase="A"), replace(cell, id=1, params=changed, phase="B")
                rule = versus_rule(delta, lower_is_better=pattern.metrics[0].better == "lower")
                outcome = survey.versus(chosen, arms, effort, writer, drawn, rule=rule, watch=line)
    if as_json:
        echo_records(outcome.run.records)
    else:
        compared = [finding for finding in outcome.run.findings if finding.kind == "comparison"]
        for finding in compared:
            click.echo(f"{finding.text}\n")
        print_records(outcome.run.records, colour_console())
        for finding in outcome.run.findings:
            if finding not in compared and finding.kind != "bottleneck":  # that stands with its record
                click.echo(f"{finding.kind}: {finding.text}", err=True)
    return outcome.exit_code


@click.command(epilog="Example: wulf net sweep n1 n2 --most 1048576 --width 5%")
@click.argument("client")
@click.argument("server")
@node_options
@measure_options
@click.option(
    "--transport", type=click.Choice(["tcp", "udp"]), default="tcp", show_default=True, help="What carries it."
)
@click.option("--most", type=click.IntRange(min=8), default=4 << 20, show_default=True, help="Largest message [B].")
@click.option("--seconds", type=Number(), default=0.03, show_default=True, help="Of one replicate [s].")
@as_option
def sweep(
    like: str | None,
    client: str,
    server: str,
    transport: str,
    most: int,
    seconds: float,
    as_json: bool,
    out: Path | None,
    quick: bool,
    watch: bool,
    seed: int | None,
    width: float,
    budget: float | None,
    **where: Any,
) -> int:
    """Latency and bandwidth over message size, as straight lines.

    Measures 1 B, 2 B, 4 B …, looks closer where the curve bends, and goes on until the lines predict sizes that were
    held out to within --width: latency, bandwidth, half size and switch points with intervals.
    """
    from wulf.measure.engine.plan import Cell
    from wulf.report.run.terminal import print_report
    from wulf.workflow.engine import sweep as sweeping
    from wulf.workflow.engine.measuring import Effort, write_html

    probe = _probe()
    if like is not None:
        return _like(
            like, "sweep", probe, {"seconds": seconds}, client=client, server=server, transport=transport,
            most=most if given("most") else 0, as_json=as_json, out=out, quick=quick, watch=watch, seed=seed,
            width=width, budget=budget, **where,
        )  # fmt: skip
    pattern = probe.pattern("pingpong")
    most = min(most, probe.max_bytes[transport])
    params = probe.check("pingpong", transport, {"bytes": most, "seconds": seconds})
    with _pair(client, server, where) as chosen:
        nodes = [node.name for node in chosen.nodes]
        with measuring("net-sweep", out, seed, argv=sys.argv[1:], nodes=nodes) as (writer, drawn, line):
            outcome = sweeping.sweep(
                chosen, Cell(0, client, server, transport, "pingpong", params, pattern.metrics, "sweep"),
                Effort(width, budget, quick, watch), writer, drawn, most=most, watch=line,
            )  # fmt: skip
            write_html(outcome.run)
    if as_json:
        echo_records(outcome.run.records)
    else:
        print_report(outcome.run, colour_console())
    click.echo(f"report: {outcome.run.path / 'report.html'}", err=as_json)
    return outcome.exit_code


@click.group(cls=NetGroup)
def command() -> None:
    """Measure one pair: `wulf net pingpong n1 n2 --transport tcp --bytes 1`."""
