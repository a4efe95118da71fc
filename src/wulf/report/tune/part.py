"""What is reported of an audit."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.report.kit.parts import Part
from wulf.report.kit.view import Item, Section
from wulf.report.tune.audit import METHOD, audit_sections, headline, is_audit
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
        return METHOD

    def view(self, run: Run) -> Sequence[Section]:
        """Checklist and settings."""
        return audit_sections(run)


PARTS = (Audit(),)
