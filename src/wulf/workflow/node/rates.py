"""Rates of a node out of a run, or measured here and now; published for programs to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wulf.cluster.inventory import Inventory
from wulf.core.errors import UsageError
from wulf.core.records import Record
from wulf.measure.node.rows import rows_of, table
from wulf.rates.errors import RatesError
from wulf.rates.machine import Identity, differences, identity, read_identity
from wulf.rates.places import VARIABLE
from wulf.rates.publishing import Published, publish, rates_of
from wulf.rates.rate import Rate
from wulf.rates.reading import load
from wulf.store.run import Facts, Run, utc_now

REPORTED = {"mem.l1.size": "cpu.l1d_size", "mem.l2.size": "cpu.l2_size", "mem.l3.size": "cpu.l3_size"}
"""Rates that the operating system reports, where they were not measured or could not be told: rate → fact."""


BUSY_LOAD = 0.5
"""Load per CPU from which on whoever publishes is told that the rates will be those of a busy machine."""


@dataclass(frozen=True)
class NodeRates:
    """The rates of one node, and whose they are; `here`: this machine's."""

    node: str
    here: bool
    machine: Identity
    rates: dict[str, Rate]


def of_run(run: Run, node: str | None = None) -> NodeRates:
    """The rates of one node of a finished run.

    Parameters
    ----------
    node
        Which; may be left out where the run has one.

    Raises
    ------
    UsageError
        The run has no such node, several and none was named, or no rows of the node survey.
    """
    rows = rows_of(run.records)
    if not rows:
        raise UsageError(f"run {run.id} holds no rows of a node", "`wulf node` measures them")
    if node is None and len(rows) > 1:
        raise UsageError(f"run {run.id} holds {len(rows)} nodes: {', '.join(rows)}", "choose one with --node")
    chosen = next(iter(rows)) if node is None else node
    if chosen not in rows:
        raise UsageError(f"run {run.id} holds no rows of {chosen}", f"nodes: {', '.join(rows)}")
    facts = run.fingerprint.get(chosen, {})
    here = (
        facts.get("kernel.boot_id", {}).get("value") == _boot_id() or chosen == Inventory.this_machine().nodes[0].name
    )
    return NodeRates(chosen, here, identity(facts), rates_with_sizes(rows[chosen], facts))


def _boot_id() -> str:
    """Read the identifier of this boot; empty, as no fact is, where it can't be read."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def rates_with_sizes(rows: Mapping[str, Record], facts: Facts) -> dict[str, Rate]:
    """The rows' rates; a cache's size is its measured edge, or where that is not resolved what is reported of it."""
    rates = rates_of(rows)
    at = max(rate.at for rate in rates.values())
    for name, fact in REPORTED.items():
        edge = rates.get(name)
        if edge is not None and edge.value is not None and edge.verdict in ("ok", "noisy"):
            continue
        rates[name] = _reported(name, facts.get(fact, {}), facts.get(f"{fact}s", {}).get("value"), at, edge)
    return rates


def _reported(name: str, fact: Mapping[str, Any], several: str | None, at: str, edge: Rate | None) -> Rate:
    """A size as reported; the reason says why it was not measured.

    Parameters
    ----------
    several
        Of a hybrid processor every size with its CPUs, "32768:8-15 49152:0-7": a block has to fit them all.
    """
    why = edge.reason if edge is not None and edge.reason else "its edge was not measured"
    value = fact.get("value")
    if value is None and several:
        value = min(int(word.partition(":")[0]) for word in several.split())
        why = f"{why}; the smallest of a hybrid processor's"
    if value is None:
        reason = f"{why}; {fact.get('reason', 'and the operating system does not report it')}"
        return Rate(name, None, "B", None, None, None, at, "reported", "unresolved", reason)
    return Rate(name, float(value), "B", None, None, None, at, "reported", "ok", f"reported: {why}")


def check_is_here(rates: NodeRates, environ: Mapping[str, str]) -> None:
    """Refuse to publish another node's rates as this one's.

    Raises
    ------
    UsageError
        It is another node, or its hardware or kernel were others, and WULF_RATES names no file for them.
    """
    if environ.get(VARIABLE):
        return
    next_step = f"name the file for it in {VARIABLE}, and carry that to the node"
    if not rates.here:
        raise UsageError(f"{rates.node} is not this machine", next_step)
    if differing := differences(rates.machine, read_identity()):
        raise UsageError(f"this machine is not what it was when {rates.node} was measured: {'; '.join(differing)}")


def published(rates: NodeRates, path: Path) -> Published:
    """Write the rates (see `wulf.rates.publishing.publish`) under this host's name, or another node's under its own."""
    return publish(path, rates.rates, rates.machine, utc_now(), None if rates.here else rates.node)


def busy_note(load: float, cpus: int) -> str:
    """What to tell who measures on a busy machine; empty on an idle one. `load`: of the last minute, all CPUs'."""
    if load / cpus <= BUSY_LOAD:
        return ""
    return f"the load is {load:.1f} on {cpus} CPUs: what is measured now is not what the machine can do when it is idle"


def names_of_rates() -> list[str]:
    """The rates that can be measured one by one."""
    return [row.name for row in table().rows if not row.derived and not row.remote]


def known_rates(path: Path) -> Mapping[str, Rate]:
    """The rates that a file holds of this machine; none where it is not there, or not usable."""
    try:
        return load(path)
    except RatesError:
        return {}
