"""What a sum buys, in sentences, tables and a plot of cost against time: the same in the terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from wulf.core.names import printable
from wulf.core.units import scale_for, show_in
from wulf.model.design.frontier import Choice, Design, Pair, Rival, Worth, bill
from wulf.model.design.prices import NODES, PORTS, Site, bill_of
from wulf.report.kit.view import Columns, Curve, Plot, Section, View, interval_object
from wulf.stats.estimates import Interval

MOST_ROWS, PAGE_ROWS = 10, 30
"""Designs of the frontier in a table: in a terminal, and on a page."""

MOST_RIVALS = 8
"""Of other pairs, in a terminal."""

MOST_CURVES = 5
"""Pairs that are drawn by themselves."""

MOST_RATIO = 100
"""Of two times: beyond, it is no matter by how much."""

GRID = 160

METHOD = (
    "All numbers of nodes of every kind with every network are priced and timed; the fastest that the sum pays for is "
    "the best. Two designs are told apart where the 95 % interval of their times' ratio leaves out 1, by draws that "
    "share what is not known of both (JCGM 101:2008). Switches connect at full bisection (a folded Clos network)."
)


@dataclass(frozen=True)
class Plan:
    """All that is told of a choice.

    Attributes
    ----------
    source
        Where the times are from.
    extra
        What else could be spent.
    owned
        Whether the sum pays for the years, too.
    """

    choice: Choice
    best: Design
    pairs: Sequence[Pair]
    site: Site
    source: str
    currency: str = "$"
    extra: float = 1000.0
    owned: bool = False
    worth: Worth | None = None
    notes: Sequence[str] = ()


def design_view(plan: Plan, *, whole: bool = False) -> View:
    """The whole of it; `whole`: with more of the frontier, and all rivals."""
    sections = [_best(plan), Section("Cost against time", plot=plot_of(plan)), _bill(plan), _money(plan)]
    sections += [_rivals(plan, whole=whole)] if plan.choice.rivals else []
    sections += [] if plan.worth is None else [_worth(plan, plan.worth)]
    sections += [_frontier(plan, whole=whole)]
    return View("Which cluster for the money", headline(plan), sections, [*_notes(plan), *plan.notes], METHOD)


def headline(plan: Plan) -> str:
    """`8 × sempron, gbe: 78.5 s, for $2,490 of $2,500`."""
    best = plan.best
    paid = f"{_cost(plan, best.cost)} of {_cost(plan, plan.choice.budget)}"
    return f"{name_of(best)}: {_time(best.time)}, for {paid}"


def name_of(design: Design) -> str:
    """`12 × fast, 25gbe`; a single node has no network."""
    network = f", {design.pair.fabric.name}" if design.nodes > 1 else ""
    return f"{design.nodes:,} × {design.pair.node.name}{network}"


def _best(plan: Plan) -> Section:
    best, choice = plan.best, plan.choice
    lines = [f"Times by {plan.source}."]
    alone = best.pair.timing
    if best.nodes > 1 and alone.supported(np.array([1.0]))[0]:
        faster = alone.ratio(1, alone, best.nodes)
        lines.append(f"It is {_ratio(faster)} times as fast as one such node.")
    if choice.cheaper is not None:
        less, over = choice.cheaper.design, choice.cheaper.over
        lines.append(
            f"Not resolvable from it: {name_of(less)} takes {_ratio(over)} times as long, and costs "
            f"{_cost(plan, best.cost - less.cost)} less."
        )
    return Section(f"The best for {_cost(plan, choice.budget)}", lines)


def _bill(plan: Plan) -> Section:
    best, paid = plan.best, bill(plan.best, plan.site)
    words = {NODES: f"{best.nodes:,} × {best.pair.node.name}", PORTS: f"ports of {best.pair.fabric.name}"}
    rows = [[words.get(name, name), _cost(plan, float(one[0]))] for name, one in paid.parts.items() if one[0] > 0]
    builds = sorted((float(one[0]), name) for name, one in paid.builds.items())
    rows += [[f"built by: {builds[0][1]}", _cost(plan, builds[0][0])]] if builds else []
    rows.append(["together", _cost(plan, float(paid.price[0]))])
    running = plan.site.running
    if running is not None:
        rows.append([f"{running.years:g} years of running", _cost(plan, float(paid.running[0]))])
        rows.append(["with its years", _cost(plan, float(paid.owned[0]))])
    lines = [f"{name} would be {_cost(plan, more - builds[0][0])} dearer." for more, name in builds[1:]]
    lines += [] if not builds[1:] else _crossings(plan, builds[0][1])
    small = [f"It draws {float(paid.watts[0]):,.0f} W."] if best.pair.node.watts is not None else []
    return Section("What it costs", lines, Columns(["", plan.currency], rows), small=small)


def _crossings(plan: Plan, cheapest: str) -> list[str]:
    """From how many nodes on, or up to how many, somebody else builds it for less."""
    best, reach = plan.best, max(4 * plan.best.nodes, 64)
    nodes = np.arange(1.0, reach + 1)
    builds = bill_of(best.pair.node, best.pair.fabric, plan.site, nodes).builds
    names = list(builds)
    winners = [names[i] for i in np.argmin(list(builds.values()), axis=0)]
    changes = [i for i in range(1, reach) if winners[i] != winners[i - 1]]
    if not changes:
        return [f"{cheapest} is the cheapest for any number of nodes up to {reach:,}."]
    at = min(changes, key=lambda i: abs(i + 1 - best.nodes))
    return [f"Up to {at:,} nodes {winners[at - 1]} is cheaper, from {at + 1:,} on {winners[at]}."]


def _money(plan: Plan) -> Section:
    choice, best, extra = plan.choice, plan.best, _cost(plan, plan.extra)
    more = choice.more
    if more is None or more.design == best or more.over.value >= 1:
        lines = [f"Another {extra} buys nothing."]
        if choice.sooner is not None:
            least = choice.sooner.design.cost - choice.budget
            lines.append(f"The least that does is {_cost(plan, least)} more: {_bought(choice.sooner)}.")
        else:
            lines.append("Nor does twice the sum: no design is faster.")
    else:
        lines = [f"Another {extra} buys {_bought(more)}."]
    left = choice.budget - best.cost
    if left >= 0.005 * choice.budget:
        lines.append(f"{_cost(plan, left)} of the sum are left over.")
    return Section("What more money buys", lines)


def _bought(rival: Rival) -> str:
    saved = Interval(1 - rival.over.value, 1 - rival.over.high, 1 - rival.over.low)
    doubt = "" if rival.over.high < 1 else ", which may be nothing"
    return f"{name_of(rival.design)}, {_percents(saved)} less time{doubt}"


def _percents(one: Interval) -> str:
    text = f"{one.value * 100:.3g} %"
    return text if one.low == one.high else f"{text} ({one.low * 100:.2g} to {one.high * 100:.2g})"


def _rivals(plan: Plan, *, whole: bool) -> Section:
    rivals = plan.choice.rivals if whole else plan.choice.rivals[:MOST_RIVALS]
    rows = [
        [name_of(one.design), _cost(plan, one.design.cost), _time(one.design.time), f"× {_ratio(one.over)}",
         "yes" if one.slower else "not resolvable"]
        for one in rivals
    ]  # fmt: skip
    alike = [name_of(one.design) for one in plan.choice.rivals if not one.slower]
    lines = (
        [f"Can't be told apart from the best: {'; '.join(alike)}. Measured times of your program would tell."]
        if alike
        else ["Each is surely slower than the best."]
    )
    left = len(plan.choice.rivals) - len(rivals)
    small = [f"{left} more are on the page."] if left else []
    heads = ["the fastest of", plan.currency, "time", "over the best", "surely slower"]
    return Section("Other nodes and networks for the sum", lines, Columns(heads, rows), small=small)


def _worth(plan: Plan, worth: Worth) -> Section:
    best, gain = plan.best, f"{worth.gain * 100:.3g} %"
    if worth.design is None:
        lines = [f"No number of such nodes does as much as a program that is {gain} faster on this one."]
        return Section("What tuning is worth", lines)
    count = f"{worth.nodes.value:.0f}"
    if worth.nodes.low != worth.nodes.high:
        high = f"{worth.nodes.high:.0f}" if isfinite(worth.nodes.high) else "no end"
        count += f" ({worth.nodes.low:.0f} to {high})"
    noun = "node" if worth.nodes.value == 1 else "nodes"
    lines = [
        f"A program that gets {gain} faster by tuning does as much as {count} more {noun} would: "
        f"{_cost(plan, worth.design.cost - best.cost)}, with all steps."
    ]
    return Section("What tuning is worth", lines)


def _frontier(plan: Plan, *, whole: bool) -> Section:
    shown = _thinned(plan, PAGE_ROWS if whole else MOST_ROWS)
    rows = [
        ["→ " * (one == plan.best) + name_of(one), _cost(plan, one.cost), _time(one.time), _cost(plan, _product(one))]
        for one in shown
    ]
    heads = ["design", "costs", "time", "cost × hours"]
    small = [f"{len(plan.choice.frontier):,} designs are on the frontier."]
    lines = ["No other design is both as cheap and as fast as one of these."]
    return Section("The frontier", lines, Columns(heads, rows), small=small)


def _product(one: Design) -> float:
    return one.cost * one.time.value / 3600


def _thinned(plan: Plan, most: int) -> list[Design]:
    """At most so many of the frontier, evenly by number, with its ends and the best."""
    some = plan.choice.frontier
    places = {round(i) for i in np.linspace(0, len(some) - 1, min(most, len(some)))}
    best = next((i for i, one in enumerate(some) if one == plan.best), None)
    if best is not None and best not in places:
        places.remove(min(places - {0, len(some) - 1} or places, key=lambda i: abs(i - best)))
        places.add(best)
    return [some[i] for i in sorted(places)]


def plot_of(plan: Plan) -> Plot:
    """Time over cost: the fastest pairs by themselves, the frontier, the sum, and the best with its interval."""
    best, choice = plan.best, plan.choice
    reach = max(one.cost for one in choice.frontier)
    pairs = [best.pair, *(one.design.pair for one in choice.rivals)][:MOST_CURVES]
    curves = [one for pair, mark in zip(pairs, "·+x~:", strict=False) if (one := _curve(plan, pair, reach, mark))]
    thin = _thinned(plan, GRID)
    xs, ys = [one.cost for one in thin], [float(one.pair.timing.at(np.array([float(one.nodes)]))[0]) for one in thin]
    all_y = [y for curve in curves for y in curve.y] + ys
    wall = np.geomspace(min(all_y), max(all_y), 20).tolist() if all_y else []
    time = best.time
    return Plot(
        "design-frontier",
        [
            Curve("the sum", [choice.budget] * len(wall), wall, dashed=True, mark="|"),
            *curves,
            Curve("frontier", xs, ys, mark="*"),
            Curve("the best", [best.cost], [time.value], [time.low], [time.high], points=True, mark="O"),
        ],
        f"cost, {plan.currency}", "time", "1", "s",
    )  # fmt: skip


def _curve(plan: Plan, pair: Pair, reach: float, mark: str) -> Curve | None:
    most = min(reach / pair.node.price, 1e5)
    nodes = np.unique(np.round(np.geomspace(1, max(1.0, most), GRID)))
    nodes = nodes[pair.timing.supported(nodes)]
    paid = bill_of(pair.node, pair.fabric, plan.site, nodes)
    cost, seconds = paid.owned if plan.owned else paid.price, pair.timing.at(nodes)
    kept = (cost <= reach) & (seconds > 0)
    if not kept.any():
        return None
    name = printable(f"{pair.node.name}, {pair.fabric.name}")
    return Curve(name, cost[kept].tolist(), seconds[kept].tolist(), mark=mark)


def _notes(plan: Plan) -> list[str]:
    far = plan.choice.unsupported
    if far is None:
        return []
    most = plan.best.pair.timing.most / plan.best.pair.node.workers
    return [
        f"The sum pays for {name_of(far)} ({_cost(plan, far.cost)}), {_time(far.time)} by the form alone. Times are "
        f"known for up to {most:,.0f} nodes, twice the most measured; measure on more, or give --beyond."
    ]


def _time(one: Interval) -> str:
    """`84.1 s (80.2–88.0)`: all in one unit, to as many decimals."""
    divisor, unit = _time_scale(one.value)
    text = f"{show_in(one.value, divisor)} {unit}"
    if one.low == one.high:
        return text
    digits = max(0, 2 - floor(log10(one.value / divisor)))
    return f"{text} ({one.low / divisor:.{digits}f}–{one.high / divisor:.{digits}f})"


def _time_scale(seconds: float) -> tuple[float, str]:
    """Days and hours from two of them on: people plan in these."""
    return (86400.0, "d") if seconds >= 2 * 86400 else (3600.0, "h") if seconds >= 7200 else scale_for(seconds, "s")


def _ratio(one: Interval) -> str:
    text = f"{one.value:.3g}" if one.value < 1000 else f"{one.value:,.0f}"
    if one.low == one.high:
        return text
    if one.high > MOST_RATIO > one.value:
        return f"{text} ({one.low:.3g} to over {MOST_RATIO})"
    high = f"{one.high:.3g}" if one.high < 1000 else f"{one.high:,.0f}"
    return f"{text} ({one.low:.3g}–{high})"


def _cost(plan: Plan, amount: float) -> str:
    return f"{plan.currency}{amount:,.0f}" if abs(amount) >= 100 or amount == 0 else f"{plan.currency}{amount:.3g}"


def design_object(plan: Plan) -> dict[str, Any]:
    """For programs: seconds, watts, and the currency of the file."""
    choice = plan.choice
    return {
        "budget": choice.budget,
        "currency": plan.currency,
        "pays_for_running": plan.owned,
        "times_from": plan.source,
        "best": _design_object(plan, plan.best, bill_too=True),
        "cheapest_alike": _rival_object(plan, choice.cheaper),
        "more": {"sum": plan.extra, **(_rival_object(plan, choice.more) or {})},
        "next_faster": _rival_object(plan, choice.sooner),
        "unsupported": None if choice.unsupported is None else _design_object(plan, choice.unsupported),
        "others": [_rival_object(plan, one) for one in choice.rivals],
        "gain": None
        if plan.worth is None
        else {
            "gain": plan.worth.gain,
            "nodes": interval_object(plan.worth.nodes),
            "price": None if plan.worth.design is None else plan.worth.design.cost - plan.best.cost,
        },
        "frontier": [_design_object(plan, one) for one in _thinned(plan, PAGE_ROWS)],
        "frontier_designs": len(choice.frontier),
        "notes": [*_notes(plan), *plan.notes],
    }


def _design_object(plan: Plan, one: Design, *, bill_too: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {
        "node": one.pair.node.name, "nodes": one.nodes, "network": one.pair.fabric.name, "price": one.price,
        "cost": one.cost, "seconds": interval_object(one.time),
    }  # fmt: skip
    if bill_too:
        paid = bill(one, plan.site)
        found["parts"] = {name: float(part[0]) for name, part in paid.parts.items()}
        found["builds"] = {name: float(part[0]) for name, part in paid.builds.items()}
        found["running"] = float(paid.running[0])
        found["watts"] = float(paid.watts[0]) if one.pair.node.watts is not None else None
    return found


def _rival_object(plan: Plan, one: Rival | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {**_design_object(plan, one.design), "over_best": interval_object(one.over), "surely_slower": one.slower}
