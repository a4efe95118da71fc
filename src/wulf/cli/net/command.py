"""`wulf net PATTERN CLIENT SERVER`: one command a pattern, with the options that the probe's --describe names."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.net import cluster as net_cluster
from wulf.cli.net.curve import curve
from wulf.cli.net.layers import layers
from wulf.cli.net.like import as_option, given, run_like
from wulf.cli.net.pairs import pair_inventory
from wulf.cli.net.zero_loss import zero_loss
from wulf.cli.options import PARAM_TYPES, Number, Percent, measure_options, node_options
from wulf.cli.params import param_options
from wulf.cli.showing import echo
from wulf.cli.studying import show_run, studied
from wulf.core.errors import UsageError
from wulf.core.names import capitalised
from wulf.measure.engine.probes import net_probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from wulf.core.records import Param
    from wulf.measure.engine.probes import Pattern, Probe
    from wulf.workflow.engine.study import Conditions, Study

LISTED = ("net", "Measure", 30, "Measure one pair: ping-pong, stream.")


class NetGroup(click.Group):
    """The patterns of wulf-net as commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As the probe names them, then what is more than one of its patterns on a pair."""
        return [*net_probe().patterns, *COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The pattern's command, or None."""
        if cmd_name in COMMANDS:
            return COMMANDS[cmd_name]
        probe = net_probe()
        return _pattern_command(probe, probe.patterns[cmd_name]) if cmd_name in probe.patterns else None


def _pattern_command(probe: Probe, pattern: Pattern) -> click.Command:
    @click.argument("client", shell_complete=offers.nodes)
    @click.argument("server", shell_complete=offers.nodes)
    @node_options
    @measure_options
    @click.option(
        "--transport",
        type=click.Choice(pattern.transports),
        default=pattern.usual_transport,
        show_default=True,
        help="What carries the messages.",
    )
    @click.option(
        "--versus",
        metavar="[PARAM=VALUE,…|network=CIDR]",
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

    run.__doc__ = f"{capitalised(pattern.help)}."
    command = click.command(
        pattern.name,
        cls=Command,
        epilog=f"Example: wulf net {pattern.name} n1 n2 --transport {pattern.usual_transport}",
    )(run)
    command.params.extend(param_options(pattern.params))
    return command


NETWORK = "network"
"""What --versus calls the nodes' network: no parameter of a pattern, but something that may differ all the same."""


def parse_changes(pattern: Pattern, text: str) -> dict[str, Param]:
    """`nodelay=false,bytes=64,network=10.1.0.0/24` to what differs in the second configuration.

    Raises
    ------
    UsageError
        A part is no assignment, or its value is not of the parameter's type.
    """
    kinds = {**{param.name: param.type for param in pattern.params}, NETWORK: "str"}
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
    for name in ("versus", "delta"):
        options.pop(name, None)
    return run_like(
        tool, command, probe, partial(pair_inventory, client, server),
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
    versus: str | None,
    delta: float,
    as_json: bool,
    **options: Any,
) -> int:  # an argument for each option
    """One cell, measured until its interval is narrow enough, or two against each other; printed and kept as a run."""
    from wulf.stats.comparison import versus_rule
    from wulf.workflow.net.one_pair import PairProbe, Versus, pair_cell

    params = {name: value for name, value in given.items() if value is not None}
    cell = pair_cell(probe, pattern.name, client, server, transport=transport, params=params)
    study: Callable[[Conditions], Study] = partial(PairProbe, cell=cell)
    if versus is not None:
        changes = parse_changes(pattern, versus)
        network = changes.pop(NETWORK, None)
        changed = probe.check(pattern.name, transport, {**cell.params, **changes})
        arms = replace(cell, phase="A"), replace(cell, id=1, params=changed, phase="B")
        rule = versus_rule(delta, lower_is_better=pattern.metrics[0].better == "lower")
        study = partial(Versus, arms=arms, rule=rule, network=None if network is None else str(network))
    outcome = studied(f"net-{pattern.name}", options, study, where=partial(pair_inventory, client, server))
    if not as_json:
        for finding in outcome.run.findings:
            if finding.kind == "comparison":
                echo(f"{finding.text}\n")
    return show_run(outcome, as_json=as_json, whole=False, page=False, untold=("comparison", "bottleneck"))


@click.command(cls=Command, epilog="Example: wulf net sweep n1 n2 --most 1048576 --width 5%")
@click.argument("client", shell_complete=offers.nodes)
@click.argument("server", shell_complete=offers.nodes)
@node_options
@measure_options
@click.option(
    "--transport", type=click.Choice(["tcp", "udp"]), default="tcp", show_default=True, help="What carries it."
)
@click.option("--most", type=click.IntRange(min=8), default=4 << 20, show_default=True, help="Largest message [B].")
@click.option("--seconds", type=Number(), default=0.03, show_default=True, help="Of one replicate [s].")
@as_option
def sweep(
    like: str | None, client: str, server: str, transport: str, most: int, seconds: float, as_json: bool, **options: Any
) -> int:
    """Latency and bandwidth over message size, as straight lines.

    Measures 1 B, 2 B, 4 B …, looks closer where the curve bends, and goes on until the lines predict sizes that were
    held out to within --width: latency, bandwidth, half size and switch points with intervals.
    """
    from wulf.measure.engine.plan import Cell
    from wulf.workflow.net.one_pair import PairSweep

    probe = net_probe()
    if like is not None:
        return _like(
            like, "sweep", probe, {"seconds": seconds}, client=client, server=server, transport=transport,
            most=most if given("most") else 0, as_json=as_json, **options,
        )  # fmt: skip
    pattern = probe.pattern("pingpong")
    most = min(most, probe.max_bytes[transport])
    params = probe.check("pingpong", transport, {"bytes": most, "seconds": seconds})
    cell = Cell(0, client, server, transport, "pingpong", params, pattern.metrics, "sweep")
    study = partial(PairSweep, cell=cell, most=most)
    outcome = studied("net-sweep", options, study, where=partial(pair_inventory, client, server))
    return show_run(outcome, as_json=as_json)


COMMANDS: dict[str, click.Command] = {
    "sweep": sweep, "curve": curve, "zero-loss": zero_loss, "layers": layers, **net_cluster.COMMANDS
}  # fmt: skip
"""Name → command: one pair in more than one cell, and whole clusters."""


@click.group(cls=NetGroup)
def command() -> None:
    """Measure one pair: `wulf net pingpong n1 n2 --transport tcp --bytes 1`."""
