"""`wulf sentry status`, `incidents`, `ack` and `close`: they read and write the state, and touch no node."""

from __future__ import annotations

import getpass
import json
import time
from dataclasses import asdict
from pathlib import Path

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.sentry.where import state_option, state_path
from wulf.cli.showing import echo
from wulf.core.errors import FOUND, OK

json_option = click.option("--json", "as_json", is_flag=True, help="JSON for programs.")


@click.command(
    cls=Command,
    short_help="What is wrong, what is next, what it costs.",
    epilog="Example: wulf sentry status --nodes n3",
)
@state_option
@click.option("--nodes", metavar="NODESET", shell_complete=offers.nodes, help="Of these alone [all].")
@json_option
def status(where: Path | None, nodes: str | None, as_json: bool) -> int:
    """How the watch stands: what is wrong, what is next, what it costs.

    Exit code 1: something is worse, and its incident open; for a prolog, with --nodes.
    """
    from wulf.cluster.inventory import expand
    from wulf.report.sentry import words
    from wulf.sentry.messages import incident_json
    from wulf.sentry.state import in_state
    from wulf.workflow.sentry.asked import status as ask

    only = expand(nodes) if nodes else []
    found = in_state(state_path(where), lambda state: ask(state, time.time(), only))
    if as_json:
        echo(json.dumps({**asdict(found), "open": [incident_json(one) for one in found.open]}))
    else:
        echo(words.headline(found.nodes, found.open, found.unmeasured))
        for one in found.open:
            for line in words.incident_lines(one):
                echo(line)
        for one in found.running:
            echo(f"now: {words.running_words(one, found.at)}")
        for one in found.coming:
            echo(f"next: {words.choice_words(one)}")
        echo(words.cost_line(found.spent, found.budget, found.needed))
        if found.failed:
            echo(words.failed_words(found.failed))
        for channel, count in found.waiting.items():
            echo(f"{channel}: {count} still to be told")
    return FOUND if any(one.what.severity == "bad" for one in found.open) else OK


@click.command(
    cls=Command,
    short_help="What changed, and when.",
    epilog="Example: wulf sentry incidents --all --json",
)
@state_option
@click.option("--all", "closed_too", is_flag=True, help="Closed ones, too.")
@json_option
def incidents(where: Path | None, closed_too: bool, as_json: bool) -> int:
    """What changed, and when: the gravest first, open ones alone unless asked for all."""
    from wulf.report.sentry import words
    from wulf.sentry.incident import gravest
    from wulf.sentry.messages import incident_json
    from wulf.sentry.state import in_state

    found = gravest(in_state(state_path(where), lambda state: state.incidents(open_only=not closed_too)))
    for one in found:
        for line in [json.dumps(incident_json(one))] if as_json else words.incident_lines(one):
            echo(line)
    if not found and not as_json:
        echo("no incident is open" if not closed_too else "there was no incident")
    return FOUND if any(one.is_open and one.what.severity == "bad" for one in found) else OK


@click.command(
    cls=Command,
    short_help="Take an incident on: nobody is told again.",
    epilog="Example: wulf sentry ack 7 --note 'module ordered'",
)
@click.argument("number", metavar="ID", type=click.IntRange(min=1))
@state_option
@click.option("--note", default="", help="What you found, or will do.")
@click.option("--by", default=None, help="Who takes it on [this user].")
def ack(number: int, where: Path | None, note: str, by: str | None) -> int:
    """Take an incident on: it stays open until it is mended, and nobody is told again."""
    from wulf.workflow.sentry.asked import acknowledge

    one = acknowledge(_existing(where), number, by or getpass.getuser(), note, time.time())
    echo(f"incident {number} is acknowledged by {one.by}: {one.what.text}")
    return OK


@click.command(
    cls=Command,
    short_help="Close an incident: so it should be now.",
    epilog="Example: wulf sentry close 7 --note 'BIOS update, as intended'",
)
@click.argument("number", metavar="ID", type=click.IntRange(min=1))
@state_option
@click.option("--note", default="", help="Why.")
def close(number: int, where: Path | None, note: str) -> int:
    """Close an incident by hand: how the node is now is taken for as it should be.

    What is mended closes by itself, as soon as it is measured again.
    """
    from wulf.workflow.sentry.asked import close as close_it

    one = close_it(_existing(where), number, note, time.time())
    echo(f"incident {number} is closed: {one.what.text}")
    return OK


def _existing(where: Path | None) -> Path:
    """A state that is there: one is not made for being asked."""
    from wulf.sentry.state import SentryState

    path = state_path(where)
    SentryState(path, read_only=True).close()
    return path
