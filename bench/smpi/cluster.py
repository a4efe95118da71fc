"""A network of ours as the cluster that SimGrid's SMPI simulates: platform, options, and what SMPI's messages cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.engine.places import DATA
from wulf.model.network.figures import Network, Values, network_object
from wulf.model.network.file import parse_network

CLUSTER = DATA / "smpi.toml"

LINKS = 2
"""Between two hosts of a star: from the one to the switch, and from there to the other."""

ENVELOPE = 16
"""Bytes that SMPI sends with each message."""

FLOPS = 1e9
"""Operations a second of a host: then a trace's flop is a nanosecond."""

COLLECTIVES = {
    "allgather": ("bruck", "bruck"),
    "allgatherv": ("bruck", "ompi_bruck"),
    "allreduce": ("recursive-doubling", "rdb"),
    "alltoall": ("linear", "basic_linear"),
    "alltoallv": ("linear-in-order", "ompi_basic_linear"),
    "barrier": ("dissemination", "ompi_bruck"),
    "bcast": ("binomial", "binomial_tree"),
    "gather": ("linear", "ompi_basic_linear"),
    "reduce": ("binomial", "binomial"),
    "reduce_scatter": ("pairwise", "mpich_pair"),
    "scatter": ("linear", "ompi_basic_linear"),
}
"""Collective → our algorithm, and the same by SMPI's name."""

PLAIN = {
    "network/model": "CM02", "network/bandwidth-factor": "1", "network/latency-factor": "1", "network/weight-S": "0",
    "network/TCP-gamma": "0", "network/crosstraffic": "0", "network/loopback-lat": "0",
    "network/loopback-bw": "1e15", "surf/precision": "1e-12", "maxmin/precision": "1e-12",
    "smpi/simulate-computation": "no", "smpi/display-timing": "yes", "smpi/host-speed": f"{FLOPS:g}f",
    "smpi/wtime": "0", "smpi/test": "0", "smpi/iprobe": "0",
}  # fmt: skip
"""What makes SimGrid's model of a network the plain one: no factors by size, no windows of TCP, both directions apart;
and time passes by what a program says that it computes, not in tests, probes and looks at the clock."""


def platform(hosts: int, values: Values) -> str:
    """The platform's XML: a star, whose hosts' links each have half of the latency, both ways apart."""
    link = f'bw="{1 / values["byte"]:.10g}Bps" lat="{values["latency"] / LINKS:.10g}s"'
    return (
        '<?xml version="1.0"?>\n'
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n'
        f'  <cluster id="star" prefix="h" suffix="" radical="0-{hosts - 1}" speed="{FLOPS:.10g}f" {link}/>\n'
        "</platform>\n"
    )


def hostfile(hosts: int) -> str:
    """A rank a host."""
    return "".join(f"h{host}\n" for host in range(hosts))


def write(folder: Path, ranks: int, values: Values) -> list[str]:
    """Platform and hosts as files of a folder, and smpirun's words for them."""
    platform_file, hosts_file = folder / "platform.xml", folder / "hosts"
    platform_file.write_text(platform(ranks, values))
    hosts_file.write_text(hostfile(ranks))
    return ["-np", str(ranks), "-platform", str(platform_file), "-hostfile", str(hosts_file)]


def options(values: Values) -> dict[str, str]:
    """SMPI's settings for a network: overheads of both sides, the eager limit, and the collectives' algorithms.

    Below SMPI's limit a message is sent at once and its sender goes on; ours is the largest such message.
    """
    limit = f"{round(values['eager']) + 1}"
    send, receive = (f"0:{values[side]:.10g}:{values[f'{side}_byte']:.10g}" for side in ("send", "receive"))
    return {
        **PLAIN,
        "smpi/os": send, "smpi/ois": send, "smpi/or": receive,
        "smpi/async-small-thresh": limit, "smpi/send-is-detached-thresh": limit,
        **{f"smpi/{name}": theirs for name, (_, theirs) in COLLECTIVES.items()},
    }  # fmt: skip


def words(settings: Mapping[str, str]) -> list[str]:
    """Settings as the command line has them."""
    return [f"--cfg={name}:{value}" for name, value in settings.items()]


def ours() -> dict[str, Any]:
    """The collectives' algorithms as a replay is told them; reductions take no time, as in SMPI."""
    return {**{name: algorithm for name, (algorithm, _) in COLLECTIVES.items()}, "reduction": 0}


def as_smpi(values: Values) -> Values:
    """What a message costs there, in our terms: n bytes take (n + 16)·G, not (n - 1)·G, on the way and at the NIC."""
    more = (ENVELOPE + 1) * values["byte"]
    return {**values, "latency": values["latency"] + more, "gap": values["gap"] + more}


def network(name: str, values: Values) -> dict[str, Any]:
    """As engine A takes it."""
    return network_object(name, as_smpi(values))


def star(name: str, values: Values) -> dict[str, Any]:
    """As engine B takes it: messages share the hosts' links."""
    rate = round(1 / values["byte"])
    topology = {"kind": "star", "bytes_per_second": rate, "flow_bytes": 0, "shared_nic": True}
    return {**network(name, values), "topology": topology}


def base_network() -> Network:
    """Platform A, of bench/data/smpi.toml."""
    return Network(parse_network(CLUSTER.read_text(), str(CLUSTER)))
