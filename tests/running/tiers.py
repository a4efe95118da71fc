"""Which tests run when, and how long each may take: the tiers of CONTRIBUTING.md. A plugin of pytest.

`make test` runs what is not marked `full`. The rest is in the shards of shards.toml: `make test-all` runs all of them,
CI one at each landing.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.running.shards import Shard, read, shard_of

ROOT = Path(__file__).parents[1]
LIMITS = {"unit": 1.0, "process": 5.0, "contract": 20.0, "browser": 10.0, "lab": 20.0}
"""Seconds that a test of `make test` may take, by its folder: what takes longer is named, and is one for a shard."""
SLOWEST = 20
FIRST = ("lab", "browser", "contract", "process", "packaging", "unit")
"""Folders in the order of their tests: those that wait first, so that those that compute fill the pauses."""


def first_of(values: Iterable[Any]) -> list[Any]:
    """Parameters of which `make test` takes the first, and `make test-all` the others."""
    found = list(values)
    others = (value if isinstance(value, tuple) else (value,) for value in found[1:])
    return [*found[:1], *(pytest.param(*other, marks=pytest.mark.full) for other in others)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", help="Run the tests of this shard of tests/running/shards.toml, and no others.")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: most tests wait half of their time, for sleeps, sessions and idle seconds."""
    return min(2 * len(os.sched_getaffinity(0)), 8)


def together(nodeid: str) -> str:
    """What a test stays together with, on one worker: its file; a lab test whose file shares no fixture, nothing."""
    file = nodeid.partition("::")[0]
    return nodeid if _folder(nodeid) == "lab" and not _shares(ROOT.parent / file) else file


@cache
def _shares(file: Path) -> bool:
    return 'scope="module"' in file.read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """For `--dist loadgroup`: groups by the names of tests. xdist's own, by marks, need an older pytest: 9.2 no longer
    hands on the names that xdist 3.8 writes its groups into.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid)

    return Together(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks and order; then what `--shard` leaves."""
    for item in items:
        if item.get_closest_marker("alone"):
            item.add_marker("full")
    items.sort(key=lambda item: FIRST.index(folder) if (folder := _folder(item.nodeid)) in FIRST else len(FIRST))
    wanted, known = config.getoption("shard"), read()
    if wanted and wanted not in (names := [shard.name for shard in known]):
        raise pytest.UsageError(f"--shard {wanted}: tests/running/shards.toml has {', '.join(names)}")
    full = {item: _shard(item, known) for item in items if item.get_closest_marker("full")}
    if wanted:
        kept = [item for item in items if full.get(item) == wanted]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def _shard(item: pytest.Item, known: list[Shard]) -> str:
    file = str(item.path.relative_to(ROOT))
    found = shard_of(file, alone=item.get_closest_marker("alone") is not None, known=known)
    if found is None:
        raise pytest.UsageError(f"{item.nodeid} is marked `full`, and no shard of tests/running/shards.toml has {file}")
    return found


def _folder(nodeid: str) -> str:
    return nodeid.removeprefix("tests/").partition("/")[0]


CPU = "CPU seconds"
"""What a report of a unit test says besides: nothing there waits, and a busy host's other work is not its own."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    began = time.process_time()
    try:
        return (yield)
    finally:
        if _folder(item.nodeid) == "unit":
            item.user_properties.append((CPU, time.process_time() - began))


_seconds: Counter[str] = Counter()
"""Test → what its set-up, call and tear-down took; of a unit test the CPU seconds of its call."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _folder(report.nodeid) != "unit":
        _seconds[report.nodeid] += report.duration
    elif report.when == "call":
        _seconds[report.nodeid] = dict(report.user_properties).get(CPU, report.duration)


def over_limit(seconds: dict[str, float]) -> Iterator[tuple[str, float, float]]:
    """Tests over their folder's limit, the slowest first: name, seconds, limit."""
    for name, taken in sorted(seconds.items(), key=lambda one: -one[1]):
        limit = LIMITS.get(_folder(name))
        if limit is not None and taken > limit:
            yield name, taken, limit


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The slowest tests, and those that are too slow for `make test`."""
    if len(_seconds) <= SLOWEST:
        return
    terminalreporter.section(f"{SLOWEST} slowest tests")
    for name, taken in _seconds.most_common(SLOWEST):
        terminalreporter.line(f"{taken:6.1f} s  {name}")
    slow = [] if config.getoption("shard") else list(over_limit(_seconds))
    for name, taken, limit in slow:
        terminalreporter.line(f"over its tier's limit: {taken:.1f} s of {limit:g} s  {name}")
