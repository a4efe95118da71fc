"""Any command: its figure is the wall time, or a number that a regular expression finds in its output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from wulf.apps.driver import Check, Figure, OutputReading
from wulf.apps.ran import WALL, Read
from wulf.core.errors import UsageError
from wulf.core.pattern import Pattern

FIGURE = "figure"
"""What the number is called that a regular expression finds."""


def pattern_of(text: str, option: str, groups: int) -> Pattern:
    """A regular expression of the user's, each line for itself.

    Raises
    ------
    UsageError
        It is none, or has too few groups in parentheses.
    """
    try:
        pattern = Pattern(text)
    except ValueError as error:
        raise UsageError(
            f"{option} {text!r} is no regular expression: {error}",
            "quote it for the shell; it is read as RE2 reads it, without lookaround and backreferences",
        ) from error
    if pattern.groups < groups:
        raise UsageError(
            f"{option} {text!r} has no group for the number",
            "put the number's place in parentheses: 'GFLOPS: ([0-9.e+]+)'",
        )
    return pattern


def reader(
    figure: str | None, unit: str, better: Literal["higher", "lower"], checks: Sequence[str] = ()
) -> tuple[Read, str]:
    """What reads a command's output, and the name of its main figure.

    Parameters
    ----------
    figure
        Regular expression whose first group is the number; of several matches the last one counts. None: wall time.
    checks
        Regular expressions that must be found in the output of a right answer.

    Raises
    ------
    UsageError
        One of them is no regular expression, or has no group.
    """
    wanted = pattern_of(figure, "--figure", 1) if figure else None
    needed = [(text, pattern_of(text, "--check", 0)) for text in checks]

    def read(stdout: str, _files: Mapping[str, str]) -> OutputReading:
        found = () if wanted is None else (_number(wanted, stdout, unit, better),)
        return OutputReading(found, tuple(_check(text, pattern, stdout) for text, pattern in needed))

    return read, WALL if wanted is None else FIGURE


def _number(pattern: Pattern, text: str, unit: str, better: Literal["higher", "lower"]) -> Figure:
    found = None
    for _, group, *_ in pattern.matches(text):
        found = group  # the last one counts
    if found is None:
        return Figure(FIGURE, unit, None, better, f"its output has nothing that {pattern.text!r} matches")
    try:
        return Figure(FIGURE, unit, float(found.replace(",", "")), better)
    except ValueError:
        return Figure(FIGURE, unit, None, better, f"its output has {found!r} where {pattern.text!r} looks")


def _check(text: str, pattern: Pattern, stdout: str) -> Check:
    passed = pattern.found(stdout)
    return Check("output", passed, f"{text!r} is {'there' if passed else 'not in its output'}")
