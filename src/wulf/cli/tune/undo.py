"""`wulf tune revert` and `wulf tune status`."""

from __future__ import annotations

import json
from typing import Any

import click

from wulf.cli.commands import Command
from wulf.cli.options import inventory_of, node_options
from wulf.cli.showing import colour_console, echo
from wulf.core.names import printable


@click.command(cls=Command, epilog="Example: wulf tune revert 20261121T231500-tune-9f3a --nodes 'n[1-4]'")
@click.argument("campaign", required=False)
@node_options
@click.option("--json", "as_json", is_flag=True, help="One object a setting on stdout.")
def revert(campaign: str | None, as_json: bool, **where: Any) -> int:
    """Undo what a campaign changed and is still open or kept; without a name, whatever wulf changed.

    From any machine that reaches the nodes, also after a reboot or the loss of the controller. What somebody else
    changed meanwhile is left as it is. Exit code 1 where something was not taken back, 3 where a node can't be asked.
    """
    from wulf.workflow.tune import undo as tune_undo

    with inventory_of(**where, lab_made=False) as inventory:
        results = tune_undo.revert(inventory, campaign)
    if as_json:
        for one in results:
            echo(json.dumps(one))
    else:
        _print_results(results)
    return tune_undo.revert_code(results)


@click.command(cls=Command, epilog="Example: wulf tune status --nodes 'n[1-4]'")
@node_options
@click.option("--json", "as_json", is_flag=True, help="One object a node on stdout.")
def status(as_json: bool, **where: Any) -> int:
    """What the nodes hold of wulf's changes: who has the lock, what is open or kept, and if the journal is whole."""
    from wulf.workflow.tune import undo as tune_undo

    with inventory_of(**where, lab_made=False) as inventory:
        told = tune_undo.status(inventory)
    for one in told:
        echo(json.dumps(one) if as_json else _status_line(one))
    return tune_undo.status_code(told)


def _print_results(results: list[dict[str, Any]]) -> None:
    from wulf.report.kit.printing import new_table

    if not results:
        echo("Nothing is changed: there was nothing to take back.")
        return
    table = new_table("node", "setting", "place", "outcome", "now", "before", "why", overflow="fold")
    for one in results:
        cells = [one.get(key) for key in ("node", "name", "place", "outcome", "now", "before", "reason")]
        table.add_row(*("" if cell is None else printable(cell) for cell in cells))
    colour_console().print(table)


def _status_line(one: dict[str, Any]) -> str:
    """A node in a line: nobody's, or whose, what is open or kept, and what is wrong."""
    if "unknown" in one:
        return printable(f"{one['node']}: can't be asked: {one['unknown']}")
    lock, told = one.get("lock"), []
    if lock:
        holds = "holds it" if lock.get("boot") in (None, one.get("boot")) else "held it before its last boot"
        told.append(f"campaign {lock['campaign']} of {lock.get('by')} {holds}")
    told += [_entry(entry) for entry in one.get("open") or []]
    told += [f"not taken back: {_entry(entry)}" for entry in one.get("left") or []]
    told += [f"WRONG: {problem}" for problem in one.get("problems") or []]
    return printable(f"{one['node']}: {'; '.join(told) if told else 'nothing is changed'}")


def _entry(entry: dict[str, Any]) -> str:
    """`nic.mtu eth0 1500 → 9000, kept (campaign …)`."""
    what = " ".join(filter(None, (str(entry["name"]), str(entry.get("place") or ""))))
    undone = entry.get("undone")
    state = str(undone["outcome"]) if undone else "kept" if entry.get("kept") else "open"
    known = entry.get("outcome") not in (None, "unconfirmed")
    written = entry.get("after") if known else f"{entry.get('asked')} (not known)"
    return f"{what} {entry.get('before')} → {written}, {state} (campaign {entry.get('campaign')})"
