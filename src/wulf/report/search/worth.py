"""What each step of a search's path makes of the machine: share of its peak, price of a GFLOPS, place on the Top500."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wulf.model.cost import MachineSpec, Sourced, from_interval
from wulf.report.model.steps import worth_cells, worth_heads

Object = Mapping[str, Any]
"""As search.json has it."""


def machine_of(result: Object, figure: Object | None) -> MachineSpec | None:
    """The machine with this figure for its rate; None where nothing is known of it, or there is no figure."""
    told = result.get("machine")
    if not told or figure is None or figure["value"] is None:
        return None
    random = np.random.default_rng(result["seed"])
    peaks = {name: _sourced(peak, peak["source"], random) for name, peak in told["peaks"].items()}
    return MachineSpec(_sourced(figure, "the search's runs", random), told["price"], peaks=peaks)


def _sourced(figure: Object, words: str, random: np.random.Generator) -> Sourced:
    return Sourced(from_interval(figure["value"], figure["low"], figure["high"], random), words)


def worth_columns(result: Object, steps: Sequence[Object]) -> tuple[list[str], list[list[str]]]:
    """Heads, and a row for each step; empty where nothing is known of the machine."""
    machines = [machine_of(result, step["figure"]) for step in steps]
    there = [one for one in machines if one is not None]
    if not there:
        return [], [[] for _ in steps]
    told = result["machine"]
    heads = worth_heads(there, told["currency"], places=told["places"])
    return heads, [
        ["–"] * len(heads) if one is None else worth_cells(one, there, places=told["places"]) for one in machines
    ]


def worth_line(result: Object) -> list[str]:
    """The best configuration at the full size, in a sentence."""
    machine = machine_of(result, result["value"])
    if machine is None:
        return []
    told = result["machine"]
    heads = worth_heads([machine], told["currency"], places=told["places"])
    cells = worth_cells(machine, [machine], places=told["places"])
    words = [_told(head, cell, told["currency"]) for head, cell in zip(heads, cells, strict=True)]
    return [f"{', '.join(words)}."] if words else []


def _told(head: str, cell: str, currency: str) -> str:
    if head.startswith("of "):
        return f"{cell} {head}"
    return f"{currency}{cell}/GFLOPS" if head == f"{currency}/GFLOPS" else f"{head}: {cell}"
