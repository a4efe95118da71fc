"""`wulf links`: the network, seen from the traffic that is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command
from wulf.cli.options import Seconds, inventory_of, measuring, node_options
from wulf.cli.showing import echo
from wulf.cli.studying import show_run

if TYPE_CHECKING:
    from wulf.measure.engine.collect import Replicate
    from wulf.measure.engine.plan import Cell

READABLE = 2.0
"""Seconds between two polls that somebody looks at, where nobody says."""

LISTED = ("links", "Measure", 85, "Latency, losses and limits of the traffic that is there.")


@click.command(cls=Command, epilog="Example: wulf links --nodes 'n[1-16]' --for 10m")
@node_options
@click.option("--for", "seconds", type=Seconds(), default="60s", show_default=True, help="How long: 60s, 10m.")
@click.option("--every", type=Seconds(), help="From one poll to the next [a 96th of --for, 0.25s to 10s].")
@click.option("--by-program", is_flag=True, help="Tell programs apart, too; of other users' it takes root.")
@click.option("--live", is_flag=True, help="Each poll's figures at once, 2s apart or more: lines; JSON with --json.")
@click.option("--json", "as_json", is_flag=True, help="Records as JSON Lines on stdout.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
def command(
    seconds: float, every: float | None, by_program: bool, live: bool, as_json: bool, out: Path | None, **where: Any
) -> int:
    """What the nodes' own traffic says of the network between them.

    From the kernels' accounts of every TCP connection, polled now and then: nothing is sent, no packet captured, no
    program slowed. For each pair of nodes round trips, segments sent again, delivery rate, and what held the sender up;
    who stands out; and whether it is a busy host rather than the network.

    \b
    Exit codes: 0 nothing stands out; 1 a node or link does; 3 a node could
    not be asked; 130 interrupted, what was seen is kept.
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped
    from wulf.workflow.net.links import Following, Schedule, links, unshown

    if live and every is None:
        every = max(Schedule(seconds).step, min(READABLE, seconds / 2))
    schedule = Schedule(seconds, every)  # refused before any node is touched
    with inventory_of(**where) as inventory:
        nodes = list(inventory.names)
        with measuring("links", out, 0, argv=sys.argv[1:], nodes=nodes) as (writer, seed, line):
            show = unshown if not live else _json_lines if as_json else _lines
            outcome = links(inventory, writer, Following(schedule, by_program, seed, line.say, show))
    return outcome.exit_code if live and as_json else show_run(outcome, as_json=as_json)


def _figures(cells: list[Cell], replicates: list[Replicate]) -> list[tuple[str, dict[str, Any]]]:
    """Pair → metric → value of one poll, without those of single services and of hosts."""
    from wulf.measure.net.traffic import is_pair

    return [
        (cells[one["cell"]].subject, {name: said["value"] for name, said in one["metrics"].items()})
        for one in replicates
        if is_pair(cells[one["cell"]])
    ]


MOST_LINES = 12
"""Pairs of a poll that are shown: all of four nodes, and of more the worst, beneath a line of all."""


def _lines(poll: int, cells: list[Cell], replicates: list[Replicate]) -> None:
    from wulf.core.names import subject_text
    from wulf.core.units import show
    from wulf.measure.net.traffic import AGAIN, LEAST, RTT, SENT

    figures = _figures(cells, replicates)
    if len(figures) > MOST_LINES:
        echo(f"{poll:>4} {_sum_of([own for _, own in figures])}; the worst {MOST_LINES}:")
        figures = sorted(figures, key=lambda one: (-(one[1][AGAIN] or 0.0), -(one[1][RTT] or 0.0)))[:MOST_LINES]
    for pair, own in figures:
        again = "–" if own[AGAIN] is None else f"{own[AGAIN]:.2%}"
        echo(
            f"{poll:>4} {_fitted(subject_text(pair)):<18} {show(own[SENT], 'B/s'):>11}  rtt {show(own[RTT], 's'):>8}"
            f" (least {show(own[LEAST], 's')}) again {again}"
        )


def _fitted(name: str) -> str:
    """A pair's name in the 18 columns that it has."""
    return name if len(name) <= 18 else f"{name[:17]}…"


def _sum_of(figures: list[dict[str, Any]]) -> str:
    """All pairs of a poll in a few words."""
    from statistics import median

    from wulf.core.units import show
    from wulf.measure.net.traffic import AGAIN, RTT, SENT

    trips = [one[RTT] for one in figures if one[RTT] is not None]
    lossy = sum(bool(one[AGAIN]) for one in figures)
    rtt = show(median(trips), "s") if trips else "–"
    sent = show(sum(one[SENT] for one in figures), "B/s")
    return f"{len(figures):,} pairs, {sent}, median rtt {rtt}, {lossy:,} sent again"


def _json_lines(poll: int, cells: list[Cell], replicates: list[Replicate]) -> None:
    for pair, own in _figures(cells, replicates):
        echo(json.dumps({"poll": poll, "pair": pair, **own}, separators=(",", ":")))
