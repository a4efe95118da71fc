"""`wulf node --noise --why`: who took each CPU from a loop that watches the time, on every node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wulf.core.errors import UsageError
from wulf.core.records import Param, Record
from wulf.findings.node.noise import noise_findings
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import NODE, Probe
from wulf.measure.node.cells import spread
from wulf.measure.node.cost import most_seconds
from wulf.measure.node.culprits import PROBE, culprit_records
from wulf.measure.node.shape import shape_of
from wulf.store.run import Facts, read_run, utc_now
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study

LOOKS = (10,)
"""Replicates of every CPU: noise has no width to be reached, so that the time is known beforehand."""

SECONDS, QUICK_SECONDS = 1.0, 0.4
"""Of a replicate, half of it traced: a tick of 100 Hz comes 50, or 20, times."""

MOST_CPUS = 16
"""Of a node, where none are named: neighbours in twos, evenly apart."""


def chosen_cpus(text: str | None) -> tuple[int, ...] | None:
    """`0,2-5`; None: some of every node. `all` is an empty tuple.

    Raises
    ------
    UsageError
        It is no list of CPUs.
    """
    from wulf.agent.cpulist import parse

    if text is None or text.strip() == "all":
        return None if text is None else ()
    try:
        found = tuple(dict.fromkeys(parse(text)))
    except ValueError:
        found = ()
    if not found:
        raise UsageError(f"--cpus {text!r} is no list of CPUs", "write 0,2-5, or all")
    return found


class NoiseCulprits(Study):
    """Detours of the CPUs of every node, and who caused them.

    Parameters
    ----------
    cpus
        Those of every node; None: at most `MOST_CPUS` of each; empty: all.
    """

    programs = (NODE,)

    def __init__(self, given: Conditions, probe: Probe, *, cpus: Sequence[int] | None = None) -> None:
        super().__init__(given)
        self.effort = replace(given.effort, patience=LOOKS)
        seconds = QUICK_SECONDS if given.effort.quick else SECONDS
        self._pattern, self._asked = probe.pattern(PROBE), cpus
        self._params = probe.check(PROBE, "", {"seconds": seconds})
        self._fingerprint: Mapping[str, Facts] = {}
        self._cells: tuple[Cell, ...] = ()

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """One a CPU of every node that has the program."""
        self._fingerprint = connected.fingerprint
        places = [
            (node, cpu)
            for node in connected.others.get(NODE, {})
            for cpu in self._cpus(connected.fingerprint.get(node, {}))
        ]
        made = [self._cell(number, node, cpu) for number, (node, cpu) in enumerate(places)]
        self._cells = tuple(made)
        seconds = most_seconds(made, connected.hosts, self.effort.looks[-1])
        self.given.watch.say(f"{len(made):,} CPUs, about {seconds:.0f} s")
        return made

    def _cell(self, number: int, node: str, cpu: int) -> Cell:
        name, metrics = self._pattern.name, self._pattern.metrics
        params: dict[str, Param] = {**self._params, "cpu": cpu}
        return Cell(number, node, node, "", name, params, metrics, program=NODE, name=f"cpu {cpu}")

    def _cpus(self, facts: Facts) -> Sequence[int]:
        known = shape_of(facts).cpus
        if self._asked is None:
            return spread(known, MOST_CPUS)
        return self._asked or known

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What each culprit took, and what stands out of that."""
        writer = self.given.writer
        more = culprit_records(self._cells, read_run(writer.path).replicates, writer.id, utc_now())
        return more, noise_findings([*records, *more], self._fingerprint)
