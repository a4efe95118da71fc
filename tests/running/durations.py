"""What each test took the last times it passed, kept in build/tests-cache: `make test-changed` plans its time by it.

A plugin of pytest, which keeps it after each run. Tests of one function are one entry, whatever their parameters. What
is marked `full` is left out: it is not run when a file is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from tests import caches

KEPT = caches.CACHE / "durations.json"
COMMANDS = "commands"
TIMES = 5
"""So many of a test's last runs are kept: it counts with their median, for a machine has other work at times."""


@dataclass(frozen=True)
class Taken:
    """What a function's tests took together.

    Attributes
    ----------
    commands
        Words of `pytest.mark.command`, such as "net pingpong".
    times
        Seconds of the last runs, of which `seconds` is the median.
    """

    seconds: float
    tests: int = 1
    commands: tuple[str, ...] = ()
    times: tuple[float, ...] = ()

    def __add__(self, other: Taken) -> Taken:
        return Taken(
            self.seconds + other.seconds,
            self.tests + other.tests,
            tuple(sorted({*self.commands, *other.commands})),
        )


Durations = dict[str, dict[str, Taken]]
"""Test file, below the project's root; function, after its class if it has one; what its tests took."""


def place(nodeid: str) -> tuple[str, str]:
    """File and function of a test."""
    file, _, rest = nodeid.partition("::")
    return file, rest.partition("[")[0].partition("@")[0]  # pytest-xdist adds @GROUP


def read(path: Path = KEPT) -> Durations:
    """What was kept; nothing where there is none, or where it cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            file: {
                name: Taken(median(times), tests, tuple(commands), tuple(times))
                for name, (times, tests, commands) in functions.items()
            }
            for file, functions in content.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def merged(old: Durations, new: Durations, sources: Mapping[str, str]) -> Durations:
    """What is kept after a run.

    Parameters
    ----------
    sources
        Test file → source, of all that there are; what a file that was run no longer defines is dropped.
    """
    both = {file: dict(functions) for file, functions in old.items() if file in sources}
    for file in new.keys() & sources.keys():
        before = both.get(file, {})
        after = {**before, **{name: _after(before.get(name), taken) for name, taken in new[file].items()}}
        both[file] = {name: taken for name, taken in after.items() if defines(sources[file], name)}
    return both


def _after(before: Taken | None, now: Taken) -> Taken:
    times = (*(before.times if before else ()), round(now.seconds, 3))[-TIMES:]
    return Taken(median(times), now.tests, now.commands, times)


def defines(source: str, function: str) -> bool:
    """Whether a file's source has a function or method of that name."""
    return re.search(rf"^\s*(?:async )?def {re.escape(function.rpartition('::')[2])}\(", source, re.M) is not None


def keep(new: Durations, root: Path = caches.ROOT, path: Path = KEPT) -> None:
    """Put what a run took beside what is kept."""
    with caches.one_at_a_time("durations"):
        old = read(path)
        files = [file for file in {*old, *new} if (root / file).is_file()]
        both = merged(old, new, {file: (root / file).read_text("utf-8") if file in new else "" for file in files})
        content = {
            file: {name: [taken.times, taken.tests, taken.commands] for name, taken in functions.items()}
            for file, functions in sorted(both.items())
        }
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(content, indent=0), encoding="utf-8")
        partial.replace(path)


class Counting:
    """Adds up what the reports of a run say."""

    def __init__(self) -> None:
        self._tests: dict[str, Taken] = {}
        self._left_out: set[str] = set()
        self._failed: set[tuple[str, str]] = set()

    def add(self, report: pytest.TestReport) -> None:
        """A report of a test's set-up, call or tear-down."""
        commands = tuple(str(words) for name, words in report.user_properties if name == COMMANDS)
        before = self._tests.get(report.nodeid, Taken(0.0))
        self._tests[report.nodeid] = Taken(before.seconds + report.duration, 1, commands)
        if "full" in report.keywords or report.skipped:
            self._left_out.add(report.nodeid)
        if report.failed:
            self._failed.add(place(report.nodeid))

    def durations(self) -> Durations:
        """What the tests of each function took, but for functions of which one failed: it may have hung."""
        found: Durations = {}
        for nodeid in self._tests.keys() - self._left_out:
            file, function = place(nodeid)
            if (file, function) not in self._failed:
                functions = found.setdefault(file, {})
                functions[function] = functions.get(function, Taken(0.0, 0)) + self._tests[nodeid]
        return found


_counting = Counting()


def commands_of(marks: Iterable[pytest.Mark]) -> list[tuple[str, object]]:
    """The marks `command` as properties, which a worker's reports bring to the process that keeps them."""
    return [(COMMANDS, mark.args[0]) for mark in marks]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.user_properties += commands_of(item.iter_markers("command"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _counting.add(report)


def pytest_sessionfinish(session: pytest.Session) -> None:
    found = _counting.durations()
    if found and not hasattr(session.config, "workerinput"):
        keep(found)
