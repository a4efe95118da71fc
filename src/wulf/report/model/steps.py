"""A machine step by step as it was tuned: rate, share of each peak, price of a GFLOPS, and place on the Top500."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wulf.model.cost import GIGA, MachineSpec
from wulf.model.top500 import history, lists
from wulf.report.kit.view import Columns
from wulf.report.model.amounts import amount, gflops, machine_object, percent, place_words, standing_object


def steps_table(steps: Sequence[tuple[str, MachineSpec]], currency: str, *, places: bool = True) -> Columns:
    """Every step with its rate; columns of what is known of none are left out.

    Parameters
    ----------
    places
        Whether the rates are HPL's, of which Top500 lists are made.
    """
    machines = [machine for _, machine in steps]
    heads = ["step", "GFLOPS", *worth_heads(machines, currency, places=places)]
    rows = [[name, gflops(one.rate.figure.value), *worth_cells(one, machines, places=places)] for name, one in steps]
    return Columns(heads, rows, 1, tail=2 if places else 0)


def worth_heads(machines: Sequence[MachineSpec], currency: str, *, places: bool) -> list[str]:
    """The heads of what `worth_cells` gives."""
    return [
        *(f"of {name}" for name in _peaks(machines)),
        *([f"{currency}/GFLOPS"] if _priced(machines) else []),
        *([lists()[0].title, "last list"] if places else []),
    ]


def worth_cells(one: MachineSpec, machines: Sequence[MachineSpec], *, places: bool) -> list[str]:
    """Its share of each peak, its price, its place on the first list, and on the last one that it would have been on.

    Parameters
    ----------
    machines
        All of the table: its columns are what is known of any.
    """
    shares, price = one.shares, one.price_per_rate
    cells = [percent(shares[name].value) if name in shares else "–" for name in _peaks(machines)]
    if _priced(machines):
        cells.append("–" if price is None else amount(price.value * GIGA))
    if not places:
        return cells
    found = history(one.rate.figure.interval())
    last = found.on
    on = "none" if last is None else f"{last.list.title}: {place_words(last)}"
    return [*cells, place_words(found.standings[0]), on]


def worth_object(one: MachineSpec, *, places: bool = True) -> dict[str, Any]:
    """For programs, in SI units."""
    if not places:
        return machine_object(one)
    found = history(one.rate.figure.interval())
    return {
        **machine_object(one), "first": standing_object(found.standings[0]),
        "last": None if found.on is None else standing_object(found.on),
    }  # fmt: skip


def _peaks(machines: Sequence[MachineSpec]) -> list[str]:
    return list(dict.fromkeys(name for one in machines for name in one.peaks))


def _priced(machines: Sequence[MachineSpec]) -> bool:
    return any(one.price is not None for one in machines)
