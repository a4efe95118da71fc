"""What a cost is computed of: the rate, the power and the peaks that runs hold, and a file of candidate nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, isfinite
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from wulf.apps.linpack.peaks import KINDS, OfPeak
from wulf.cluster.inventory import expand
from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, toml_of
from wulf.core.records import Param, Record
from wulf.measure.engine.probes import MPI, NODE
from wulf.measure.node.machines import Machine, machines_of
from wulf.measure.node.rows import rows_of
from wulf.model.cost import GIGA, Candidate, MachineSpec, Sourced, from_interval, scaled, total
from wulf.model.draws import Uncertain, combine, known, mean_of
from wulf.report.kit.figures import usable
from wulf.search.history import CONFIRM
from wulf.search.trial import TRIAL
from wulf.store.run import Run

APPLICATION = "app"

FLOPS, WATTS = "flop/s", "W"
APPLICATIONS = (APPLICATION, MPI)
"""Probes whose flop/s are work done (`wulf app linpack` is wulf-mpi's), while those of others are peaks."""

PEAK_ROW, LOOP = "cpu.fma.double.all", "fma"
SHARE, MEASURED = "share.", "measured peak"

WHOLE = ("rate", "hpl.rate", "hpl rate")
"""Metrics of HPL, of HPCC's HPL, and of a search: of several rates the one that a machine is known by."""

KEYS = {"name", "price", "gflops", "seconds", "watts", "run", "node", "nodes"}
SPEEDS = ("gflops", "run", "seconds")

LEAST, MOST = 1e-100, 1e100
"""Of prices, watts, rates and times: within these their products and quotients are numbers."""

MOST_NODES = 10_000_000
"""Of a candidate."""

Load = Callable[[str], Run]
"""The run of a name."""


def rate_of(run: Run, random: np.random.Generator, metric: str | None = None) -> Sourced:
    """The rate that an application's run reached; of several cells the fastest, as Rmax is (it says so).

    Parameters
    ----------
    metric
        Which one, where the run has several in flop/s.

    Raises
    ------
    UsageError
        No application of the run has a rate, or it is not clear which is meant.
    """
    records = [one for one in run.records if one.unit == FLOPS and one.probe in APPLICATIONS]
    if not records:
        raise UsageError(
            f"run {run.id} has no application's rate in flop/s",
            "`wulf app hpl` and `wulf app linpack` measure one, or give --gflops",
        )
    name = _metric(run, sorted({one.metric for one in records}), metric)
    chosen = [one for one in records if one.metric == name]
    confirmed = [one for one in chosen if one.params.get("stage") == CONFIRM]
    if confirmed:
        return _of_search(run, confirmed, random)
    good = [one for one in chosen if usable(one) and one.value]
    if not good:
        raise UsageError(f"run {run.id}: {name} has no value: {chosen[0].reason}", "measure it again")
    best = max(good, key=lambda one: one.value or 0.0)
    which = f", the fastest of {len(good)} cells" if len(good) > 1 else ""
    runs = f"{best.replicates} run{'s' if best.replicates != 1 else ''}"
    return Sourced(_figure(best, random), f"run {run.id}: {name}, {runs}{which}")


def _metric(run: Run, names: Sequence[str], wanted: str | None) -> str:
    """Which metric is meant: the one given, HPL's, or the only one there is."""
    if wanted is not None and wanted not in names:
        raise UsageError(f"run {run.id} has no rate {wanted}", f"it has {', '.join(names)}")
    known = wanted or next((name for name in WHOLE if name in names), None)
    if known is None and len(names) > 1:
        raise UsageError(f"run {run.id} has several rates: {', '.join(names)}", "choose one with --metric")
    return known or names[0]


def _of_search(run: Run, confirmed: Sequence[Record], random: np.random.Generator) -> Sourced:
    """Of a search the winner's fresh runs: the fastest of all runs was chosen for being lucky, too."""
    found: dict[frozenset[tuple[str, Param]], list[float]] = {}
    for one in confirmed:
        if usable(one) and one.value:
            found.setdefault(_configuration(one), []).append(one.value)
    several = {name: values for name, values in found.items() if len(values) > 1}
    if not several:
        raise UsageError(f"run {run.id}: the search confirmed nothing by two runs or more", "resume it")
    values = max(several.values(), key=median)
    return Sourced(mean_of(values, random), f"run {run.id}: the search's winner, mean of {len(values)} fresh runs")


def _configuration(record: Record) -> frozenset[tuple[str, Param]]:
    """What was chosen for a trial of a search."""
    return frozenset((name, value) for name, value in record.params.items() if name not in TRIAL)


def _figure(record: Record, random: np.random.Generator) -> Uncertain:
    return from_interval(record.value or 0.0, record.low, record.high, random, record.confidence or 0.95)


def watts_of(run: Run, random: np.random.Generator) -> Sourced | None:
    """What the nodes drew while an application ran, all meters of all nodes together; None where none was read."""
    records = [one for one in run.records if one.unit == WATTS and one.probe == APPLICATION and usable(one)]
    if not records:
        return None
    meters = sorted({one.metric for one in records})
    drawn = total([_figure(one, random) for one in records])
    nodes = len({one.subject for one in records})
    return Sourced(drawn, f"run {run.id}: {', '.join(meters)}, {nodes} node{'s' if nodes != 1 else ''}")


def peaks_of(run: Run, random: np.random.Generator) -> dict[str, Sourced]:
    """The peaks that an application's run was held against: of base clock, of turbo, and measured.

    One that the run lacks is left out.
    """
    names = {f"{SHARE}{kind}" for kind in KINDS}
    shares = [one for one in run.records if one.metric in names and one.probe == APPLICATION]
    found: dict[str, Sourced] = {}
    for one in shares:
        of = one.said(OfPeak)
        name = f"{one.metric.removeprefix(SHARE)} peak"
        if of["peak"] and name not in found:
            found[name] = Sourced(known(of["peak"]), of.get("how") or f"run {run.id}")
    if MEASURED in found:
        found[MEASURED] = _measured_beside(run, random) or found[MEASURED]
    return found


def _measured_beside(run: Run, random: np.random.Generator) -> Sourced | None:
    """The sum over the nodes of what the loop of multiply-adds reached between the application's runs."""
    records = [one for one in run.records if one.probe == NODE and one.params.get("pattern") == LOOP]
    rates = {one.subject: one for one in records if one.metric == "rate" and usable(one)}
    nodes = nodes_of(run)
    if not nodes or any(node not in rates for node in nodes):
        return None
    return Sourced(total([_figure(rates[node], random) for node in nodes]), f"run {run.id}, multiply-adds")


def measured_peak(run: Run, nodes: Sequence[str], random: np.random.Generator) -> Sourced:
    """The FMA peaks that `wulf node` measured, summed over the nodes.

    Parameters
    ----------
    nodes
        Which; empty: all of the run.

    Raises
    ------
    UsageError
        A node has none.
    """
    rows = rows_of(run.records)
    wanted = list(nodes) or list(rows)
    lacking = [node for node in wanted if not usable_row(rows.get(node, {}).get(PEAK_ROW))]
    if lacking or not wanted:
        raise UsageError(
            f"run {run.id} has no measured peak of {', '.join(lacking[:5]) or 'any node'}",
            f"`wulf node --only {PEAK_ROW}` measures it on the nodes that you name",
        )
    drawn = total([_figure(rows[node][PEAK_ROW], random) for node in wanted])
    return Sourced(drawn, f"run {run.id}: multiply-add loop on {len(wanted)} node{'s' if len(wanted) != 1 else ''}")


def usable_row(record: Record | None) -> bool:
    """Whether there is a figure."""
    return record is not None and usable(record)


def nodes_of(run: Run) -> list[str]:
    """The nodes that an application of the run ran on."""
    subjects = dict.fromkeys(one.subject for one in run.records if one.probe in APPLICATIONS)
    return list(dict.fromkeys(node for subject in subjects for node in expand(subject.replace(">", ","))))


@dataclass(frozen=True)
class Market:
    """Candidates from a file, and where some were measured, these side by side."""

    candidates: tuple[Candidate, ...]
    measured: tuple[Machine, ...]
    basis: str


def market(path: Path, load: Load, random: np.random.Generator) -> Market:
    """Read candidate nodes.

    A TOML with one `[[candidate]]` each: `name`, `price`, and one of `gflops`, the `run` (and `node`) of `wulf node` in
    which it was measured, and `seconds` of your program, of one run or of several; perhaps `watts`. A candidate may be
    so many `nodes`: price, watts and rate are of one, seconds of all together. `[share]` says which part of your
    program's time on the first candidate goes to which row of `wulf node`; without it, and without seconds, a
    candidate's time is that of one flop.

    Raises
    ------
    UsageError
        Names file, candidate, field and what to do.
    """
    content = _toml(path)
    rows = content.get("candidate")
    if not isinstance(rows, list) or len(rows) < 2:
        raise UsageError(f"{path}: fewer than two [[candidate]]", "give two or more, the node that you have first")
    for number, row in enumerate(rows, 1):
        _check(path, number, row)
    _check_names(path, rows)
    share = _share(path, content.get("share", {}))
    machines = {str(row["name"]): _measured(path, row, load) for row in rows if "run" in row}
    if share and len(machines) < len(rows):
        lacking = next(str(row["name"]) for row in rows if "run" not in row)
        raise UsageError(f"{path}: [share] needs every candidate measured, and {lacking} has no run", "give its run")
    timed = ["seconds" in row for row in rows]
    if any(timed) and not all(timed):
        lacking = str(rows[timed.index(False)]["name"])
        raise UsageError(f"{path}: some candidates have seconds of your program, and {lacking} none", "time it there")
    rates = [_rate(path, row, machines.get(str(row["name"])), random) for row in rows]
    relative = (
        [
            scaled(
                shared_time(path, machines[str(row["name"])], next(iter(machines.values())), share),
                rows[0].get("nodes", 1) / row.get("nodes", 1),
            )
            for row in rows
        ]
        if share
        else [known(1.0), *(combine(np.divide, rates[0].figure, rate.figure) for rate in rates[1:])]
    )
    candidates = tuple(
        Candidate(str(row["name"]), _machine(row, rate), time, flops="seconds" not in row)
        for row, rate, time in zip(rows, rates, relative, strict=True)
    )
    basis = "your program's shares of time" if share else "your program's seconds" if all(timed) else "time of one flop"
    return Market(candidates, tuple(machines.values()), basis)


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return toml_of(path)
    except Unreadable as error:
        raise UsageError(
            f"can't read {path}: {error}", "name a TOML file with a [[candidate]] for each node"
        ) from error


def _check(path: Path, number: int, row: Any) -> None:
    """UsageError where a candidate is not as it should be."""
    where = f"{path}, candidate {number}"
    if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not row["name"]:
        raise UsageError(f"{where} has no name", 'write name = "…"')
    strange = sorted(set(row) - KEYS)
    if strange:
        raise UsageError(f"{where} ({row['name']}): {strange[0]} is not known", f"there are {', '.join(sorted(KEYS))}")
    if sum(name in row for name in SPEEDS) != 1:
        raise UsageError(f"{where} ({row['name']}) needs one of {', '.join(SPEEDS)}", "give one of them")
    if "price" not in row:
        raise UsageError(f"{where} ({row['name']}) has no price", "write price = 2490")
    for name in ("price", "gflops", "watts"):
        value = row.get(name, 1)
        if not _amount(value):
            raise UsageError(f"{where} ({row['name']}): {name} is {value!r}", "give a number above 0")
    nodes, seconds = row.get("nodes", 1), row.get("seconds", 1.0)
    if isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= MOST_NODES:
        raise UsageError(f"{where} ({row['name']}): nodes is {nodes!r}", "give a whole number above 0")
    several = seconds if isinstance(seconds, list) else [seconds]
    if not several or not all(_amount(one) for one in several):
        raise UsageError(f"{where} ({row['name']}): seconds is {seconds!r}", "give one number above 0, or several")


def _amount(value: Any) -> bool:
    """Whether it is a number above zero, of which products and quotients are finite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and LEAST <= value <= MOST


def _check_names(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    names = [row["name"] for row in rows]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise UsageError(f"{path}: two candidates are called {doubled}", "give each a name of its own")


def _share(path: Path, share: Any) -> dict[str, float]:
    numbers = isinstance(share, dict) and all(
        isinstance(v, int | float) and not isinstance(v, bool) and isfinite(v) and v >= 0 for v in share.values()
    )
    if not numbers:
        raise UsageError(f"{path}: [share] needs a number from 0 to 1 for each row", '"mem.triad" = 0.4, for example')
    if share and not isclose(sum(share.values()), 1.0, abs_tol=1e-6):
        raise UsageError(f"{path}: the shares add up to {sum(share.values()):g}", "all of the time is 1")
    return {name: float(value) for name, value in share.items()}


def _measured(path: Path, row: Mapping[str, Any], load: Load) -> Machine:
    node = None if row.get("node") is None else str(row["node"])
    return replace(measured_node(f"{path}, candidate {row['name']}", str(row["run"]), node, load),
                   name=str(row["name"]), price=float(row["price"]))  # fmt: skip


def measured_node(where: str, run: str, node: str | None, load: Load) -> Machine:
    """A candidate as a run of `wulf node` measured it.

    Raises
    ------
    UsageError
        The run has no such node, or it is not clear which is meant.
    """
    found = machines_of({run: load(run)}, {})
    chosen = [one for one in found if node in (None, one.name)]
    if len(chosen) != 1:
        there = ", ".join(one.name for one in found) or "no node that `wulf node` measured"
        raise UsageError(f"{where}: run {run} has {there}", "say which with node = …")
    return chosen[0]


def rate_row(where: str, run: str, measured: Machine, random: np.random.Generator) -> Sourced:
    """The rate of all of a measured node's multiply-adds.

    Raises
    ------
    UsageError
        It has none.
    """
    record = measured.rows.get(PEAK_ROW)
    if record is None or not usable(record):
        why = record.reason if record else "not measured"
        raise UsageError(
            f"{where}: run {run} has no {PEAK_ROW}: {why}",
            f"measure it: wulf node --only {PEAK_ROW}",
        )
    return Sourced(_figure(record, random), f"run {run}, {PEAK_ROW}")


def _rate(path: Path, row: Mapping[str, Any], measured: Machine | None, random: np.random.Generator) -> Sourced:
    nodes = row.get("nodes", 1)
    if "seconds" in row:
        return Sourced(combine(np.reciprocal, time_of(row["seconds"], random)), "runs a second")
    if measured is None:
        return Sourced(known(float(row["gflops"]) * GIGA * nodes))
    one = rate_row(f"{path}, candidate {row['name']}", str(row["run"]), measured, random)
    return one if nodes == 1 else Sourced(scaled(one.figure, nodes), f"{one.source}, on {nodes} nodes")


def time_of(given: float | list[float], random: np.random.Generator) -> Uncertain:
    """One time is known, of several runs the mean, above zero."""
    several = [float(one) for one in given] if isinstance(given, list) else [float(given)]
    if len(several) == 1:
        return known(several[0])
    mean = mean_of(several, random)
    return Uncertain(mean.value, np.maximum(mean.draws, min(several) * 1e-3))


def shared_time(path: Path, one: Machine, first: Machine, share: Mapping[str, float]) -> Uncertain:
    """Time for the work that the first machine does in 1: the rows' times, by their shares."""
    took = 0.0
    for row, part in share.items():
        own, base = one.time(row), first.time(row)
        if own is None or base is None:
            lacks = one.name if own is None else first.name
            raise UsageError(f"{path}, [share]: {lacks} has no time of {row}", "`wulf node --list` names the rows")
        took += part * own.value / base.value
    return known(took)


def _machine(row: Mapping[str, Any], rate: Sourced) -> MachineSpec:
    nodes = row.get("nodes", 1)
    watts = Sourced(known(float(row["watts"]) * nodes)) if "watts" in row else None
    return MachineSpec(rate, float(row["price"]) * nodes, watts)
