"""What is reported of nodes by themselves."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from wulf.core.names import plural
from wulf.core.records import Record
from wulf.report.kit.matrices import run_nodes
from wulf.report.kit.parts import Block, Part
from wulf.report.node.page import node_section
from wulf.report.node.table import is_tabled, print_node_tables
from wulf.store.run import Run


class Nodes(Part):
    """The rows of the node survey, with its curves and matrices."""

    place = 70

    def all_well(self, run: Run) -> str:
        """Of all rows."""
        if not any(record.row for record in run.records):
            return ""
        nodes = len(run_nodes(run))
        return f"The figures of {plural(nodes, 'node')} were measured{'; none deviates' if nodes > 1 else ''}."

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of rows, curves and matrices."""
        return filter(is_tabled, run.records)

    def print(self, run: Run, console: Console) -> None:
        """The tables."""
        print_node_tables(run, console)

    def block(self, run: Run) -> Block | None:
        """The sections on rows, working sets, cores, noise and machines."""
        content, charts = node_section(run)
        if content is None:
            return None
        return Block(
            "node.html.j2", content, content["links"], charts, style="node.css", script="node.js", covers_records=True
        )


PARTS = (Nodes(),)
