"""Curves of several machines in one picture: latency, σ of cpu-rate and cpu-rate over the working set.

After R. G. Brown's figures of cpu-rate and its σ, which hold machines against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from string import ascii_lowercase

from wulf.core.records import Record
from wulf.measure.node.machines import Machine
from wulf.report.kit.figures import usable
from wulf.report.kit.view import Curve, Plot, Section
from wulf.report.node.sweeps import SweepCurve, latency_curves, rate_curve

SWEEPS: tuple[tuple[str, str, str, Callable[[Sequence[Record]], list[SweepCurve]]], ...] = (
    ("Latency", "latency", "s", latency_curves),
    ("σ of cpu-rate", "σ per operation", "s", partial(rate_curve, metric="deviation")),
    ("cpu-rate", "operations a second", "Hz", partial(rate_curve, metric="rate")),
)
"""What was swept, the axis with its unit, and the curves of a machine's records."""


def overlay_sections(machines: Sequence[Machine]) -> list[Section]:
    """A picture of each curve that two machines or more were swept for, and who was not."""
    sections = []
    for number, (what, axis, unit, curves_of) in enumerate(SWEEPS):
        swept = {machine.name: {one.name: one for one in curves_of(machine.points)} for machine in machines}
        for name in dict.fromkeys(name for own in swept.values() for name in own):
            drawn = [
                _curve(machine.name, own, ascii_lowercase[index % len(ascii_lowercase)])
                for index, machine in enumerate(machines)
                if (own := swept[machine.name].get(name)) is not None
            ]
            if len(drawn) < 2:
                continue
            pages = f", {name}" if curves_of is latency_curves else ""
            absent = [machine.name for machine in machines if name not in swept[machine.name]]
            lines = [f"Not swept: {', '.join(absent)}."] if absent else []
            key = f"overlay-{number}-{name.replace(' ', '-')}"
            plot = Plot(key, drawn, "working set", axis, "B", unit)
            sections.append(Section(f"{what} over the working set{pages}", lines, plot=plot))
    return sections


def _curve(name: str, swept: SweepCurve, mark: str) -> Curve:
    """A machine's points that have a value, with their intervals."""
    points = [(float(size), one, one.value) for size, one in swept.points if usable(one) and one.value]
    return Curve(
        name,
        [size for size, _, _ in points],
        [value for _, _, value in points],
        [value if one.low is None else one.low for _, one, value in points],
        [value if one.high is None else one.high for _, one, value in points],
        mark=mark,
    )
