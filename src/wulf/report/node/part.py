"""What is reported of nodes by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.records import Record
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
        return f"{who}.{f' Typical: {figures}.' if figures else ''}"

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of rows, curves and matrices."""
        return (record for record in run.records if record.phase in (ROW, CURVE, MATRIX))

    def view(self, run: Run) -> Sequence[Section]:
        """Rows, working sets, cores, noise and machines."""
        return node_sections(run)


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
