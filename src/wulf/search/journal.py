"""The journal: what was planned, and every trial with its outcome, durable before the next one begins.

One JSON object a line: the plan first. After kill -9 the last line may be torn: it is cut off, and that trial run anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

from wulf.core.errors import USAGE, UsageError, WulfError
from wulf.core.files import appending
from wulf.core.foreign import parse
from wulf.core.given import Unreadable, contents
from wulf.search.plan import SearchPlan, plan_object, plan_of
from wulf.search.strategy import SearchOutcome, search
from wulf.search.trial import Outcome, Run, Trial, line_of, read_line

NAME = "journal.jsonl"


LARGEST = 1 << 30
"""Bytes of a journal: a million runs of a search."""


class JournalError(WulfError):
    """It can't be written or read, or is of another search."""

    exit_code = USAGE


class Journal:
    """Appends trials. Use as a context manager.

    Parameters
    ----------
    path
        Of the file.
    about
        What else is needed to go on: what runs the trials, and how. With `plan` the first line of a new journal.

    Raises
    ------
    JournalError
        The file can't be made, or is there already.
    """

    def __init__(
        self, path: Path, plan: SearchPlan, about: Mapping[str, Any], recorded: list[tuple[Trial, Outcome]]
    ) -> None:
        self.path, self.plan, self.about, self.recorded = path, plan, about, recorded
        self._out: IO[bytes] | None = None

    @classmethod
    def begin(cls, path: Path, plan: SearchPlan, about: Mapping[str, Any]) -> Self:
        """A new one."""
        if path.exists():
            raise JournalError(f"{path} is there already", f"`wulf search resume {path.parent}` goes on with it")
        made = cls(path, plan, about, [])
        made._append({"plan": plan_object(plan), "about": dict(about)})
        return made

    @classmethod
    def resume(cls, path: Path) -> Self:
        """One that was begun; a torn last line is taken off.

        Raises
        ------
        JournalError
            It is not there, or one of its lines but the last is torn.
        """
        try:
            content = contents(path, LARGEST)
        except Unreadable as error:
            raise JournalError(f"{path} can't be read: {error}", "name the folder of a search") from error
        whole, _, torn = content.rpartition(b"\n")
        head, *lines = _objects(path, whole)
        try:
            recorded = [read_line(line) for line in lines]
            plan = plan_of(head["plan"])
        except (KeyError, TypeError, ValueError) as error:
            raise JournalError(f"{path} is no journal of a search: {error}", "name the folder of a search") from error
        if torn:
            try:
                with appending(path) as out:
                    out.truncate(len(whole) + 1)
            except OSError as error:
                raise JournalError(f"{path} can't be gone on with: {error.strerror}", "may you write there?") from error
        return cls(path, plan, head["about"], recorded)

    def append(self, trial: Trial, outcome: Outcome) -> None:
        """Write down what became of a trial: on disk when this returns. Raises JournalError on a full disk."""
        self._append(line_of(trial, outcome))

    def _append(self, line: Mapping[str, Any]) -> None:
        try:
            self._out = self._out or appending(self.path)
            self._out.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            os.fsync(self._out.fileno())
        except OSError as error:
            raise JournalError(
                f"{self.path} can't be written: {error.strerror}", "what was run before is kept; resume goes on"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._out is not None:
            self._out.close()


def _objects(path: Path, content: bytes) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            found.append(parse(line))
        except ValueError as error:
            raise JournalError(
                f"{path}:{number}: no JSON", "it was changed by hand, or the disk lost it: start the search anew"
            ) from error
    return found


def conduct(journal: Journal, run: Run) -> SearchOutcome:
    """The search, from wherever the journal left it to its end.

    Raises
    ------
    JournalError
        The journal is not what this plan leads to: it was changed, or written by another wulf.
    UsageError
        From `run`.
    """
    steps = search(journal.plan)
    recorded = iter(journal.recorded)
    try:
        trial = next(steps)
        while True:
            before = next(recorded, None)
            if before is None:
                outcome = run(trial)
                journal.append(trial, outcome)
            elif before[0] == trial:
                outcome = before[1]
            else:
                raise JournalError(
                    f"{journal.path}: trial {trial.number} is not the one that this search makes there",
                    "it was changed, or written by another version: start the search anew",
                )
            trial = steps.send(outcome)
    except StopIteration as end:
        found: SearchOutcome = end.value
        return found


def drive(plan: SearchPlan, run: Run) -> SearchOutcome:
    """A search in memory: nothing is written. Raises UsageError from `run`."""
    steps = search(plan)
    try:
        trial = next(steps)
        while True:
            trial = steps.send(run(trial))
    except StopIteration as end:
        found: SearchOutcome = end.value
        return found


__all__ = ["NAME", "Journal", "JournalError", "UsageError", "conduct", "drive"]
