"""How fast nodes and networks are beside those that a program was measured on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from wulf.core.errors import UsageError
from wulf.model.cost import GIGA
from wulf.model.design.prices import Fabric, Node, Switch
from wulf.model.design.timing import message_cost
from wulf.model.draws import Uncertain, combine, known
from wulf.model.network.figures import Network
from wulf.workflow.model.cost import Load, measured_node, rate_row, shared_time, time_of
from wulf.workflow.model.design.file import Candidates, NetworkRow, NodeRow
from wulf.workflow.model.networks import find_network

ONE = known(1.0)


def node_of(row: NodeRow) -> Node:
    """The node as its price goes."""
    return Node(row.name, row.price, row.watts, row.workers)


def fabric_of(row: NetworkRow, figures: Network | None, path: Path) -> tuple[Fabric, str]:
    """The network as its price goes, and where a port's is from where the file does not say.

    Raises
    ------
    UsageError
        Nobody says what a port costs.
    """
    switches = tuple(Switch(one.ports, one.price, one.watts) for one in row.switches)
    if row.price is not None:
        return Fabric(row.name, row.price, row.watts, switches), ""
    known_price = None if figures is None or figures.edits else figures.base.price
    if known_price is None:
        raise UsageError(f"{path}: network {row.name!r} has no price", "write price = …, of a port: adapter and cable")
    port, source = known_price.port.value, f"{known_price.year}, {known_price.port.source}"
    note = f"A port of {row.name} is taken to cost {known_price.currency}{port:g} ({source})."
    return Fabric(row.name, port, row.watts, switches), note


def node_times(given: Candidates, path: Path, load: Load, random: np.random.Generator) -> dict[str, Uncertain]:
    """Node → its time for a worker's work, as a multiple of the base's.

    Raises
    ------
    UsageError
        A node does not say how fast it is in the way in which the base does.
    """
    base = given.base_node
    if len(given.node) == 1:
        return {base.name: ONE}
    for row in given.node:
        if row.speed != base.speed or not row.speed:
            raise UsageError(
                f"{path}: node {row.name!r} has {row.speed or 'no speed'}, and {base.name!r} "
                f"{base.speed or 'none'}: they can't be held against each other",
                "give seconds of your program on one worker, gflops, or a run of `wulf node`, to all the same",
            )
    seconds = _seconds(given, path, load, random)
    return {
        row.name: ONE if row is base else combine(np.divide, seconds[row.name], seconds[base.name])
        for row in given.node
    }


def _seconds(given: Candidates, path: Path, load: Load, random: np.random.Generator) -> dict[str, Uncertain]:
    """Node → seconds of the same work on one of its workers, in whatever unit is the same for all."""
    if given.base_node.speed == "run":
        return _measured(given, path, load, random)
    if given.base_node.speed == "gflops":
        return {row.name: known(row.workers / ((row.gflops or 0.0) * GIGA)) for row in given.node}
    return {row.name: time_of(row.seconds or 0.0, random) for row in given.node}


def _measured(given: Candidates, path: Path, load: Load, random: np.random.Generator) -> dict[str, Uncertain]:
    """By the program's shares of rows of `wulf node`, or by a node's whole rate over its workers."""
    runs = {row.name: (f"{path}, node {row.name}", row.run or "", row.node) for row in given.node}
    machines = {name: replace(measured_node(*words, load), name=name) for name, words in runs.items()}
    if given.share:
        first = machines[given.base_node.name]
        return {name: shared_time(path, one, first, given.share) for name, one in machines.items()}
    rates = {name: rate_row(where, run, machines[name], random).figure for name, (where, run, _) in runs.items()}
    return {row.name: combine(np.divide, known(float(row.workers)), rates[row.name]) for row in given.node}


def figures_of(given: Candidates, path: Path, directory: Path | None) -> dict[str, Network]:
    """Network → its figures of LogGP, where its row names some; a TOML beside the candidates' is found, too.

    Raises
    ------
    UsageError
        There is no such network.
    """
    found = {}
    for row in given.network:
        if row.figures is not None:
            beside = path.parent / row.figures
            text = str(beside) if row.figures.endswith(".toml") and beside.is_file() else row.figures
            found[row.name] = replace(find_network(text, None, directory), alias=row.name)
    return found


def message_times(given: Candidates, path: Path, figures: dict[str, Network], seed: int) -> dict[str, Uncertain]:
    """Network → what a message takes, as a multiple of the base's; those with times of their own are left out.

    Raises
    ------
    UsageError
        A network does not say how fast it is, or how long messages are is not known.
    """
    base = given.base_network
    asked = [row for row in given.network if row.parts is None]
    if [row.name for row in asked] in ([], [base.name]):
        return {base.name: ONE}
    if base.parts is not None and asked:
        raise UsageError(
            f"{path}: network {base.name!r} has parts of its own, and {asked[0].name!r} none",
            "give all networks parts, or put those of the base under [work]",
        )
    costs: dict[str, Uncertain] = {}
    for row in asked:
        if row.name not in figures and row.communication is None and row is not base:
            raise UsageError(
                f"{path}: network {row.name!r} does not say how fast it is",
                "give figures (a name of `wulf networks list`, a TOML), communication = 2.5, or parts",
            )
        if row.name in figures:
            costs[row.name] = message_cost(figures[row.name], _bytes(given, path), seed)
    if costs and base.name not in costs:
        raise UsageError(f"{path}: network {base.name!r} has no figures, and others have", "give it figures, too")
    ones = {row.name: known(row.communication or 1.0) for row in asked if row.name not in costs}
    return ones | {name: ONE if name == base.name else combine(np.divide, one, _base(costs, base.name))
                   for name, one in costs.items()}  # fmt: skip


def _base(costs: dict[str, Uncertain], name: str) -> Uncertain:
    one = costs[name]
    if one.value <= 0 or (one.draws <= 0).any():
        raise UsageError(f"messages take no time on {name}: nothing can be held against that", "name another network")
    return one


def _bytes(given: Candidates, path: Path) -> float:
    if given.work.bytes is None:
        raise UsageError(
            f"{path}: how long messages are is not known, and networks are to be held against each other",
            "write bytes = 8192 under [work], or give a trace as --for: it has them",
        )
    return given.work.bytes
