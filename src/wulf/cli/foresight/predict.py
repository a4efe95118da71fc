"""`wulf predict`: a traced MPI program on other networks, and whether to buy one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import NumberIn, Percent, runs_option
from wulf.cli.showing import echo, show_view
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wulf.model.foresight.prediction import Prediction
    from wulf.model.network.figures import Network
    from wulf.workflow.foresight.scene import Wanted

LISTED = ("predict", "Plan", 10, "A traced program on other networks: run time, why, buy or not.")

ABOVE_ZERO = NumberIn(min=0, min_open=True)


class Pair(click.ParamType[tuple[str, str]]):
    """`allreduce=ring`, `10gbe=12000`: a name and what is said of it; a name may hold `=` (`this*latency=0.5=900`)."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """To name and value."""
        if isinstance(value, tuple):
            return value
        name, equals, said = str(value).rpartition("=")
        if not equals or not name or not said:
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        return name, said


@click.command(
    cls=Command,
    epilog="Examples: wulf predict last --network ib-hdr --network 'this*latency=0.5'; "
    "wulf predict TRACE --network 25gbe --network roce-100 --price roce-100=48000 --machine-price 400000",
)
@click.argument("traces", metavar="TRACE...", nargs=-1, required=True, shell_complete=offers.runs)
@click.option(
    "--network", "networks", multiple=True, metavar="NAME", shell_complete=offers.networks,
    help="A candidate: a name of `wulf networks list`, a TOML, "
    "a run of `wulf model loggp`, or one changed: 'this*latency=0.5*bandwidth=2', 'this+latency=4ms'."
)  # fmt: skip
@click.option(
    "--baseline", default="this", show_default=True, metavar="NAME", shell_complete=offers.networks,
    help="The network that the trace was made on [its network.toml, else the newest run of `wulf model loggp`].",
)  # fmt: skip
@click.option(
    "--within", metavar="NAME", help="Messages within a host: a run of `wulf model loggp` on one host, or a TOML."
)
@click.option(
    "--fit", is_flag=True, help="Fit the baseline's figures to half of the trace's calls; the other half says how well."
)
@click.option("--price", "prices", type=Pair(), multiple=True, metavar="NAME=TOTAL", help="All that a candidate costs.")
@click.option("--machine-price", type=ABOVE_ZERO, help="What the machine costs: a network must then pay for itself.")
@click.option("--gain", type=Percent(), help="Least share of the run time saved [5%, or what the prices say].")
@click.option("--collectives", type=Pair(), multiple=True, metavar="OP=ALGORITHM", help="As the MPI runs them.")
@click.option("--compute", type=NumberIn(min=0), default=1.0, show_default=True, help="Factor of computing.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "a", "b"]),
    default="auto",
    show_default=True,
    help="a: fast; b: in the order of time.",
)
@click.option("--topology", type=click.Path(path_type=Path), help="A JSON of the network's topology (engine b).")
@click.option("--placement", metavar="RULE", help="Of hosts in the topology: random:SEED, every:N, or 0,8,16,…")
@click.option(
    "--ranks-on", "ranks_on", metavar="RULE",
    help="Of a trace that does not say it, its ranks' hosts: block:N ranks a host, cyclic:N hosts, or 0,0,1,1,…",
)  # fmt: skip
@click.option(
    "--beside", "neighbors", multiple=True, metavar="TRACE",
    help="Another job, on hosts of its own, that runs at the same time (--topology says what both share).",
)  # fmt: skip
@click.option("--ranks", "asked", type=click.IntRange(min=1), multiple=True, help="Other numbers of ranks (3 traces).")
@click.option(
    "--draws", type=click.IntRange(39, 100_000), default=199, show_default=True,
    help="Of each network's figures.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws.")
@click.option(
    "--spill", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Keep large arrays in files of this folder: for traces whose replay is larger than memory.",
)  # fmt: skip
@runs_option
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with curves and the timeline.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(traces: tuple[str, ...], html: Path | None, as_json: bool, **options: Any) -> int:
    """What another network would do to a traced MPI program: run time, why, and whether to buy it.

    The baseline is replayed first, and stands beside what was measured. Every prediction has an interval and the share
    of the trace that the model covers.
    """
    from wulf.report.foresight.object import predict_object
    from wulf.report.foresight.page import predict_page
    from wulf.report.foresight.predict import predict_view

    found = _predicted(traces, options, page=html is not None)
    page = None if html is None else predict_page(found)
    show_view(predict_view(found), predict_object(found), as_json=as_json, html=html, page=page)
    return OK


def _predicted(traces: Sequence[str], options: dict[str, Any], *, page: bool) -> Prediction:
    """Replay all of the traces; the one of the most ranks is told of at length."""
    from wulf.workflow.foresight.placing import placed
    from wulf.workflow.foresight.predict import scaled_up
    from wulf.workflow.foresight.replaying import Replay, replay_session
    from wulf.workflow.foresight.scaling import check_counts
    from wulf.workflow.foresight.traced import find_trace, read_traced
    from wulf.workflow.model.networks import find_network, this_network, with_memory

    directory = options["directory"]
    several = sorted((read_traced(find_trace(name, directory)) for name in traces), key=lambda one: one.ranks)
    if options["ranks_on"] is not None:
        several = [placed(one, options["ranks_on"]) for one in several]
    check_counts([one.ranks for one in several], options["asked"])
    this, origin = this_network(options["baseline"], Path(several[-1].path), directory)
    if options["within"] is not None:
        this = with_memory(this, options["within"], directory)
    candidates = [find_network(text, this, directory) for text in options["networks"]]
    wanted = _wanted(candidates, origin, options, page=page)
    with replay_session() as session:
        replay = Replay(session)
        if options["spill"] is not None:
            replay.spill(options["spill"])
        return scaled_up(replay, several, this, wanted, _say)


def _say(text: str) -> None:
    echo(text, err=True)


def _wanted(candidates: Sequence[Network], origin: str, options: dict[str, Any], *, page: bool) -> Wanted:
    from wulf.workflow.foresight.scene import Wanted
    from wulf.workflow.foresight.traced import find_trace

    names = [network.name for network in candidates]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise UsageError(f"--network {double} is given twice", "give it once")
    if options["neighbors"] and options["topology"] is None:
        raise UsageError(
            "--beside needs --topology: without one, jobs share nothing", "describe the network's switches"
        )
    return Wanted(
        candidates, _prices(options["prices"], names), options["machine_price"], options["gain"],
        dict(options["collectives"]), options["compute"], options["engine"], options["draws"], options["seed"],
        timeline=page, fit=options["fit"], asked=options["asked"],
        beside=[find_trace(name, options["directory"]) for name in options["neighbors"]], origin=origin,
        extra=_extra(options["topology"], options["engine"], options["placement"]),
    )  # fmt: skip


def _prices(given: Sequence[tuple[str, str]], names: Sequence[str]) -> dict[str, float]:
    """Network's name → price.

    Raises
    ------
    UsageError
        A price is no number above 0, or of no candidate.
    """
    prices = {}
    for name, text in given:
        try:
            prices[name] = float(text)
        except ValueError:
            prices[name] = 0.0
        if not 0 < prices[name] < float("inf"):
            raise UsageError(f"--price {name}={text}: {text!r} is not a price above 0", "as in --price ib-hdr=48000")
        if name not in names:
            raise UsageError(f"--price {name}: no candidate has that name", f"there are: {', '.join(names) or 'none'}")
    return prices


def _extra(topology: Path | None, engine: str, placement: str | None) -> dict[str, Any]:
    """What all networks of the replay have besides their costs.

    Raises
    ------
    UsageError
        The topology can't be read, or engine A is to replay it; hosts are to be placed in none.
    """
    from wulf.core.given import json_of
    from wulf.workflow.foresight.placing import positions

    if topology is None:
        if placement is not None:
            raise UsageError("--placement is where hosts stand in a --topology", "give one, or leave it out")
        return {}
    if engine == "a":
        raise UsageError("engine a knows no topology", "leave --engine out, or give --engine b")
    try:
        described = json_of(topology)
        if not isinstance(described, dict):
            raise ValueError("it is no JSON object")
        return {"topology": described if placement is None else {**described, "positions": positions(placement)}}
    except ValueError as error:
        raise UsageError(
            f"{topology} can't be read: {error}",
            "give a JSON object, docs/how-it-works/replay-contention.md has its fields",
        ) from error
