"""What a machine costs, in sentences, tables and a plot: the same in the terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wulf.core.names import uncapitalised
from wulf.core.units import show, show_in
from wulf.model.cost import (
    GIGA,
    KWH,
    MEGA,
    Benefit,
    GainWorth,
    JobCost,
    MachineSpec,
    Tariff,
    best_value,
)
from wulf.model.draws import Uncertain
from wulf.model.records import RECORDS_IN, records
from wulf.model.top500 import LAST_PLACE, History, List, Standing, law_source, source
from wulf.report.kit.view import Columns, Curve, Plot, Section, View
from wulf.report.model.amounts import (
    about,
    amount,
    figure_object,
    gflops,
    interval_words,
    machine_object,
    percent,
    place_words,
    standing_object,
)
from wulf.report.model.steps import steps_table, worth_object

MOST_LISTS = 10
"""Lists that the terminal shows a line of; the page shows all."""


@dataclass(frozen=True)
class Bill:
    """All that is told of one machine.

    Attributes
    ----------
    job
        A job's seconds, and what it costs; None where none was asked for.
    worth
        What a gain by tuning is worth; None where none was named.
    steps
        The machine as it was tuned, step by step; the last one is the machine.
    """

    machine: MachineSpec
    history: History
    currency: str = "$"
    tariff: Tariff = field(default_factory=Tariff)
    job: tuple[float, JobCost] | None = None
    notes: Sequence[str] = ()
    worth: GainWorth | None = None
    steps: Sequence[tuple[str, MachineSpec]] = ()


def headline(bill: Bill) -> str:
    """`14.53 GFLOPS: $171/GFLOPS, 16.14 MFLOPS/W, 52 % of peak, would have been no. 8 in June 1993`."""
    found = [text for name, text, _, _ in figures(bill) if name in ("price", "power")]
    found += [f"{percent(share.value)} of {name}" for name, share in bill.machine.shares.items()]
    found.append(uncapitalised(sentence(bill.history.standings[0])))
    rate = f"{gflops(bill.machine.rate.figure.value)} GFLOPS"
    return f"{rate}: {', '.join(found)}"


def figures(bill: Bill) -> list[tuple[str, str, str, str]]:
    """Key, figure, interval, and what it is made of."""
    machine, money = bill.machine, bill.currency
    rows = [("rate", f"{gflops(machine.rate.figure.value)} GFLOPS", interval_words(machine.rate.figure, GIGA, 4),
             machine.rate.source)]  # fmt: skip
    if (price := machine.price_per_rate) is not None:
        text = f"{money}{amount(price.value * GIGA)}/GFLOPS"
        rows.append(("price", text, interval_words(price, 1 / GIGA), f"price {money}{machine.price:,.6g}, given"))
    if machine.watts is not None and (power := machine.rate_per_watt) is not None:
        scale, unit = (GIGA, "GFLOPS/W") if power.value >= GIGA else (MEGA, "MFLOPS/W")
        watts = f"{machine.watts.figure.value:.4g} W, {machine.watts.source}"
        rows.append(("power", f"{show_in(power.value, scale, 4)} {unit}", interval_words(power, scale, 4), watts))
    for name, share in machine.shares.items():
        peak = machine.peaks[name]
        words = f"{name} {gflops(peak.figure.value)} GFLOPS, {peak.source}"
        rows.append(("share", percent(share.value), interval_words(share, 0.01), words))
    return rows


def cost_view(bill: Bill, *, whole: bool = False) -> View:
    """The whole bill; `whole`: with every list."""
    table = Columns(["", "95 % interval", "of"], [row[1:] for row in figures(bill)], 3)
    sections = [Section("What it costs", table=table)]
    if bill.steps:
        sections.append(Section("Step by step", table=steps_table(bill.steps, bill.currency)))
    if bill.job is not None:
        sections.append(_job(bill, *bill.job))
    if bill.worth is not None:
        sections.append(_gain(bill, bill.worth))
    if bill.machine.price is not None and bill.currency == RECORDS_IN:
        sections.append(_records(bill))
    sections += [_history(bill, whole=whole)]
    return View(
        "What the machine costs", headline(bill), sections, bill.notes,
        f"Lists: {source()}. Places between known ones by a power law of Rmax; its range holds 90 % of "
        f"{law_source()}.",
    )  # fmt: skip


def _job(bill: Bill, seconds: float, cost: JobCost) -> Section:
    money = bill.currency
    rows = []
    if cost.energy is not None:
        rows.append(["energy", f"{cost.energy.value / KWH:.3g} kWh", interval_words(cost.energy, KWH)])
    if cost.energy_price is not None:
        rows.append(["energy's price", money + amount(cost.energy_price.value), interval_words(cost.energy_price, 1)])
    if cost.capital is not None:
        rows.append(
            ["share of the machine's price", money + amount(cost.capital.value), interval_words(cost.capital, 1)]
        )
    if cost.energy_price is not None and cost.capital is not None and cost.total is not None:
        rows.append(["together", money + amount(cost.total.value), interval_words(cost.total, 1)])
    lines = [] if rows else ["Give --watts and --energy-price, or --price and --years: nothing is known of it yet."]
    years = bill.tariff.years
    small = [f"The machine is used for {years:g} years, {percent(bill.tariff.use)} of the time."] if years else []
    return Section(f"A job of {show(seconds, 's')}", lines, Columns(["", "", "95 % interval"], rows), small=small)


def _records(bill: Bill) -> Section:
    """What was paid for a GFLOPS by those who held the record, beside this machine's."""
    price = bill.machine.price_per_rate
    own = [] if price is None else [(price.value * GIGA, ["this machine", amount(price.value * GIGA), "", "", ""])]
    rows = [(one.price, [one.name, amount(one.price), str(one.year), one.precision, one.source]) for one in records()]
    table = Columns(["", f"{bill.currency}/GFLOPS", "year", "HPL in", "by"], [row for _, row in sorted(rows + own)], 5)
    return Section("Beside records of price", table=table)


