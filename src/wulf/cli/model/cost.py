"""`wulf cost`: what a machine's speed costs in money and power, and where it would have stood on the Top500 lists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.model.command import Gain, Numbers
from wulf.cli.options import NumberIn, Percent, Seconds, named_run, runs_option
from wulf.cli.showing import colour_console, show_view
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from wulf.model.cost import GainWorth, MachineSpec, Sourced, Tariff
    from wulf.store.run import Run

LISTED = ("cost", "Plan", 50, "Price and power of speed, and a machine's place in the Top500.")

ABOVE_ZERO = NumberIn(min=0, min_open=True)
PEAK = "peak"


class Peak(click.ParamType[tuple[str, float]]):
    """`28.10`, or `turbo=35`: a peak in GFLOPS, and what it is called."""

    name = "[name=]gflops"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """To name and GFLOPS."""
        if isinstance(value, tuple):
            return value
        name, equals, number = str(value).rpartition("=")
        try:
            gflops = float(number)
        except ValueError:
            gflops = 0.0
        if not 0 < gflops < float("inf") or (equals and not name):
            self.fail(f"{value!r} is not GFLOPS above 0, as 28.1 or turbo=35", param, ctx)
        return name or PEAK, gflops


@click.command(
    cls=Command,
    epilog="Examples: wulf cost --gflops 14.53 --price 2490 --watts 900 --peak 28.10; wulf cost last --price 2490; "
    "wulf cost --gflops 14.53 --before 10.6 --nodes 8 --price 2490; "
    "wulf cost --steps examples/cost/kronos.csv --peak 28.10; "
    "wulf cost --candidates nodes.toml --energy-price 0.30 --years 4",
)
@click.argument("run", required=False, metavar="[RUN]", shell_complete=offers.runs)
@runs_option
@click.option("--metric", help="Which rate of the run, where it has several.")
@click.option("--gflops", type=Numbers(), help="Instead of a run; of several runs: 14.5,14.6,14.4.")
@click.option("--price", type=ABOVE_ZERO, help="Of the machine.")
@click.option("--currency", default="$", show_default=True, help="What stands before a price.")
@click.option("--watts", type=Numbers(), help="Drawn while it computes; several readings: 896,905,899.")
@click.option("--meter", help="With --watts: where they are from, as 'PDU, mean of 10 min' [given].")
@click.option(
    "--power-log",
    type=click.Path(path_type=Path),
    help="Instead: a meter's log, `time,watts` a line; RUN's times count.",
)
@click.option("--peak", "peaks", type=Peak(), multiple=True, metavar="[NAME=]GFLOPS", help="Of the machine, in all.")
@click.option(
    "--peak-from",
    metavar="RUN",
    shell_complete=offers.runs,
    help="A run of `wulf node` whose measured peaks are summed.",
)
@click.option("--job-seconds", "job", type=Seconds(), help="Cost of a job of that length: 2h.")
@click.option("--energy-price", type=ABOVE_ZERO, help="Of one kWh.")
@click.option("--years", type=ABOVE_ZERO, help="For which the machine is used.")
@click.option("--use", type=Percent(), default="100%", show_default=True, help="Share of these in which it computes.")
@click.option("--gain", type=Gain(), help="By which tuning made it faster: what that is worth in nodes and money.")
@click.option("--before", type=Numbers(), metavar="GFLOPS", help="Instead: the rate before tuning.")
@click.option("--steps", type=click.Path(path_type=Path), help="Instead of a rate: a CSV, step,gflops[,price] a line.")
@click.option("--nodes", type=click.IntRange(min=1, max=10_000_000), help="Of the machine, for what a gain is worth.")
@click.option("--candidates", type=click.Path(path_type=Path), help="A TOML of nodes that could be bought.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the intervals' draws.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with plots.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    run: str | None,
    directory: Path | None,
    currency: str,
    energy_price: float | None,
    years: float | None,
    use: float,
    candidates: Path | None,
    seed: int,
    html: Path | None,
    as_json: bool,
    **given: Any,
) -> int:
    """What a machine's speed costs, and where it would have stood on the Top500 lists.

    Price and power for each GFLOPS, the share of each peak, a job's cost, and the place on every list since June 1993.
    Of RUN the rate, the power (where a meter was read) and the peaks are taken with their intervals.

    With --steps it is one machine as it was tuned, step by step, and the last step is the machine.

    With --candidates, nodes that could be bought are held against each other: price × time, and energy over the years.
    """
    import numpy as np

    from wulf.model.cost import KWH, Tariff

    random = np.random.default_rng(seed)
    tariff = Tariff(None if energy_price is None else energy_price / KWH, years, use)
    if candidates is not None:
        if run is not None or any(given.values()):
            raise UsageError("--candidates compares nodes of a file, with no other machine", "leave the rest out")
        return _candidates(candidates, directory, tariff, currency, random, html, as_json)
    _check(run, given)
    found = None if run is None else named_run(run, directory)
    return _bill(found, directory, tariff, currency, random, html, as_json, given)


def _check(run: str | None, given: dict[str, Any]) -> None:
    """UsageError where options contradict each other."""
    if given["steps"] is not None and (run is not None or given["gflops"] is not None):
        raise UsageError("--steps has the rate of each step", "leave RUN and --gflops out")
    if given["steps"] is None and (run is None) == (given["gflops"] is None):
        raise UsageError("the rate comes from a run or from --gflops", "give RUN, or --gflops 14.53")
    if run is None and given["metric"]:
        raise UsageError("--metric chooses from a run", "name the run")
    if given["meter"] and given["watts"] is None:
        raise UsageError("--meter says where --watts is from", "give --watts, too")
    if given["gain"] is not None and given["before"] is not None:
        raise UsageError("--gain and --before both say what tuning gained", "give one of them")
    if (given["nodes"] is None) != (given["gain"] is None and given["before"] is None):
        raise UsageError("what tuning is worth in nodes goes by the gain and their number", "as --gain 9.2% --nodes 8")
    if given["watts"] is not None and given["power_log"] is not None:
        raise UsageError("--watts and --power-log both say what is drawn", "give one of them")


def _bill(
    run: Run | None, directory: Path | None, tariff: Tariff, currency: str, random: np.random.Generator,
    html: Path | None, as_json: bool, given: dict[str, Any],
) -> int:  # fmt: skip
    """One machine's."""
    from wulf.model.cost import job_cost
    from wulf.model.draws import known
    from wulf.model.top500 import history
    from wulf.report.model.cost import Bill, cost_object, cost_view
    from wulf.workflow.model.steps import read_steps

    peaks = _peaks(run, directory, given, random)
    steps = [] if given["steps"] is None else read_steps(given["steps"], given["price"], peaks)
    machine = replace(steps[-1][1], watts=_watts(run, given, random)) if steps else _machine(run, peaks, given, random)
    job = None if given["job"] is None else (given["job"], job_cost(known(given["job"]), machine, tariff))
    worth = _worth(machine, given, random)
    bill = Bill(
        machine, history(machine.rate.figure.interval()), currency, tariff, job, _notes(machine, run), worth, steps
    )
    whole = None if html is None else cost_view(bill, whole=True)
    show_view(cost_view(bill), cost_object(bill), as_json=as_json, html=html, page=whole)
    return OK


