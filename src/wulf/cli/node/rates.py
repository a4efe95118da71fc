"""`wulf rates`: what this machine can do, for programs to read."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wulf.cli.commands import Group
from wulf.cli.options import NumberIn, Percent, Seconds, from_option, named_run, runs_option
from wulf.cli.showing import echo
from wulf.core.errors import INCOMPLETE, OK, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wulf.rates import Rate
    from wulf.rates.publishing import Published
    from wulf.workflow.node.rates import NodeRates

LISTED = ("rates", "Measure", 70, "What this machine can do, in a file that programs read.")

INCLUDE = Path(__file__).parents[2] / "include"


def _cflags(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        echo(f"-I{INCLUDE}")
        ctx.exit(0)


@click.group(cls=Group)
@click.option(
    "--cflags", is_flag=True, is_eager=True, expose_value=False, callback=_cflags,
    help="Print what a C compiler needs to find wulf_rates.h.",
)  # fmt: skip
def command() -> None:
    """What this machine can do, in a file that programs read (docs/how-to/rates.md).

    \b
    Example:
      wulf rates publish --quick
      wulf rates get mem.l2.size
      cc $(wulf rates --cflags) program.c
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped


@command.command(epilog="Example: wulf rates publish --only memory --quick")
@click.option("--quick", is_flag=True, help="Half a minute: fewer rates, wider intervals.")
@click.option("--only", metavar="GROUP,…", help="cpu, memory, os, net, noise, power [all].")
@click.option("--rate", "names", multiple=True, metavar="NAME", help="This rate alone; may be given again.")
@from_option("A finished run of `wulf node`, instead of measuring.")
@runs_option
@click.option("--node", help="Which node of that run [its only one].")
@click.option("--out", type=click.Path(path_type=Path), help="Keep the run that was measured here.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the order in which is measured.")
@click.option("--json", "as_json", is_flag=True, help="What was published, as the file holds it.")
def publish(
    quick: bool,
    only: str | None,
    names: tuple[str, ...],
    run: str | None,
    directory: Path | None,
    node: str | None,
    out: Path | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Measure this machine, and write its rates; or those of a node of a finished run.

    The file is /run/wulf/rates.json where that may be written, else ~/.cache/wulf/rates.json; WULF_RATES names another.
    Rates that are not measured this time stay as they are, with their age.
    """
    from wulf.rates.places import read_path, write_path
    from wulf.workflow.node import rates as workflow

    measured_now = [name for name, value in (("--quick", quick), ("--only", only), ("--rate", names)) if value]
    if run is not None and measured_now:
        raise UsageError(f"{measured_now[0]} is about measuring, --from about a run that was", "leave one out")
    if run is None and node is not None:
        raise UsageError("--node chooses from a run", "give --from RUN, or leave it out")
    if run is not None:
        found = workflow.of_run(named_run(run, directory), node)
    else:
        found = _measured(quick, only, names, out, seed)
    workflow.check_is_here(found, os.environ)
    done = workflow.published(found, write_path())
    if done.rates.path != read_path():
        echo(f"note: programs read {read_path()} first; set WULF_RATES to have them read this one", err=True)
    _say_published(done, found, as_json)
    return OK if done.measured else INCOMPLETE


def _measured(quick: bool, only: str | None, names: Sequence[str], out: Path | None, seed: int | None) -> NodeRates:
    """Measure this machine; the run is thrown away where nobody wants it."""
    import tempfile

    from wulf.cli.options import measuring
    from wulf.cluster.inventory import Inventory
    from wulf.workflow.engine.effort import Effort
    from wulf.workflow.engine.measuring import measure
    from wulf.workflow.engine.study import Conditions
    from wulf.workflow.node import rates as workflow
    from wulf.workflow.node.survey import NodeSurvey

    if note := workflow.busy_note(os.getloadavg()[0], os.cpu_count() or 1):
        echo(f"note: {note}", err=True)
    with tempfile.TemporaryDirectory(prefix="wulf-rates-") as folder:
        kept = out or Path(folder) / "run"
        with measuring("rates", kept, seed, argv=sys.argv[1:]) as (writer, drawn, line):
            given = Conditions(Inventory.this_machine(), Effort(quick=quick), writer, drawn, line)
            return workflow.of_run(measure(NodeSurvey(given, only=only, names=names, page=False)).run)


def _say_published(done: Published, found: NodeRates, as_json: bool) -> None:
    for note in done.notes:
        echo(f"note: {note}", err=True)
    if as_json:
        echo(done.rates.path.read_text(encoding="utf-8"), nl=False)
        return
    reported = sum(1 for rate in found.rates.values() if rate.value is not None) - done.measured
    lacking = len(found.rates) - reported - done.measured
    echo(f"{done.rates.path}: {done.measured} rates measured, {reported} reported, {len(done.rates)} in all")
    if lacking:
        echo(f"{lacking} have no value: `wulf rates list` says why", err=True)


@command.command(epilog="Example: wulf rates get mem.l2.size --max-age 7d")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The whole rate: interval, age, verdict, provenance.")
@click.option("--max-age", type=Seconds(), help="Refuse an older rate: 7d, 12h.")
def get(name: str, as_json: bool, max_age: float | None) -> None:
    """Print one rate: value and unit.

    Exit code 3 where there is none, it is too old, or the file is of another machine, torn, or not there.
    """
    from wulf import rates

    read = rates.load()
    value = read.get_value(name, max_age=max_age)
    rate = read[name]
    if as_json:
        echo(json.dumps({"name": name, **rate.to_json(), "age": rate.age()}, ensure_ascii=False))
    else:
        echo(f"{value:.10g} {rate.unit}")


@command.command("list", epilog="Example: wulf rates list | grep mem")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a rate.")
def list_(as_json: bool) -> None:
    """Every rate there is: value, interval, age, and why there is none."""
    from wulf import rates

    read = rates.load()
    if as_json:
        for rate in read.values():
            told = {"name": rate.name, **rate.to_json(), "age": rate.age()}
            echo(json.dumps(told, ensure_ascii=False))
        return
    echo(f"{read.path}: {read.host}, fingerprint {read.fingerprint}", err=True)
    for line in _lines(list(read.values())):
        echo(line)


def _lines(listed: Sequence[Rate]) -> list[str]:
    """A line a rate, in columns: name, value, interval, age, then what a reader should know."""
    from wulf.core.units import show, show_interval

    rows = [
        (
            rate.name, show(rate.value, rate.unit), show_interval(rate.low, rate.high, rate.unit), _age(rate.age()),
            rate.reason or (rate.provenance if rate.provenance != "measured" else ""),
        )
        for rate in listed
    ]  # fmt: skip
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    padded = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)) for row in rows)
    return [f"{text}  {row[4]}".rstrip() for text, row in zip(padded, rows, strict=True)]


def _age(seconds: float) -> str:
    for size, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


@command.command()
def path() -> None:
    """Print the file that programs read: WULF_RATES, /run/wulf/rates.json, or the user's own in ~/.cache.

    \b
    Example:
      cat $(wulf rates path)
    """  # noqa: D301
    from wulf.rates import read_path

    echo(read_path())


@command.command(epilog="Example: wulf rates serve --stay")
@click.option(
    "--listen", default="127.0.0.1:9464", show_default=True, metavar="ADDRESS:PORT",
    help="There is no key: any address but loopback has to be named here, as 10.0.0.7:9464.",
)  # fmt: skip
@click.option("--stay", is_flag=True, help="Do not end when stdin closes.")
def serve(listen: str, stay: bool) -> None:
    """Serve the rates to Prometheus: GET /metrics, read-only, without a key; on loopback unless told otherwise.

    The file is read at every request. Ends when stdin closes, so that it ends with whoever started it; with --stay, or
    started by systemd, it goes on.
    """
    from wulf.rates.exposition import metrics
    from wulf.scrape import serving

    address, port = serving.parse_listen(listen)
    server = serving.Server(address, port, metrics, "wulf rates serve")
    if not serving.is_loopback(address):
        echo(f"note: whoever reaches {address} may read this machine's rates: there is no key", err=True)
    echo(server.url, err=True)
    serving.serve(server, stay=stay or serving.under_systemd())


@command.command(epilog="Example: wulf rates refresh --max-load 0.1 --share 1%")
@click.option(
    "--max-load", type=NumberIn(min=0, min_open=True), default=0.1, show_default=True,
    help="Load per CPU above which nothing is measured.",
)  # fmt: skip
@click.option("--share", type=Percent(), default="1%", show_default=True, help="Of one core, on average.")
@click.option("--max-age", type=Seconds(), default="7d", show_default=True, help="Younger rates are left alone.")
@click.option("--for", "seconds", type=Seconds(), default="5m", show_default=True, help="Begin nothing after so long.")
@click.option("--json", "as_json", is_flag=True, help="What was done, as one JSON object.")
def refresh(max_load: float, share: float, max_age: float, seconds: float, as_json: bool) -> int:
    """Measure the oldest rates anew while the machine is idle; made for a timer (packaging/systemd).

    Nothing is measured while the load is above --max-load, measuring ends within a second when it rises, and the CPU
    time of all that is kept below --share of one core on average.
    """
    from wulf.workflow.node import refresh as workflow
    from wulf.workflow.node import refresh_host

    refresh_host.background()
    state = refresh_host.state_path()
    host = refresh_host.ThisHost(_child_command, state)
    limits = workflow.Limits(max_load, share, max_age, seconds)
    done = workflow.refresh(host, _wanted, _known, limits, refresh_host.read_account(state, time.time()))
    average = done.account.spent / max(1.0, done.account.at - done.account.since)
    if as_json:
        echo(json.dumps({"why": done.why, "measured": done.measured, "share": average}))
    else:
        echo(f"{len(done.measured)} rates measured; {done.why}; {average:.2%} of a core on average so far")
    return INCOMPLETE if done.why in (workflow.Why.FAILED, workflow.Why.NEVER) else OK


def _wanted() -> list[str]:
    from wulf.workflow.node.rates import names_of_rates

    return names_of_rates()


def _known() -> Mapping[str, Rate]:
    from wulf.rates.places import write_path
    from wulf.workflow.node.rates import known_rates

    return known_rates(write_path())


def _child_command(names: Sequence[str], run: Path) -> list[str]:
    chosen = [word for name in names for word in ("--rate", name)]
    return [sys.executable, "-m", "wulf.cli.main", "rates", "publish", "--out", str(run), *chosen]
