"""`wulf networks`: the networks that predictions can be asked of, and where their figures are from."""

from __future__ import annotations

import json
from pathlib import Path

import click

from wulf.cli import offers
from wulf.cli.commands import Group
from wulf.cli.options import runs_option
from wulf.cli.showing import echo, show_view
from wulf.core.errors import OK

LISTED = ("networks", "Plan", 20, "The networks that predictions know by name, with sources.")


@click.group(cls=Group)
def command() -> None:
    """The networks that `wulf predict` knows by name, each figure with its source."""


@command.command("list", epilog="Example: wulf networks list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def listed(as_json: bool) -> int:
    """All of them: latency, overheads, bandwidth, and how many of the figures are estimates."""
    from wulf.model.network.figures import Network
    from wulf.model.network.file import network_names, shipped_network
    from wulf.report.foresight.networks import network_details, networks_view

    networks = [Network(shipped_network(name)) for name in network_names()]
    show_view(
        networks_view(networks), {"networks": [network_details(one) for one in networks]}, as_json=as_json, html=None
    )
    return OK


@command.command(epilog="Examples: wulf networks show ib-hdr; wulf networks show 10gbe --toml > own.toml")
@click.argument("name", shell_complete=offers.networks)
@runs_option
@click.option("--toml", "as_toml", is_flag=True, help="Its file, to be changed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(name: str, directory: Path | None, as_toml: bool, as_json: bool) -> int:
    """One of them, a TOML, or a run of `wulf model loggp`: every figure, its interval, its source, its price."""
    from wulf.model.network.file import network_names, network_text
    from wulf.report.foresight.networks import network_details, network_view, written
    from wulf.workflow.model.networks import find_network

    network = find_network(name, None, directory)
    if as_toml:
        shipped = name in network_names()
        echo(network_text(name) if shipped else written(network.base), nl=not shipped)
        return OK
    show_view(network_view(network), network_details(network), as_json=as_json, html=None)
    return OK


@command.command(epilog="Example: wulf networks schema > network.schema.json")
def schema() -> int:
    """The JSON schema of a network's TOML."""
    from wulf.model.network.file import network_schema

    echo(json.dumps(network_schema(), indent=2, ensure_ascii=False))
    return OK
