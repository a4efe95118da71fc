"""`wulf net layers CLIENT [SERVER]`: what every layer from the bare loop to the wire adds to a round trip."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.net.pairs import pair_inventory
from wulf.cli.options import Number, measure_options, node_options
from wulf.cli.studying import show_run, studied
from wulf.measure.engine.probes import net_probe

if TYPE_CHECKING:
    from wulf.workflow.engine.study import Conditions
    from wulf.workflow.net.layers_mpi import MpiLayer

WITHOUT = "none"
"""Instead of an MPI: the layers below it alone."""

SECONDS = 0.05
"""Of one replicate: as in the survey, hundreds of round trips of the slowest layer."""


@click.command(cls=Command, epilog="Example: wulf net layers n1 n2 --bytes 1 --width 5%")
@click.argument("client", shell_complete=offers.nodes)
@click.argument("server", required=False, shell_complete=offers.nodes)
@node_options
@measure_options
@click.option("--bytes", "size", type=click.INT, default=1, show_default=True, help="Length of the message [B].")
@click.option("--seconds", type=Number(), default=SECONDS, show_default=True, help="Of one replicate [s].")
@click.option("--cpu", type=click.INT, help="CPU of the client's measuring threads.")
@click.option("--server-cpu", type=click.INT, help="CPU of the server's measuring threads.")
@click.option("--mpi", metavar="KIND|PREFIX|none", help="Which MPI stands on top [the one found].")
def layers(
    client: str,
    server: str | None,
    size: int,
    seconds: float,
    cpu: int | None,
    server_cpu: int | None,
    mpi: str | None,
    as_json: bool,
    **options: Any,
) -> int:  # an argument for each option
    """What each layer adds to a round trip.

    The same ping-pong over nothing (the loop itself), every transport within CLIENT, loopback UDP and TCP there, and
    UDP and TCP to SERVER, and MPI between the two where they have one. Every block measures each layer once, in random
    order, and layers are subtracted block by block: each difference has an interval. Without SERVER: the layers within
    CLIENT alone.
    """
    from wulf.measure.mpi.probes import BLOCKS, SHARED
    from wulf.workflow.net.layers import Layers

    given = {"bytes": size, "seconds": seconds, "cpu": cpu, "server_cpu": server_cpu}
    params = net_probe().check("pingpong", "tcp", {name: value for name, value in given.items() if value is not None})
    end, how = server or client, SHARED if options["quick"] or options["watch"] else BLOCKS

    def study(given: Conditions) -> Layers:
        return Layers(given, client, end, params, _mpi_layer(mpi, given, client, end, how))

    outcome = studied("net-layers", options, study, where=partial(pair_inventory, client, end))
    return show_run(outcome, as_json=as_json)


def _mpi_layer(mpi: str | None, given: Conditions, client: str, server: str, how: str) -> MpiLayer | None:
    """MPI's layer, of two ranks, launched as often as `Launch.how` says; None where the user wants none."""
    if mpi == WITHOUT:
        return None
    from wulf.cluster.mpi import WorldSpec
    from wulf.workflow.mpi.launching import Launch
    from wulf.workflow.mpi.probes import Ranks
    from wulf.workflow.net.layers_mpi import MpiLayer

    spec = WorldSpec(ranks=2, per_node=1 if client != server else 2, mpi=mpi, bind="none")
    return MpiLayer(Ranks(Launch(spec, how), given.watch.say), f"{client}>{server}")
