"""Curves of several machines in one picture: latency, σ of cpu-rate and cpu-rate over the working set.

After R. G. Brown's figures of cpu-rate and its σ, which hold machines against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from string import ascii_lowercase

from wulf.core.records import Record
from wulf.measure.node.machines import Machine
from wulf.report.kit.matrices import record_curve
from wulf.report.kit.view import Plot, Section
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
                record_curve(machine.name, dict(own.points), ascii_lowercase[index % len(ascii_lowercase)])
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
