"""What each step of a path makes of the machine, as table 1 of the Kronos cluster."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.report.search.worth import machine_of, worth_line, worth_table


def figure(value: float | None) -> dict[str, Any]:
    return {"value": value, "low": value, "high": value, "n": 6, "reason": ""}


def result(machine: dict[str, Any] | None) -> dict[str, Any]:
    path = [
        {"changed": {}, "figure": figure(10.6e9)}, {"changed": {"nb": 128}, "figure": figure(None)},
        {"changed": {"mpi": "lam"}, "figure": figure(14.53e9)},
    ]  # fmt: skip
    return {"seed": 1, "path": path, "value": figure(14.53e9), "baselines": {"first": {}}, "machine": machine}


PEAKS = {"peak": {"value": 28.1e9, "low": None, "high": None, "source": "given"}}
KRONOS = {"price": 2490.0, "currency": "$", "peaks": PEAKS, "places": True}


def test_steps_that_have_a_figure_have_share_price_and_place() -> None:
    table = worth_table(result(KRONOS))
    assert table is not None
    assert table.heads == ["step", "GFLOPS", "of peak", "$/GFLOPS", "June 1993", "last list"]
    assert table.rows == [
        ["first", "10.60", "38 %", "235", "24, published", "November 1997: 417, published"],
        ["mpi=lam", "14.53", "52 %", "171", "8, published", "June 1998: 431, published"],
    ]
    assert worth_line(result(KRONOS)) == [
        "52 % of peak, $171/GFLOPS, June 1993: 8, published, last list: June 1998: 431, published."
    ]


@pytest.mark.parametrize(
    ("machine", "heads"),
    [
        ({**KRONOS, "places": False}, ["of peak", "$/GFLOPS"]),
        ({**KRONOS, "price": None, "places": False}, ["of peak"]),
        ({**KRONOS, "price": None, "peaks": {}}, ["June 1993", "last list"]),
    ],
)
def test_what_is_not_known_is_no_column(machine: dict[str, Any], heads: list[str]) -> None:
    table = worth_table(result(machine))
    assert table is not None
    assert table.heads[2:] == heads


def test_of_a_machine_of_which_nothing_is_known_nothing_is_said() -> None:
    assert worth_table(result(None)) is None
    assert worth_line(result(None)) == []
    assert machine_of(result(KRONOS), None) is None


def test_a_place_by_the_law_has_the_range_of_the_runs() -> None:
    wide = {**result(KRONOS), "value": {**figure(12e9), "low": 9e9, "high": 14e9}}
    assert "June 1993: about 1" in worth_line(wide)[0]
