"""`wulf impact NODESET`: what a change of settings, of a lab's links, or of the network is worth to an application."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.app.run import command_request
from wulf.cli.commands import PROGRAM, WithProgram, rare_option
from wulf.cli.mpi.options import mpi_inventory, rank_options, taken
from wulf.cli.options import Percent, Seconds, measuring, node_options, nodes_argument
from wulf.cli.showing import show_outcome
from wulf.core.errors import UsageError
from wulf.tune.setting import Aim

if TYPE_CHECKING:
    from wulf.cluster.mpi import WorldSpec
    from wulf.core.records import Param
    from wulf.workflow.app.run import AppRequest
    from wulf.workflow.engine.done import Done
    from wulf.workflow.impact.run import ImpactRequest

LISTED = ("impact", "Tune", 30, "What a change of settings is worth to your application.")

BLOCKS = 8
"""As `workflow.impact.arms` has it, which is not imported for `--help`."""

LONGEST_DOMAIN = 80
"""As `workflow.impact.collecting` reads it."""


@click.command(
    cls=WithProgram,
    epilog="Example: wulf impact 'n[1-4]' --settings nic.rx_usecs=0,nic.gro=off --ranks 8 -- ./solver input",
)
@nodes_argument
@node_options
@click.option(
    "--settings",
    metavar="NAME=VALUE,…",
    shell_complete=offers.settings,
    help="The change: settings of the catalogue, one value each.",
)
@click.option(
    "--links", nargs=2, metavar="BEFORE AFTER", help="The change: links of a lab, 'delay=200us' 'delay=20us'."
)
@click.option(
    "--networks", nargs=2, metavar="BEFORE AFTER", help="The change: the network that MPI uses, as CIDR: 10.0.0.0/24."
)
@click.option("--app", "driver", metavar="NAME", help="An application that `wulf app` knows, instead of a command.")
@click.option("--param", "params", metavar="NAME=VALUE", multiple=True, help="Of that application.")
@click.option("--program", metavar="PATH", help="Of that application on the nodes [the one found].")
@rare_option("--domain", metavar="NAME", help="Its domain of application, as `wulf impacts` groups it [--app's own].")
@click.option("--figure", metavar="REGEX", help="Its first group is the number, in lines of the output [wall time].")
@click.option("--unit", default="s", show_default=True, help="Of that number: s, B/s, flop/s, …")
@click.option("--better", type=click.Choice(["higher", "lower"]), default="lower", show_default=True)
@click.option("--check", "checks", metavar="REGEX", multiple=True, help="A right answer has this in its output.")
@rare_option("--answer", metavar="REGEX", help="What of its output must be the same before and after.")
@click.option("--env", "environment", metavar="NAME=VALUE", multiple=True, help="For the program, on every node.")
@rare_option("--chdir", metavar="DIR", help="A folder of the nodes to run in [an empty one of its own].")
@click.option("--timeout", type=Seconds(), help="One run may take so long: 60s, 5m [10m].")
@click.option(
    "--blocks", type=click.IntRange(min=1), help=f"Runs of each arm [{BLOCKS}; more for the parts of a suite]."
)
@click.option("--delta", type=Percent(), default="1%", show_default=True, help="What counts as no difference.")
@click.option("--no-profile", is_flag=True, help="Leave out the profiled run of each arm.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
@rare_option("--seed", type=click.IntRange(min=0), help="Of the random order [drawn, and recorded].")
@click.option("--json", "as_json", is_flag=True, help="The outcome as one JSON object.")
@rank_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Measure what a change of the network is worth to an application, beside the network's own improvement.

    Before and after are visited in interleaved, randomised blocks; each visit measures the ping-pong and the stream,
    then runs the application. Settings are changed as `wulf tune` does, on one node first, and everything is taken back
    at the end. One more run of each arm is profiled: how much of its time the network could explain at most.

    With --ranks, --per-node or --mpi the command is started over the nodes by MPI's launcher; without, it runs once on
    the first node, and may call mpirun itself.

    \b
    Examples:
      wulf impact 'n[1-4]' --settings nic.mtu=9000 -- mpirun -n 8 ./solver
      wulf impact --lab 2 --links delay=200us delay=20us --ranks 2 --app phyml
      wulf impact 'n[1-4]' --networks 10.0.0.0/24 10.1.0.0/24 -- ./solver
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped
    as_json, out = options.pop("as_json"), options.pop("out")
    seed = secrets.randbelow(2**31) if options["seed"] is None else options["seed"]
    request = _request(options, ctx.meta[PROGRAM], seed)
    with mpi_inventory(options) as inventory:
        names = [node.name for node in inventory.nodes]
        wanted = request(len(names))
        with measuring("impact", out, seed, argv=sys.argv[1:], nodes=names) as (writer, _, line):
            from wulf.workflow.impact.run import impact

            done = impact(inventory, wanted, writer, watch=line)
    return _show(done, as_json=as_json)


def _request(options: dict[str, Any], words: tuple[str, ...], seed: int) -> Any:
    """Takes the command's own options out; what is left names nodes. It makes the request, given their number.

    Raises
    ------
    UsageError
        No application, or two; no change, or two.
    """
    from wulf.apps.command import pattern_of
    from wulf.cluster.inventory import parse_networks
    from wulf.stats.comparison import enough_pairs
    from wulf.workflow.impact.arms import parse_links
    from wulf.workflow.impact.run import ImpactRequest

    over_ranks = any(options[name] is not None for name in ("ranks", "per_node", "mpi")) or options["starter"] == "srun"
    launch = taken(options)
    own = {name: options.pop(name) for name in (
        "settings", "links", "networks", "driver", "params", "program", "domain", "figure", "unit", "better", "checks",
        "answer", "environment", "chdir", "timeout", "blocks", "delta", "no_profile", "seed",
    )}  # fmt: skip
    if bool(words) == bool(own["driver"]):
        raise UsageError("one application is measured", "write it after `--`, or name one with --app")
    if sum(bool(own[change]) for change in ("settings", "links", "networks")) != 1:
        raise UsageError(
            "one change is measured",
            "give --settings NAME=VALUE,…, --networks BEFORE AFTER or, of a lab, --links BEFORE AFTER",
        )
    networks = parse_networks(own["networks"]) if own["networks"] else None
    links = parse_links(own["links"]) if own["links"] else None
    answer = pattern_of(own["answer"], "--answer", 0) if own["answer"] else None
    domain = own["domain"] or (_driver(own["driver"]).DOMAIN if own["driver"] else None)
    if domain is not None and not (domain.isprintable() and len(domain) <= LONGEST_DOMAIN):
        raise UsageError(f"--domain {domain!r} is no name of at most {LONGEST_DOMAIN} characters", "as 'climate'")

    def request(nodes: int) -> ImpactRequest:
        application = _application(own, words, launch(nodes).spec, over_ranks=over_ranks)
        unit, higher = _figure(own)
        blocks = own["blocks"] or max(BLOCKS, enough_pairs(len(application.leading)))
        return ImpactRequest(
            application, own["settings"], links, networks, aim=Aim.LATENCY, unit=unit, higher=higher, answer=answer,
            profile=not own["no_profile"], blocks=blocks, delta=own["delta"], seed=seed, domain=domain,
        )  # fmt: skip

    return request


def _application(own: dict[str, Any], words: tuple[str, ...], spec: WorldSpec, *, over_ranks: bool) -> AppRequest:
    """The driver's, or any command."""
    if not own["driver"]:
        return command_request(words, own, spec, own["timeout"], over_ranks=over_ranks)
    from wulf.workflow.app.run import driver_request

    driver = _driver(own["driver"])
    given: dict[str, Param] = {}
    for text in own["params"]:
        name, equals, value = text.partition("=")
        known = {param.name: param for param in driver.PARAMS}
        if not equals or name not in known:
            raise UsageError(f"--param {text!r} is none of {own['driver']}", f"there are: {', '.join(known)}")
        given[name] = _value(value, known[name].type, text)
    return driver_request(driver, given, spec, program=own["program"], timeout=own["timeout"])


