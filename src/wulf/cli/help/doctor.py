"""`wulf doctor`."""

from __future__ import annotations

import click

from wulf.cli.commands import Command
from wulf.core.errors import FOUND, OK

LISTED = ("doctor", "Lab and tools", 30, "What this installation can do here, and what it lacks.")


@click.command(cls=Command, epilog="Example: wulf doctor --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(as_json: bool) -> int:
    """What this installation can do on this machine, what it lacks for the rest, and how to come by that.

    Nothing is changed. Exit code 1 where wulf itself is not whole: a program of its own is missing or out of date.
    """
    from wulf.cli.showing import show_view
    from wulf.cluster.installation import examined, this_host
    from wulf.report.installation import installation_object, installation_view

    found = examined(this_host())
    show_view(installation_view(found), installation_object(found), as_json=as_json, html=None)
    return FOUND if any(one.broken for one in found) else OK
