"""What became of one run of an application: verdict, figures, and why there is none. A wrong answer is never fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wulf.apps.driver import Check, Figure, OutputReading

OK, WRONG, TIMEOUT, FAILED, NO_FIGURE = "ok", "wrong", "timeout", "failed", "no-figure"
"""Verdicts of a run: right and measured; a check failed; ended for its time; ended badly; says no figure."""

WALL = "wall"
"""The figure that every run has: seconds from its start to its end, its launcher's time included."""

LAST_WORDS = 3
"""Lines of its last words that a reason quotes."""

MOST_WORDS = 300

Read = Callable[[str, Mapping[str, str]], OutputReading]
"""What an output says: `Driver.read`, or one for any command."""


@dataclass(frozen=True)
class Ran:
    """Everything of one run.

    Attributes
    ----------
    verdict
        OK, WRONG, TIMEOUT, FAILED, NO_FIGURE.
    reason
        Why it is not OK, for a person; empty where it is.
    figures
        The main one first, the wall time last; without values unless the run is OK.
    checks, facts
        As its output has them.
    seconds
        Of wall-clock time, whatever became of it; None where it could not be started.
    counters
        Node → what it counted meanwhile.
    usage
        CPU seconds and memory that it used on the node where it was started. Linux counts a program's memory from the
        process that it was forked from: it is no less than the agent's own.
    notes
        What a reader should know though it is no fault: that its output was too long to be kept.
    stdout, stderr, files
        As far as they were kept.
    """

    verdict: str
    reason: str
    figures: tuple[Figure, ...]
    checks: tuple[Check, ...] = ()
    facts: Mapping[str, str | float] = field(default_factory=dict)
    seconds: float | None = None
    counters: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stdout: str = ""
    stderr: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def figure(self, name: str | None = None) -> Figure | None:
        """The figure of this name; the main one without a name."""
        return next((figure for figure in self.figures if name in (None, figure.name)), None)

    @property
    def value(self) -> float | None:
        """The main figure's value; None unless the run is OK."""
        return self.figures[0].value if self.figures else None


def judge(answer: Mapping[str, Any], read: Read, main: str) -> Ran:
    """What the agent's answer to `app_run` amounts to.

    Parameters
    ----------
    read
        Reads standard output and files.
    main
        The name of the figure that the run is made for; `WALL` where the program has none of its own.
    """
    if "error" in answer:
        return Ran(FAILED, f"it can't be started: {answer['error']}", ())
    reading = read(answer["stdout"], answer["files"])
    wall = Figure(WALL, "s", answer["seconds"], "lower", "" if answer["seconds"] is not None else "it was killed")
    figures = _main_first((*reading.figures, wall), main)
    verdict, reason = _verdict(answer, reading, figures, main)
    if verdict != OK:
        figures = tuple(replace(figure, value=None, reason=reason) for figure in figures)
    return Ran(
        verdict, reason, figures, reading.checks, reading.facts, answer["seconds"], answer.get("counters", {}),
        answer.get("usage", {}), _notes(answer), answer["stdout"], answer["stderr"], answer["files"],
    )  # fmt: skip


def _main_first(figures: tuple[Figure, ...], main: str) -> tuple[Figure, ...]:
    return (*(f for f in figures if f.name == main), *(f for f in figures if f.name != main))


def _verdict(
    answer: Mapping[str, Any], reading: OutputReading, figures: tuple[Figure, ...], main: str
) -> tuple[str, str]:
    ended = _ended_badly(answer)
    if ended:
        return ended
    failed = [check for check in reading.checks if not check.passed]
    if failed:
        return WRONG, f"its answer is wrong: {'; '.join(f'{check.name}: {check.said}' for check in failed)}"
    if figures[0].name != main:
        return NO_FIGURE, f"its output has no {main}"
    return (OK, "") if figures[0].value is not None else (NO_FIGURE, figures[0].reason)


def _ended_badly(answer: Mapping[str, Any]) -> tuple[str, str] | None:
    if answer["timed_out"]:
        return TIMEOUT, f"it did not end in time, and was ended after {answer['seconds'] or 0.0:.3g} s"
    if answer["signal"]:
        return FAILED, f"it was killed by {answer['signal']}{_last_words(answer)}"
    if answer["status"] != 0:
        return FAILED, f"it ended with status {answer['status']}{_last_words(answer)}"
    return None


def _last_words(answer: Mapping[str, Any]) -> str:
    """The end of what it wrote, standard error first, as the end of a sentence."""
    text = answer["stderr"].strip() or answer["stdout"].strip()
    lines = [line.strip() for line in text.splitlines() if line.strip(" -=\t")][-LAST_WORDS:]
    return f"; its last words: {' / '.join(lines)[-MOST_WORDS:]}" if lines else ""


def _notes(answer: Mapping[str, Any]) -> tuple[str, ...]:
    if not answer.get("flooded"):
        return ()
    written = sum(answer["bytes"].values())
    return (f"it wrote {written / 1e6:.3g} MB, of which the first and the last part were kept",)