def _driver(name: str) -> Any:
    from wulf.apps import drivers

    known = drivers()
    if name not in known:
        raise UsageError(f"there is no application {name!r}", f"there are: {', '.join(known)}; or any command after --")
    return known[name]


def _value(text: str, kind: str, given: str) -> Param:
    """A parameter's value in its type."""
    try:
        if kind == "bool":
            return {"true": True, "false": False}[text.lower()]
        return {"int": int, "float": float}[kind](text) if kind in ("int", "float") else text
    except (ValueError, KeyError) as error:
        raise UsageError(f"--param {given!r} has no {kind} after the =", "write it as `wulf app` takes it") from error


def _figure(own: dict[str, Any]) -> tuple[str, bool]:
    """Unit of the application's figure, and whether more is better."""
    if not own["driver"]:
        return own["unit"], own["better"] == "higher"
    reading = _driver(own["driver"]).read("", {})
    main = next((one for one in reading.figures if one.name == _driver(own["driver"]).FIGURE), None)
    return (main.unit, main.better == "higher") if main is not None else ("s", False)


def _show(done: Done, *, as_json: bool) -> int:
    """The outcome, and its page."""
    from wulf.report.impact.outcome import OUTCOME

    show_outcome(OUTCOME, done.result, done.path / "report.html", as_json=as_json)
    return done.exit_code