def _worth(machine: MachineSpec, given: dict[str, Any], random: np.random.Generator) -> GainWorth | None:
    """Of the gain given, or of the rate beside that before it.

    Raises
    ------
    UsageError
        The rate was no lower before.
    """
    from wulf.model.cost import GIGA, gain_worth
    from wulf.model.draws import combine, known

    if given["nodes"] is None:
        return None
    if given["before"] is None:
        return gain_worth(known(given["gain"]), given["nodes"], machine)
    before = _readings(given["before"], GIGA, "given", random).figure
    gain = combine(lambda now, then: now / then - 1, machine.rate.figure, before)
    if gain.value <= 0:
        raise UsageError("it was no slower before: nothing was gained", "--before is the rate before tuning, in GFLOPS")
    return gain_worth(gain, given["nodes"], machine)


def _machine(
    run: Run | None, peaks: dict[str, Sourced], given: dict[str, Any], random: np.random.Generator
) -> MachineSpec:
    """From the run and what is given; what is given counts."""
    from wulf.model.cost import GIGA, MachineSpec
    from wulf.workflow.model.cost import rate_of

    rate = _readings(given["gflops"], GIGA, "given", random) if run is None else rate_of(run, random, given["metric"])
    return MachineSpec(rate, given["price"], _watts(run, given, random), peaks)


