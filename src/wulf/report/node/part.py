"""What is reported of nodes by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.names import plural
from wulf.core.records import Record
from wulf.findings.node.fleet import FLEET
from wulf.measure.node.culprits import PROBE
from wulf.measure.node.rows import CURVE, MATRIX, ROW
from wulf.report.kit.matrices import run_nodes
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Section
from wulf.report.node.culprits import answer, culprit_sections
from wulf.report.node.sections import node_sections, typical
from wulf.store.run import Run


class Nodes(Part):
    """The rows of the node survey, with its curves and matrices."""

    place = 70

    def answer(self, run: Run) -> str:
        """Whether a node deviates, and what a node typically reaches."""
        if not any(record.row for record in run.records):
            return ""
        nodes, figures = run_nodes(run), typical(run)
        who = f"None of {len(nodes):,} nodes deviates" if len(nodes) > 1 else f"{nodes[0]} was measured"
        who = _beside_the_fleet(run, nodes) or who
        return f"{who}.{f' Typical: {figures}.' if figures else ''}"

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of rows, curves and matrices."""
        return (record for record in run.records if record.phase in (ROW, CURVE, MATRIX))

    def view(self, run: Run) -> Sequence[Section]:
        """Rows, working sets, cores, noise and machines."""
        return node_sections(run)


def _beside_the_fleet(run: Run, nodes: Sequence[str]) -> str:
    """Whether a single node is as fast as others of its hardware; empty where that was not asked."""
    found = next((one for one in run.findings if one.about.get(FLEET)), None)
    if found is None or len(nodes) > 1:
        return ""
    slow, of, least = int(found.about["slow"]), int(found.about["of"]), found.evidence[0]
    as_fast = f"{nodes[0]} is as fast as the fleet in {of - slow:,} of {plural(of, 'figure')}"
    return f"{as_fast}; {least.row} reaches {found.about['share']:.0%}" if slow else as_fast


class Culprits(Part):
    """Who took the CPUs, where detours were traced."""

    place = 71

    def answer(self, run: Run) -> str:
        """What the noisiest CPU loses, and to whom."""
        return answer(run.records)

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the probe and of its culprits."""
        return (record for record in run.records if record.params.get("pattern") == PROBE)

    def view(self, run: Run) -> Sequence[Section]:
        """The table by culprit, and the worst detours."""
        return culprit_sections(run.records)


PARTS = (Nodes(), Culprits())
