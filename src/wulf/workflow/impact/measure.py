"""One visit of an arm: the network's own figures, then the application; and once an arm its profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from wulf.apps.driver import Figure
from wulf.apps.ran import OK, WALL, Ran
from wulf.core.pattern import Pattern
from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.runner import Sink
from wulf.model.impact import Quantity, Visit
from wulf.store.run import utc_now
from wulf.workflow.impact.profile import Profiled, Run, Take


class Yardstick(Protocol):
    """A figure of the network, measured in the configuration that is there (`workflow.tune.measures.NetMeasure`)."""

    @property
    def cells(self) -> Sequence[Cell]: ...

    def __call__(self, about: Mapping[str, Param]) -> float | None: ...


@dataclass(frozen=True)
class ArmsYardstick:
    """A figure of the network that each arm measures by a yardstick of its own."""

    sticks: Mapping[str, Yardstick]

    @property
    def cells(self) -> Sequence[Cell]:
        """Of all arms."""
        return [cell for stick in self.sticks.values() for cell in stick.cells]

    def __call__(self, about: Mapping[str, Param]) -> float | None:
        """By the arm's own."""
        return self.sticks[str(about["arm"])](about)


class ImpactMeasure:
    """Measures one arm after the other, and keeps what it saw.

    Parameters
    ----------
    run
        The application, once.
    figure
        What it is judged by.
    yardsticks
        Figures of the network, by quantity.
    take
        Takes a profile; None: none is wanted.
    answer
        What of its output must not depend on the network; None: nothing is compared.
    subject, command
        What records say of the nodes and of the application.
    """

    def __init__(
        self, run: Run, figure: Quantity, yardsticks: Mapping[Quantity, Yardstick], sink: Sink, *,
        take: Take | None = None, answer: Pattern | None = None, subject: str = "", command: str = "",
    ) -> None:  # fmt: skip
        self._run, self._take, self._answer, self._sink = run, take, answer, sink
        self._figure, self._yardsticks = figure, dict(yardsticks)
        self._subject, self._command = subject, command
        self.visits: list[Visit] = []
        self.profiles: dict[str, Profiled] = {}
        self.notes: dict[str, None] = {}
        self._figures: dict[str, Quantity] = {}

    @property
    def figures(self) -> list[Quantity]:
        """All figures of the application's output, and its wall time; empty where it has not several of its own."""
        own = self._figures.keys() - {WALL}
        return list(self._figures.values()) if len(own) > 1 else []

    @property
    def quantities(self) -> list[Quantity]:
        """The application's first, then the network's."""
        return [self._figure, *self._yardsticks]

    @property
    def cells(self) -> list[Cell]:
        """What the network's figures were measured by."""
        return [cell for one in self._yardsticks.values() for cell in one.cells]

    def __call__(self, about: Mapping[str, Param]) -> float | None:
        """The application's figure; what failed is kept as such, and the next visit follows."""
        arm = str(about["arm"])
        network = {quantity.name: stick(about) for quantity, stick in self._yardsticks.items()}
        ran = self._run({})
        values = {one.name: one.value for one in ran.figures} | network
        self._figures |= {one.name: Quantity(one.name, one.unit, one.better == "lower") for one in ran.figures}
        values[self._figure.name] = ran.value if ran.verdict == OK else None
        self.visits.append(Visit(int(str(about["block"])), arm, values, ran.verdict, ran.reason, self._answer_of(ran)))
        self.notes |= dict.fromkeys(ran.notes)
        self._record(ran, about)
        for one in ran.figures[1:]:
            self._record_figure(one, ran, about)
        if self._take is not None and arm not in self.profiles and ran.verdict == OK:
            self.profiles[arm] = self._take(self._run)
        return ran.value

    def _answer_of(self, ran: Ran) -> str | None:
        """What the output says where the pattern looks, its groups or all of it; None where it does not look."""
        if self._answer is None or ran.verdict != OK:
            return None
        text = "\n".join([ran.stdout, *ran.files.values()])
        found = [" ".join(groups or (whole,)) for whole, *groups in self._answer.matches(text)]
        return " | ".join(found) if found else "nothing that the pattern finds"

    def _record(self, ran: Ran, about: Mapping[str, Param]) -> None:
        self._sink.append(
            Record(
                run=self._sink.id, subject=self._subject or "application", probe="app", metric=self._figure.name,
                unit=self._figure.unit, params={"command": self._command, **about}, value=ran.value,
                replicates=int(ran.value is not None), statistic="one run",
                samples=[] if ran.value is None else [ran.value],
                verdict=Verdict.OK if ran.verdict == OK else Verdict.FAILED,
                reason=ran.reason or None, counters=dict(ran.counters), at=utc_now(),
            )
        )  # fmt: skip

    def _record_figure(self, figure: Figure, ran: Ran, about: Mapping[str, Param]) -> None:
        """Of those beside the main one; why a run has none stands in the main one's record."""
        if figure.value is not None and ran.verdict == OK:
            self._sink.append(
                Record(
                    run=self._sink.id, subject=self._subject or "application", probe="app", metric=figure.name,
                    unit=figure.unit, params={"command": self._command, **about}, value=figure.value, replicates=1,
                    statistic="one run", samples=[figure.value], verdict=Verdict.OK, at=utc_now(),
                )
            )  # fmt: skip


def figure_of(main: str, unit: str, *, higher: bool) -> Quantity:
    """The application's quantity; the wall time in words."""
    return (
        Quantity("application, wall time", "s") if main == WALL else Quantity(f"application, {main}", unit, not higher)
    )
