"""`wulf audit [NODESET]`: what the settings of nodes are, and what is to be said of them."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import inventory_of, node_options, terminable
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from wulf.store.run import Run
    from wulf.tune.audit.audited import Audited
    from wulf.tune.setting import Setting

LISTED = ("audit", "Explain", 20, "Every setting of every node: as advised, alike, kept at boot?")

AIMS = ("latency", "throughput", "quiet")

_WHERE = ("nodes", "inventory_file", "hostfile", "launcher", "lab", "network", "ssh_config")


def parse_roles(texts: tuple[str, ...]) -> dict[str, str]:
    """`head=n1 compute=n[2-4]` to node → role.

    Raises
    ------
    UsageError
        It can't be parsed, or a node has two roles.
    """
    from wulf.cluster.inventory import expand

    roles: dict[str, str] = {}
    for word in " ".join(texts).split():
        role, equals, pattern = word.partition("=")
        if not (role and equals and pattern):
            raise UsageError(f"--roles {word!r} is not a role and its nodes", "write --roles 'head=n1 compute=n[2-4]'")
        for node in expand(pattern):
            if roles.setdefault(node, role) != role:
                raise UsageError(f"--roles: {node} is {roles[node]} and {role}", "give each node one role")
    return roles


@click.command(cls=Command, epilog="Example: wulf audit 'n[1-4]' --aim latency --save monday.json")
@click.argument("nodeset", required=False, shell_complete=offers.nodes)
@node_options
@click.option("--aim", type=click.Choice(AIMS), help="Whose advice to hold the nodes against [latency's is shown].")
@click.option(
    "--roles", multiple=True, metavar="'ROLE=NODES …'", help="Who should be alike [cluster.toml, or hardware]."
)
@click.option("--explain", metavar="SETTING", shell_complete=offers.settings,
              help="What the catalogue says of a setting; with nodes, their values too.")  # fmt: skip
@click.option("--baseline", type=click.Path(path_type=Path), help="Compare with this: a file of --save, or a run.")
@click.option("--save", type=click.Path(path_type=Path), help="Save what the settings are, to compare with later.")
@click.option("--json", "as_json", is_flag=True, help="Answers, settings and findings as JSON Lines on stdout.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
@click.option("--html", type=click.Path(path_type=Path), help="Where to write the page, too [RUN/report.html].")
def command(nodeset: str | None, aim: str | None, roles: tuple[str, ...], explain: str | None, baseline: Path | None,
            save: Path | None, as_json: bool, out: Path | None, html: Path | None, **options: Any) -> int:  # fmt: skip
    """Every setting of every node: as advised, alike, kept at start-up, unchanged?

    Also answers the checklist of the literature for every node: driver, interrupt moderation, firewall, irqbalance.
    Nothing is changed. NODESET in ClusterShell syntax; none: this machine.

    \b
    Exit codes: 0 nothing deviates; 1 nodes of a role differ, a reboot would
    change something, the checklist has a no, a baseline differs, or, with
    --aim, its advice is not followed; 3 a node could not be asked.
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped
    if nodeset and options.get("nodes"):
        raise UsageError(f"{nodeset!r} and --nodes both name the nodes", "give one of them")
    options["nodes"] = nodeset or options.get("nodes")
    where = {key: options[key] for key in _WHERE}
    if explain is not None:
        return _explain(explain, where, as_json)
    run, code = _audit(where, aim, parse_roles(roles), baseline, save, out)
    if html is not None:
        from wulf.report.run.html import write_report

        write_report(run, html)
    _tell(run, as_json)
    echo(f"report: {html or run.path / 'report.html'}", err=as_json)
    return code


def _audit(
    where: dict[str, Any], aim: str | None, roles: dict[str, str], baseline: Path | None, save: Path | None,
    out: Path | None,
) -> tuple[Run, int]:  # fmt: skip
    from wulf.cli.progress import progress_line
    from wulf.store.run import RunWriter
    from wulf.tune.setting import Aim
    from wulf.workflow.tune.audit import audit, read_baseline

    before = read_baseline(baseline) if baseline is not None else None  # refused before any node is touched
    with inventory_of(**where) as inventory, ExitStack() as stack:
        inventory.pick(roles)  # refuses a role of a node that there is not
        meta = {"argv": sys.argv[1:], "nodes": list(inventory.names)}
        writer = stack.enter_context(RunWriter(out, "audit", meta))
        line = stack.enter_context(progress_line())
        stack.enter_context(terminable())
        outcome = audit(
            inventory, writer, aim=Aim(aim) if aim else None, roles=roles, baseline=before, save=save, say=line.say
        )
    return outcome.run, outcome.exit_code


def _tell(run: Run, as_json: bool) -> None:
    if not as_json:
        from wulf.report.run.terminal import print_report

        print_report(run, colour_console())
        return
    from wulf.report.tune.audit import audit_of
    from wulf.tune.audit.audited import as_json as objects

    found = audit_of(run)
    for each in objects(found) if found else ():
        echo(json.dumps(each))
    for finding in run.findings:
        echo(json.dumps({"object": "finding", **finding.model_dump(mode="json")}))


def _explain(name: str, where: dict[str, Any], as_json: bool) -> int:
    """The entry of a setting, and its values where nodes are named."""
    setting = _named(name)
    found = None
    if any(value is not None for value in where.values()):
        from wulf.cli.progress import progress_line
        from wulf.workflow.tune.audit import values_of

        with inventory_of(**where) as inventory, progress_line() as line:
            found = values_of(inventory, setting, line.say)
    if as_json:
        _explain_json(setting, found)
    else:
        _explain_text(setting, found)
    return OK


def _named(name: str) -> Setting:
    from wulf.tune.catalogue import catalogue

    known = catalogue()
    if name not in known:
        close = get_close_matches(name, known, n=3)
        hint = f"did you mean {', '.join(close)}?" if close else "docs/reference/settings.md lists all settings"
        raise UsageError(f"the catalogue has no setting {name!r}", hint)
    return known[name]


def _explain_json(setting: Setting, found: Audited | None) -> None:
    from wulf.tune.audit.audited import as_json as objects

    states = [each for each in objects(found) if each["object"] == "setting"] if found else []
    echo(json.dumps({"object": "entry", **setting.model_dump(mode="json"), "states": states}))


def _explain_text(setting: Setting, found: Audited | None) -> None:
    from rich.table import Table
    from rich.text import Text

    from wulf.report.tune.audit import value_lines
    from wulf.tune.explaining import explain

    console = colour_console()
    console.print(Text.assemble((setting.name, "bold"), f"  {setting.title}"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, text in explain(setting):
        table.add_row(heading, Text(text))
    for heading, text in value_lines(found) if found else ():
        table.add_row(heading, Text(text))
    console.print(table)
