"""What is reported of an audit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from wulf.report.kit.parts import Block, Part
from wulf.report.kit.view import Item
from wulf.report.tune.audit import METHOD, audit_section, headline, is_audit, print_audit
from wulf.store.run import Run


class Audit(Part):
    """The checklist, and every setting."""

    place = 10
    without_records = True
    no_fact = "An audit holds settings against each other; `wulf survey` does so with facts."

    def holds(self, run: Run) -> bool:
        """Whether it is an audit."""
        return is_audit(run)

    def headline(self, run: Run) -> str:
        """Who was audited, and how much of each kind was found."""
        return headline(run)

    def method(self, run: Run) -> Sequence[Item]:
        """How an audit comes about."""
        return [Item(head, text) for head, text in METHOD]

    def print(self, run: Run, console: Console) -> None:
        """Checklist and settings."""
        print_audit(run, console)

    def block(self, run: Run) -> Block | None:
        """Checklist and settings."""
        found = audit_section(run)
        links = [("audit", "Checklist"), ("settings", "Settings")]
        return None if found is None else Block("audit.html.j2", found, links)


PARTS = (Audit(),)