def _gain(bill: Bill, worth: GainWorth) -> Section:
    nodes, money = worth.nodes, bill.currency
    price = "" if worth.price is None else f", {money}{amount(worth.price.value)}"
    count = f"{nodes.value:.2f} more nodes"
    spread = f" ({interval_words(nodes, 1)})" if interval_words(nodes, 1) else ""
    lines = [f"{percent(worth.gain.value)} more of {worth.of:g} nodes is as much as {count}{spread}{price}."]
    small = ["As nodes share work without loss: `wulf design --gain` goes by your program's own times, and by steps."]
    return Section("What tuning is worth", lines, small=small)


def _history(bill: Bill, *, whole: bool) -> Section:
    found = bill.history
    first = found.standings[0]
    lines = [f"{sentence(first)}{f' (published: {first.published})' if first.published else ''}."]
    if found.led is not None and found.led is not first:
        lines.append(f"It would have led the lists until {found.led.list.title}.")
    if found.on is not None:
        lines.append(f"The last list that it would have been on: {_with_last(found.on.list)}.")
    lines.append(
        f"The first list that it would have missed: {_with_last(found.missed.list)}."
        if found.missed is not None
        else f"It would be on the newest list there is: {_with_last(found.standings[-1].list)}."
    )
    lines += _published(found)
    return Section("On the Top500 lists", lines, _places(found, whole=whole), plot_of(bill))


def _published(found: History) -> list[str]:
    """Where a paper has the place, what our law alone would say, and why that is another."""
    both = [(one, one.by_law) for one in found.standings if one.by_law is not None]
    if not both:
        return []
    told = ", ".join(f"{one.best} in {one.list.title} ({about(law)} by the law)" for one, law in both)
    return [
        f"Published: no. {told}. They differ as the law knows no. 1 and no. {LAST_PLACE} alone, and systems "
        "between them don't keep to it: its range says how far off it is."
    ]


def _with_last(one: List) -> str:
    return f"{one.title} (no. {LAST_PLACE}: {gflops(one.last)} GFLOPS)"


def sentence(one: Standing) -> str:
    """`Would have been no. 24 in June 1993`, or between which places, or that it is off the list."""
    doubt = "" if one.sure else "; the interval reaches over that line"
    if one.where == "off":
        return f"Would not have been on the list of {one.list.title}{doubt}"
    if one.where == "above":
        return f"Would have been no. 1 in {one.list.title}, ahead of {one.list.first_name}{doubt}"
    assert one.place is not None  # noqa: S101 - on the list
    if one.published:
        return f"Would have been no. {one.best} in {one.list.title}"
    sure = f"no. {one.best} to {one.worst}" if one.sure else "on the list"
    return f"Would have been about no. {about(one.place)} in {one.list.title}; certainly {sure}{doubt}"


def _places(found: History, *, whole: bool) -> Columns:
    there = [one for one in found.standings if one.where != "off"]
    missed = [found.missed] if found.missed is not None else []
    shown = list(found.standings) if whole else [*_thinned(there, MOST_LISTS), *missed]
    rows = [[one.list.title, place_words(one), gflops(one.list.first), gflops(one.list.last)] for one in shown]
    return Columns(["list", "place", "no. 1, GFLOPS", f"no. {LAST_PLACE}"], rows, 2)


def _thinned(some: Sequence[Standing], most: int) -> list[Standing]:
    """At most so many, evenly, the first and the last among them."""
    if len(some) <= most:
        return list(some)
    return [some[round(i * (len(some) - 1) / (most - 1))] for i in range(most)]


