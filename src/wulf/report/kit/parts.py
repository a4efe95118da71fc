"""What each feature adds to the report of a run, on the terminal and on the page.

A room of wulf.report that has something to say of a run has a module `part` with PARTS; it is found there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from wulf.core.records import Record
from wulf.report.kit.rooms import of_rooms
from wulf.report.kit.view import Item, Section
from wulf.store.run import Run


class Part:
    """What one feature says of a run; a run that holds nothing of it gets nothing.

    Attributes
    ----------
    place
        Among all parts, from the top.
    without_records
        A run with this part, and no records, needs no table of them.
    no_fact
        What is said where no fact deviates.
    told
        Kinds of findings that its sections say, so that they don't stand above, too.
    """

    place = 100
    without_records = False
    no_fact = ""
    told: Sequence[str] = ()

    def holds(self, run: Run) -> bool:
        """Whether the run is this part's alone: its headline, method and words stand for the whole run."""
        return False

    def headline(self, run: Run) -> str:
        """The one sentence that a person should take away, of a run that is this part's alone."""
        return ""

    def method(self, run: Run) -> Sequence[Item]:
        """How it came about, of a run that is this part's alone: headings with a sentence each."""
        return ()

    def answer(self, run: Run) -> str:
        """What a run in which nothing stands out says, with its figures; empty where it is not this part's to say."""
        return ""

    def shown(self, run: Run) -> Iterable[Record]:
        """The records that its sections show, or sum up: they are not printed one by one."""
        return ()

    def view(self, run: Run) -> Sequence[Section]:
        """Its sections of the report, on the terminal and on the page."""
        return ()


@cache
def parts() -> tuple[Part, ...]:
    """Those of all rooms, from the top."""
    found = [part for module in of_rooms("part") for part in module.PARTS]
    return tuple(sorted(found, key=lambda part: part.place))


def whole_part(run: Run) -> Part | None:
    """The part that the run is of alone; None where it is a run of figures."""
    return next((part for part in parts() if part.holds(run)), None)
