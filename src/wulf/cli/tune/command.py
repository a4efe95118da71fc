"""`wulf tune NODESET`: which settings make nodes faster; `revert` and `status`: what is left of changes."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import PROGRAM, TableGroup, WithProgram, rare_option
from wulf.cli.mpi.options import launch_options, mpi_inventory, taken
from wulf.cli.options import Percent, Seconds, measuring, node_options, nodes_argument, terminable
from wulf.cli.showing import colour_console, echo, show_outcome
from wulf.core.errors import OK, UsageError
from wulf.core.files import replace_file
from wulf.tune.setting import Aim

if TYPE_CHECKING:
    from wulf.workflow.engine.done import Done
    from wulf.workflow.tune.prepare import CampaignRequest

LISTED = ("tune", "Tune", 10, "Find settings that make nodes faster, by measuring; undo them.")

COMMANDS = {
    "campaign": "wulf.cli.tune.command:campaign",
    "revert": "wulf.cli.tune.undo:revert",
    "status": "wulf.cli.tune.undo:status",
    "import": "wulf.cli.tune.table:import_table",
    "export": "wulf.cli.tune.export:export",
    "verify": "wulf.cli.tune.export:verify",
}
"""Name → module and attribute. Whatever is none of them is the campaign's node set."""

OWN = (
    *("settings", "measure", "size", "figure", "higher", "unit", "timeout"),
    *("design", "blocks", "delta", "quick", "confirm"),
)
"""Options that are a request's fields of the same name."""


@click.group(cls=TableGroup, commands_at=COMMANDS, default="campaign")
def command() -> None:
    """Find the settings that make nodes faster, by measuring; and undo changes.

    \b
    Examples:
      wulf tune n[1-4] --aim latency                      the plan: nothing is changed
      wulf tune n[1-4] --aim latency --apply              measure, keep what is proven faster
      wulf tune n[1-4] --settings nic.mtu=1500:9000 --aim throughput --apply --no-keep
      wulf tune n[1-4] --measure app --apply -- mpirun ./solver
      wulf tune revert --nodes n[1-4]                     undo whatever is still open
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped


@click.command(
    cls=WithProgram, epilog="Example: wulf tune n[1-4] --aim latency --settings nic.gro,nic.mtu=9000 --apply"
)
@nodes_argument
@node_options
@click.option(
    "--aim",
    type=click.Choice([str(aim) for aim in Aim]),
    default="latency",
    show_default=True,
    help="What for: the catalogue recommends values for each.",
)
@click.option(
    "--settings",
    metavar="NAME[=VALUE[:VALUE…]],…",
    shell_complete=offers.settings,
    help="Try these alone [all recommended for the aim].",
)
@click.option(
    "--measure",
    type=click.Choice(["net", "mpi", "app"]),
    default="net",
    show_default=True,
    help="What tells: the network probe, MPI's ping-pong, or the program after `--`.",
)
@click.option("--bytes", "size", type=click.IntRange(min=1), help="Message size of net and mpi.")
@click.option("--figure", metavar="REGEX", help="With app: the number in its output, as a first group [seconds].")
@click.option("--higher", is_flag=True, help="With --figure: more is better.")
@click.option("--unit", default="s", show_default=True, help="With --figure: its unit.")
@click.option("--timeout", type=Seconds(), default="1h", show_default=True, help="With app: end one run after that.")
@click.option(
    "--design",
    type=click.Choice(["auto", "ablation", "factorial"]),
    default="auto",
    show_default=True,
    help="Each alone, all but each and all; or combinations.",
)
@click.option("--blocks", type=click.IntRange(min=1), help="How often each configuration is measured [as needed].")
@click.option("--delta", type=Percent(), default="1%", show_default=True, help="What counts as no difference.")
@click.option("--quick", is_flag=True, help="The fewest blocks that can prove anything.")
@click.option("--no-keep", is_flag=True, help="Undo everything at the end, also what is proven faster.")
@rare_option(
    "--confirm",
    type=Seconds(),
    default="30s",
    show_default=True,
    help="Nodes take a change back that is not confirmed for so long; more where logins are slow.",
)
@click.option("--apply", is_flag=True, help="Do it. Without: show the plan, and change nothing.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
@rare_option("--seed", type=click.IntRange(min=0), help="Of the random order [drawn, and recorded].")
@click.option("--json", "as_json", is_flag=True, help="The plan, or the outcome, as one JSON object.")
@launch_options
@click.pass_context
def campaign(ctx: click.Context, /, **options: Any) -> int:  # fmt: skip
    """Try settings one by one and together on the nodes, measure what each does, keep what is proven faster.

    Without --apply nothing is changed: the plan says what would be, for how long and at what risk. Every change is made
    on one node first, confirmed over new connections, and taken back by the node itself if that fails.
    """
    apply, as_json, out = (options.pop(name) for name in ("apply", "as_json", "out"))
    seed = secrets.randbelow(2**31) if options["seed"] is None else options["seed"]
    request = _request(options, seed, ctx.meta[PROGRAM])
    with mpi_inventory(options) as inventory:
        if not apply:
            return _plan(inventory, request(len(inventory.nodes)), out, as_json=as_json)
        names = [node.name for node in inventory.nodes]
        with measuring("tune", out, seed, argv=sys.argv[1:], nodes=names) as (writer, _, line):
            from wulf.workflow.tune.run import tune

            done = tune(inventory, request(len(names)), writer, watch=line)
    return _show(done, as_json=as_json)


def _request(options: dict[str, Any], seed: int, program: tuple[str, ...]) -> Any:
    """Takes the campaign's options out; what is left makes the request, given the number of nodes.

    Raises
    ------
    UsageError
        A program without --measure app, or the other way round.
    """
    from wulf.workflow.tune.prepare import CampaignRequest

    launch = taken(options)
    own = {name: options.pop(name) for name in OWN}
    aim, keep = Aim(options.pop("aim")), not options.pop("no_keep")
    options.pop("seed")
    if bool(program) != (own["measure"] == "app"):
        raise UsageError(
            "a program is measured with --measure app, and --measure app needs one", "write --measure app -- CMD ARGS"
        )

    def request(nodes: int) -> CampaignRequest:
        return CampaignRequest(aim, command=program, keep=keep, seed=seed, launch=launch(nodes), **own)

    return request


def _plan(inventory: Any, request: Any, out: Path | None, *, as_json: bool) -> int:
    """The dry run; with --out the plan as JSON and as a page there, which is no run: nothing was measured."""
    from wulf.cli.progress import progress_line
    from wulf.report.kit.page import write_view
    from wulf.report.kit.terminal import print_view
    from wulf.report.tune.campaign import plan_view
    from wulf.workflow.tune.prepare import plan_object
    from wulf.workflow.tune.run import plan_only

    with progress_line() as line, terminable():
        plan = plan_object(plan_only(inventory, request, watch=line))
    if as_json:
        echo(json.dumps(plan))
    else:
        print_view(plan_view(plan), colour_console())
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        replace_file(out / "tune-plan.json", json.dumps(plan, indent=2))
        write_view(plan_view(plan), out / "tune-plan.html")
        echo(f"plan: {out / 'tune-plan.json'}, {out / 'tune-plan.html'}", err=as_json)
    return OK


def _show(done: Done, *, as_json: bool) -> int:
    """The outcome, and its page."""
    from wulf.report.tune.outcome import OUTCOME

    show_outcome(OUTCOME, done.result, done.path / "report.html", as_json=as_json)
    return done.exit_code