def _watts(run: Run | None, given: dict[str, Any], random: np.random.Generator) -> Sourced | None:
    from wulf.workflow.model.cost import watts_of
    from wulf.workflow.model.power import watts_while

    if given["watts"] is not None:
        return _readings(given["watts"], 1.0, given["meter"] or "given", random)
    if given["power_log"] is not None:
        return watts_while(given["power_log"], run, random)
    return None if run is None else watts_of(run, random)


def _peaks(
    run: Run | None, directory: Path | None, given: dict[str, Any], random: np.random.Generator
) -> dict[str, Sourced]:
    from wulf.model.cost import GIGA, scaled
    from wulf.model.draws import known
    from wulf.workflow.model.cost import measured_peak, nodes_of, peaks_of

    peaks = {} if run is None else peaks_of(run, random)
    if given["peak_from"]:
        nodes = nodes_of(run) if run is not None else []
        peaks["measured peak"] = measured_peak(named_run(given["peak_from"], directory), nodes, random)
    return peaks | {name: _given(scaled(known(value), GIGA)) for name, value in given["peaks"]}


def _given(figure: Any) -> Sourced:
    from wulf.model.cost import Sourced

    return Sourced(figure)


def _readings(values: Sequence[float], scale: float, words: str, random: np.random.Generator) -> Sourced:
    """One number is known; of several the mean, with its interval."""
    from wulf.model.cost import Sourced, scaled
    from wulf.model.draws import known, mean_of

    if len(values) == 1:
        return Sourced(known(values[0] * scale), words)
    return Sourced(scaled(mean_of(values, random), scale), f"{words}, mean of {len(values)}")


def _notes(machine: MachineSpec, run: Run | None) -> list[str]:
    """What to beware of."""
    notes = []
    if machine.watts is not None and "RAPL" in machine.watts.source:
        notes.append("RAPL counts processors and memory alone: the plug draws more, --watts gives what it does.")
    if run is not None and machine.watts is None:
        notes.append(f"Run {run.id} read no meter of power: give --watts, or --power-log.")
    if any(share.value > 1 for share in machine.shares.values()):
        notes.append("The rate is above a peak: one of the two is not of this machine.")
    return notes


def _candidates(
    path: Path, directory: Path | None, tariff: Tariff, currency: str, random: np.random.Generator,
    html: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Nodes that could be bought; those that were measured also as `wulf compare --machines` shows them."""
    from wulf.model.cost import benefits
    from wulf.report.kit.terminal import print_all
    from wulf.report.model.cost import benefit_object, benefit_view
    from wulf.report.node.comparison import machines_section, titles
    from wulf.report.node.machines import beside
    from wulf.workflow.model.cost import market

    found = market(path, lambda name: named_run(name, directory), random)
    held = benefits(found.candidates, tariff)
    view = benefit_view(held, found.basis, tariff, currency)
    show_view(view, benefit_object(held, found.basis), as_json=as_json, html=html)
    these = beside(found.measured, titles())
    if these.rows and not as_json:
        print_all([machines_section(these)], colour_console())
    return OK
