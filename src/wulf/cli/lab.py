"""`wulf lab`: a cluster on one machine."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from wulf.lab import Lab

name_option = click.option("--name", metavar="NAME", help="Which lab; WULF_LAB or 'lab' when not given.")


@click.group()
def command() -> None:
    """A cluster on one machine: nodes with a network, a host name and an sshd of their own.

    \b
    Example:
      wulf lab up --nodes 4
      wulf lab set n3 --rate 200mbit
      wulf lab exec n1 -- ping -c 3 n3
      wulf survey --lab
      wulf lab down
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped


@command.command()
@click.option("--nodes", type=int, default=4, show_default=True, help="How many nodes, n1 to nN; 200 at most.")
@click.option("--rate", metavar="RATE", help="Rate of every link, as tc writes it: 1gbit, 200mbit.")
@click.option("--backend", metavar="netns|loopback", help="Namespaces, or mere names; the best possible if not given.")
@name_option
def up(nodes: int, rate: str | None, backend: str | None, name: str | None) -> None:
    """Bring a lab up. It stays until `wulf lab down`.

    \b
    Example:
      wulf lab up --nodes 8 --rate 1gbit
    """  # noqa: D301
    from wulf import lab

    _show(lab.up(nodes, rate=rate, name=name, backend=backend))


@command.command("set")
@click.argument("node")
@click.option("--rate", metavar="RATE", required=True, help="Both directions' rate, as tc writes it; none: no limit.")
@name_option
def set_(node: str, rate: str, name: str | None) -> None:
    """Change one node's link.

    \b
    Example:
      wulf lab set n3 --rate 200mbit
      wulf lab set n3 --rate none
    """  # noqa: D301
    _find(name).set_rate(node, rate)


@command.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@name_option
@click.argument("node")
@click.argument("argv", metavar="-- COMMAND…", nargs=-1, type=click.UNPROCESSED, required=True)
def exec_(node: str, argv: tuple[str, ...], name: str | None) -> None:
    """Run a command on one node; its exit status is ours.

    \b
    Example:
      wulf lab exec n1 -- ip -br addr
    """  # noqa: D301
    words = argv[1:] if argv[0] == "--" else argv
    sys.exit(_find(name).exec(node, words))


@command.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON list on stdout.")
@name_option
def status(as_json: bool, name: str | None) -> None:
    """Show your labs: nodes, addresses, rates, and how to reach them with ssh.

    \b
    Example:
      wulf lab status --json
    """  # noqa: D301
    from wulf import lab

    labs = [_find(name)] if name else lab.all_labs()
    if as_json:
        click.echo(json.dumps([_as_json(one) for one in labs], indent=2))
    elif not labs:
        click.echo("No lab is up; `wulf lab up --nodes 4` makes one.")
    else:
        for one in labs:
            _show(one)


@command.command()
@click.option("--all", "everything", is_flag=True, help="All of your labs, and whatever dead ones have left.")
@name_option
def down(everything: bool, name: str | None) -> None:
    """Take a lab down, and clear what killed ones have left: nothing of them stays.

    \b
    Example:
      wulf lab down
      wulf lab down --all
    """  # noqa: D301
    from wulf import lab

    if everything:
        names = lab.down_all()
        click.echo(f"Down: {', '.join(names)}." if names else "No lab is up.")
    elif lab.down(name):
        click.echo("The lab is down.")
    else:
        click.echo(f"The lab {name!r} is not up." if name else "No lab is up.")


def _find(name: str | None) -> Lab:
    from wulf import lab
    from wulf.core.errors import LabError

    found = lab.find(name)
    if found is None:
        text = f"the lab {name!r} is not up" if name else "no lab is up"
        raise LabError(text, "`wulf lab up --nodes 4` makes one; `wulf lab status` lists yours.")
    return found


def _show(lab: Lab) -> None:
    from rich.console import Console
    from rich.table import Table

    until = f", until process {lab.owner} ends" if lab.owner else ""
    table = Table(
        "node", "address", "rate", "state", title=f"lab {lab.name}: {lab.backend}{until}", title_justify="left"
    )
    for node in lab.nodes:
        addresses = ", ".join(filter(None, (node.address, node.address6)))
        table.add_row(node.name, addresses, node.rate or "none", "up" if lab.is_up(node.name) else "down")
    console = Console()
    console.print(table)
    if lab.note:
        console.print(lab.note, highlight=False, soft_wrap=True)
    if lab.ssh_config:
        console.print(f"By hand: ssh -F {lab.ssh_config} {lab.nodes[0].name}", highlight=False, soft_wrap=True)


def _as_json(lab: Lab) -> dict[str, Any]:
    return {
        "name": lab.name,
        "backend": lab.backend,
        "note": lab.note,
        "ssh_config": str(lab.ssh_config) if lab.ssh_config else None,
        "nodes": [
            {
                "name": node.name,
                "address": node.address,
                "address6": node.address6,
                "rate": node.rate,
                "up": lab.is_up(node.name),
            }
            for node in lab.nodes
        ],
    }
