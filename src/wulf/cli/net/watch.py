"""`wulf watch CLIENT SERVER`: a live view of one pair."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.net.pairs import pair_inventory
from wulf.cli.options import Number, Seconds, node_options, terminable
from wulf.cli.showing import colour_console, echo
from wulf.measure.engine.probes import net_probe

if TYPE_CHECKING:
    from wulf.measure.net.watching import Moment, Watching
    from wulf.store.run import Run

    Show = Callable[[Watching, Moment], None]
    Say = Callable[[str], None]

LISTED = ("watch", "Measure", 80, "A live view of one pair: round trip, rate, counters.")

LINE_EVERY = 1.0
"""Seconds between two lines where there is no terminal."""


@click.command(cls=Command, epilog="Example: wulf watch n1 n2 --budget 10m --json | jq .rtt")
@click.argument("client", shell_complete=offers.nodes)
@click.argument("server", shell_complete=offers.nodes)
@node_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a replicate on stdout, at once.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
@click.option("--seed", type=click.IntRange(min=0), help="Of the random order [drawn, and recorded].")
@click.option("--budget", type=Seconds(), help="Stop after this long: 60s, 5m [until Ctrl-C].")
@click.option("--interval", type=Seconds(), default=0.5, show_default=True, help="From one replicate to the next [s].")
@click.option("--bytes", "size", type=click.INT, default=1, show_default=True, help="Length of the message [B].")
@click.option("--seconds", type=Number(), default=0.05, show_default=True, help="Of one ping-pong [s].")
@click.option(
    "--stream/--no-stream", default=True, show_default=True, help="Now and then a short stream, for the rate."
)
@click.option(
    "--stream-every", type=click.IntRange(min=1), default=20, show_default=True, help="A stream every so many passes."
)
def command(
    client: str,
    server: str,
    as_json: bool,
    out: Path | None,
    seed: int | None,
    budget: float | None,
    interval: float,
    size: int,
    seconds: float,
    stream: bool,
    stream_every: int,
    **where: Any,
) -> int:
    """Watch one pair until Ctrl-C.

    Short TCP ping-pongs again and again: their quantiles now and over all, with an interval that holds at all times,
    the last minute, the rate of a short stream now and then, retransmits, how busy both ends are. Kept as a run.
    """
    from wulf.store.run import RunWriter
    from wulf.workflow.engine.effort import Effort
    from wulf.workflow.engine.measuring import measure
    from wulf.workflow.engine.study import Conditions
    from wulf.workflow.net.watch import Pace, Watch

    params = net_probe().check("pingpong", "tcp", {"bytes": size, "seconds": seconds})
    drawn = secrets.randbelow(2**31) if seed is None else seed
    with pair_inventory(client, server, where) as chosen:
        meta = {"seed": drawn, "argv": sys.argv[1:], "nodes": [node.name for node in chosen.nodes]}
        with RunWriter(out, "watch", meta) as writer, _shown(as_json) as (show, say), terminable():
            reader = Reader(show)
            pace = Pace(f"{client}>{server}", interval, reader, say)
            given = Conditions(chosen, Effort(budget=budget, endless=True), writer, drawn, pace)
            outcome = measure(Watch(given, client, server, params, stream_every if stream else 0))
    _tell(outcome.run)
    return 0 if reader.gone else outcome.exit_code


class Reader:
    """Shows to somebody who may go away: `wulf watch --json | head -3` ends quietly, and keeps what was measured."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self.gone = False

    def __call__(self, watching: Watching, moment: Moment) -> None:
        """Show; as after Ctrl-C where nobody reads any more."""
        try:
            self._show(watching, moment)
        except BrokenPipeError:
            self.gone = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise KeyboardInterrupt from None


@contextmanager
def _shown(as_json: bool) -> Iterator[tuple[Show, Say]]:
    """How replicates are shown, and who is told what happens before."""
    if as_json:
        yield _json_line, _to_stderr
    elif sys.stdout.isatty():
        with _live() as shown:
            yield shown
    else:
        yield Lines(), _to_stderr


def _to_stderr(what: str) -> None:
    echo(what, err=True)


def _json_line(watching: Watching, moment: Moment) -> None:
    from wulf.measure.net.watching import moment_json

    echo(json.dumps(moment_json(watching, moment), separators=(",", ":")))  # click flushes


class Lines:
    """One line a second at most; what went wrong, and every stream, is never left out."""

    def __init__(self) -> None:
        self._last: float | None = None

    def __call__(self, watching: Watching, moment: Moment) -> None:
        """Print the moment if it is time."""
        from wulf.report.net.watch import one_line

        usual = not moment.error and moment.rate is None
        if usual and self._last is not None and moment.seconds - self._last < LINE_EVERY:
            return
        if usual:
            self._last = moment.seconds
        echo(one_line(watching, moment))


@contextmanager
def _live() -> Iterator[tuple[Show, Say]]:
    """A view that is redrawn in place; its last state stays."""
    from rich.live import Live
    from rich.text import Text

    from wulf.report.net.watch import view

    last: list[tuple[Watching, Moment]] = []
    with Live(Text("starting"), console=colour_console(), auto_refresh=False) as live:

        def draw(lines: list[str]) -> None:
            live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)

        def show(watching: Watching, moment: Moment) -> None:
            last[:] = [(watching, moment)]
            draw(view(watching, moment))

        try:
            yield show, lambda what: draw([what])
        finally:
            draw(view(*last[0], going_on=False) if last else [])


def _tell(run: Run) -> None:
    """Where it is kept, and what failed."""
    for finding in run.findings:
        if finding.kind == "failed":
            echo(f"failed: {finding.text}", err=True)
            if finding.next_step:
                echo(f"  → {finding.next_step}", err=True)
    echo(f"run: {run.path}", err=True)
