"""Figures of machines as people and programs read them: GFLOPS, money, shares, places on the Top500."""

from __future__ import annotations

from typing import Any

from wulf.core.units import show_in
from wulf.model.cost import GIGA, MachineSpec, Sourced, interval_of
from wulf.model.draws import Uncertain
from wulf.model.top500 import Standing
from wulf.report.kit.view import interval_object
from wulf.stats.estimates import Interval

PLACES = {"above": "ahead of no. 1", "off": "off the list"}


def gflops(rate: float) -> str:
    """A rate [flop/s] in GFLOPS, without the unit."""
    return show_in(rate, GIGA, 4)


def percent(ratio: float) -> str:
    """A share with two digits."""
    return f"{ratio * 100:.2g} %" if ratio < 0.9995 else f"{ratio * 100:.3g} %"


def amount(value: float) -> str:
    """A price without its currency."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def interval_words(one: Uncertain, divisor: float, digits: int = 3) -> str:
    """Its interval, in a unit; empty where it has none."""
    found = interval_of(one)
    return "" if found is None else f"{show_in(found.low, divisor, digits)}–{show_in(found.high, divisor, digits)}"


def about(place: Interval) -> str:
    """An estimated place with its range."""
    return f"{place.value:.0f} ({max(1, round(place.low))}–{round(place.high)})"


def place_words(one: Standing) -> str:
    """Its place, or that it is off the list or ahead of it."""
    if one.place is None or one.where != "on":
        return PLACES[one.where]
    return f"{one.best}, published" if one.published else f"about {about(one.place)}"


def machine_object(machine: MachineSpec) -> dict[str, Any]:
    """A machine and what follows of it, for programs."""
    return {
        "rate": sourced_object(machine.rate),
        "price": machine.price,
        "watts": sourced_object(machine.watts),
        "price_per_flops": figure_object(machine.price_per_rate),
        "flops_per_watt": figure_object(machine.rate_per_watt),
        "peaks": {
            name: {**(sourced_object(peak) or {}), "share": figure_object(machine.shares[name])}
            for name, peak in machine.peaks.items()
        },
    }


def standing_object(one: Standing) -> dict[str, Any]:
    """A place on one list, for programs."""
    place = None if one.place is None else {"value": one.place.value, "low": one.place.low, "high": one.place.high}
    return {
        "list": one.list.name, "where": one.where, "sure": one.sure, "place": place, "best": one.best,
        "worst": one.worst, "published": one.published or None,
        "by_law": None if one.by_law is None else interval_object(one.by_law),
        "n1": one.list.first, "n500": one.list.last,
    }  # fmt: skip


def sourced_object(one: Sourced | None) -> dict[str, Any] | None:
    """A figure and where it is from, for programs."""
    return None if one is None else {**(figure_object(one.figure) or {}), "source": one.source}


def figure_object(one: Uncertain | None) -> dict[str, float | None] | None:
    """A figure with its interval, for programs."""
    if one is None:
        return None
    found = interval_of(one)
    return {"value": one.value, "low": found.low if found else None, "high": found.high if found else None}
