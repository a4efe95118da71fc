"""What each step of a search's path makes of the machine: share of its peak, price of a GFLOPS, place on the Top500."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wulf.model.cost import MachineSpec, Sourced, from_interval
from wulf.report.kit.view import Columns
from wulf.report.model.steps import steps_table, worth_cells, worth_heads
from wulf.search.space import configuration_text

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


def step_name(result: Object, number: int) -> str:
    """What a step of the path changed; the first one is where it begins."""
    return configuration_text(result["path"][number]["changed"]) if number else str(next(iter(result["baselines"])))


def worth_table(result: Object) -> Columns | None:
    """Every step of the path that has a figure, as table 1 of the Kronos cluster; None where nothing is known."""
    machines = [machine_of(result, step.get("figure")) for step in result["path"]]
    steps = [(step_name(result, at), one) for at, one in enumerate(machines) if one is not None]
    return steps_table(steps, result["machine"]["currency"], places=result["machine"]["places"]) if steps else None


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