def plot_of(bill: Bill) -> Plot:
    """No. 1, no. 500 and the machine over time."""
    lists = [one.list for one in bill.history.standings]
    years = [one.year for one in lists]
    rate = bill.machine.rate.figure.interval()
    flat = [rate.value] * len(lists)
    low, high = ([edge] * len(lists) if rate.low < rate.high else [] for edge in (rate.low, rate.high))
    curves = [
        Curve("no. 1", years, [one.first for one in lists], mark="▲"),
        Curve(f"no. {LAST_PLACE}", years, [one.last for one in lists], mark="▼"),
        Curve("this machine", years, flat, low, high, mark="─"),
    ]
    words = {one.year: one.title for one in lists}
    ticks = [(one.year, one.name[:4]) for one in lists if one.name.endswith("06") and int(one.name[:4]) % 5 == 0]
    return Plot("cost-top500", curves, "list", "Rmax", "1", "flop/s", x_ticks=ticks, x_words=words)


def benefit_view(found: Sequence[Benefit], basis: str, tariff: Tariff, currency: str) -> View:
    """Candidates beside each other: what the same work costs on each."""
    best = best_value(found)
    head = f"Best value: {best.candidate.name}" if best is not None else "No candidate is clearly the best value"
    rows = [_benefit_row(one, currency) for one in found]
    heads = ["candidate", "price", f"{currency}/GFLOPS", "MFLOPS/W", "time", "price × time", "with energy"]
    first = found[0].candidate.name
    lines = [f"Time, price × time and with energy are relative to {first}, by {basis}: less is better."]
    years = f"{tariff.years:g} years, {percent(tariff.use)} of the time" if tariff.years else ""
    small = [f"Energy: {years}, at {currency}{(tariff.joule or 0) * KWH:.3g}/kWh."] if tariff.joule and years else [
        "For the column with energy give --energy-price and --years, and each candidate its watts."
    ]  # fmt: skip
    return View(
        "Candidate nodes", head, [Section("Candidates", lines, Columns(heads, rows), small=small)],
        method="Price × time after R. G. Brown, Engineering a Beowulf-style Compute Cluster. It holds for work that "
        "any number of nodes shares without loss; `wulf model speedup` says whether yours does.",
    )  # fmt: skip


def _benefit_row(one: Benefit, currency: str) -> list[str]:
    machine, flops = one.candidate.machine, one.candidate.flops
    per, power = (machine.price_per_rate, machine.rate_per_watt) if flops else (None, None)
    return [
        one.candidate.name,
        "–" if machine.price is None else f"{currency}{machine.price:,.6g}",
        "–" if per is None else amount(per.value * GIGA),
        "–" if power is None else f"{show_in(power.value, MEGA, 4)}",
        *(_ratio(each) for each in (one.candidate.relative, one.cost, one.owned)),
    ]


def _ratio(one: Uncertain | None) -> str:
    if one is None:
        return "–"
    spread = interval_words(one, 1)
    return f"{one.value:.3g} ({spread})" if spread else f"{one.value:.3g}"


def benefit_object(found: Sequence[Benefit], basis: str) -> dict[str, Any]:
    """For programs, in SI units."""
    best = best_value(found)
    return {
        "basis": basis,
        "best": best.candidate.name if best else None,
        "candidates": [
            {
                "name": one.candidate.name,
                **machine_object(one.candidate.machine),
                "rate_unit": "flop/s" if one.candidate.flops else "1/s",
                "relative_time": figure_object(one.candidate.relative),
                "relative_cost": figure_object(one.cost),
                "relative_cost_with_energy": figure_object(one.owned),
            }
            for one in found
        ],
    }


def cost_object(bill: Bill) -> dict[str, Any]:
    """For programs, in SI units: flop/s, W, J."""
    seconds, job = bill.job or (None, None)
    return {
        **machine_object(bill.machine),
        "steps": [{"step": name, **worth_object(machine)} for name, machine in bill.steps],
        "currency": bill.currency,
        "job": None
        if job is None
        else {
            "seconds": seconds,
            "energy": figure_object(job.energy),
            "energy_price": figure_object(job.energy_price),
            "capital": figure_object(job.capital),
            "total": figure_object(job.total),
        },
        "gain": None
        if bill.worth is None
        else {
            "gain": figure_object(bill.worth.gain),
            "of_nodes": bill.worth.of,
            "nodes": figure_object(bill.worth.nodes),
            "price": figure_object(bill.worth.price),
        },
        "records": [
            {
                "name": one.name,
                "year": one.year,
                "precision": one.precision,
                "price_per_gflops": one.price,
                "source": one.source,
            }
            for one in records()
        ],
        "top500": {
            "source": source(),
            "led": bill.history.led and bill.history.led.list.name,
            "last_on": bill.history.on and bill.history.on.list.name,
            "first_missed": bill.history.missed and bill.history.missed.list.name,
            "lists": [standing_object(one) for one in bill.history.standings],
        },
        "notes": list(bill.notes),
    }
