"""What wulf says in words, in one place: tests/wording.toml, under the test that has it said.

A test asserts what a text is about — kind, subject, figures, names — and gives the text itself to the fixture
`wording`. So a sentence is reworded in one place, and all that people read of wulf can be read through in one file.
WULF_UPDATE=1 rewrites what the tests that run say; tests/unit/test_wording.py finds what no test says any more.
"""

from __future__ import annotations

import ast
import difflib
import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import caches

TESTS = Path(__file__).parent
GOLDEN = TESTS / "wording.toml"
HEAD = "# Made of what the tests say: WULF_UPDATE=1 pytest TESTS rewrites it (tests/wording.py). Read the diff.\n"
UPDATING = "WULF_UPDATE" in os.environ
UPDATE = "run with WULF_UPDATE=1 and read the diff"
WIDTH = 120

Entries = dict[str, dict[str, str]]
"""Test file, without its ending; test, with its parameters and the text's name or number; text."""


class Wording:
    """What one test says, beside what it said when a person last read it."""

    def __init__(self, file: str, test: str, golden: Path = GOLDEN, updating: bool = UPDATING) -> None:
        self.file, self.test = file, test
        self.golden, self.updating = golden, updating
        self.said: dict[str, str] = {}

    def __call__(self, text: str, name: str = "") -> None:
        """Compare the text with the one that is held; `name` tells it from the test's others, and else its number."""
        __tracebackhide__ = True
        key = self._key(name)
        self.said[key] = text = re.sub(r" +$", "", text, flags=re.M)  # nobody reads blanks at a line's end
        if self.updating:
            return
        held = read(self.golden).get(self.file, {}).get(key)
        if held is None:
            pytest.fail(f"{self.golden.name} holds no text of {key}: {UPDATE}")
        if held != text:
            diff = "\n".join(difflib.ndiff(held.split("\n"), text.split("\n")))
            pytest.fail(f"{key} is worded otherwise (- held, + said); if it is meant, {UPDATE}\n{diff}")

    def close(self, whole: bool) -> None:
        """At the test's end: write down what it said, or see that it said all; `whole` tells that it ran through."""
        __tracebackhide__ = True
        if not self.said:
            return
        if self.updating:
            self._write(whole)
        elif whole and (rest := self._held(read(self.golden)) - self.said.keys()):
            pytest.fail(f"no longer said: {', '.join(sorted(rest))}: {UPDATE}")

    def _key(self, name: str) -> str:
        if name:
            assert f"{self.test}: {name}" not in self.said, f"two texts have the name {name}"
            return f"{self.test}: {name}"
        number = 1 + sum(not key.startswith(f"{self.test}: ") for key in self.said)
        return self.test if number == 1 else f"{self.test} ({number})"

    def _held(self, entries: Entries) -> set[str]:
        return {key for key in entries.get(self.file, {}) if _is_of(self.test, key)}

    def _write(self, whole: bool) -> None:
        with caches.one_at_a_time("wording"):  # pytest-xdist has several processes
            read.cache_clear()
            entries = read(self.golden)
            gone = self._held(entries) if whole else set()
            kept = {key: text for key, text in entries.get(self.file, {}).items() if key not in gone}
            write(self.golden, entries | {self.file: kept | self.said})


@pytest.fixture
def wording(request: pytest.FixtureRequest) -> Iterator[Wording]:
    before = request.session.testsfailed
    told = Wording(*place(request.node))
    yield told
    told.close(whole=request.session.testsfailed == before)


def lacking(text: str, *words: str) -> list[str]:
    """The words that a text lacks; asserted to be none, it says more than a chain of `in`."""
    return [word for word in words if word not in text]


def place(node: pytest.Item) -> tuple[str, str]:
    """A test's file and name. Not by its nodeid, which pytest-xdist changes."""
    names = [part.name for part in node.listchain() if isinstance(part, pytest.Class | pytest.Function)]
    return node.path.relative_to(TESTS).with_suffix("").as_posix(), "::".join(names)


Tests = dict[str, set[str]]
"""Test file, without its ending; its tests, with their parameters."""
COLLECTED = pytest.StashKey[Tests]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[COLLECTED] = collected(config, items)


def collected(config: pytest.Config, items: list[pytest.Item]) -> Tests:
    """The tests of files that pytest has read whole: the source alone does not tell their parameters."""
    found: Tests = {}
    if config.getoption("lf", False) or any("::" in arg for arg in config.args):
        return found
    for file, test in (place(item) for item in items if item.path.is_relative_to(TESTS)):
        found.setdefault(file, set()).add(test)
    return found


def stale(entries: Entries, tests: Tests) -> Entries:
    """The entries whose file is gone, or the test in it, or its parameters, or that ask for no `wording` any more."""
    found: Entries = {}
    for file, texts in entries.items():
        asking, known = _asking(TESTS / f"{file}.py"), tests.get(file)
        gone = {key: text for key, text in texts.items() if _function(key) not in asking or not _known(key, known)}
        if gone:
            found[file] = gone
    return found


def drop_stale(tests: Tests) -> None:
    with caches.one_at_a_time("wording"):
        read.cache_clear()
        entries = read(GOLDEN)
        gone = {(file, key) for file, texts in stale(entries, tests).items() for key in texts}
        left = {f: {key: text for key, text in of.items() if (f, key) not in gone} for f, of in entries.items()}
        write(GOLDEN, left)


def _known(key: str, tests: set[str] | None) -> bool:
    return tests is None or any(_is_of(test, key) for test in tests)


def _is_of(test: str, key: str) -> bool:
    return key == test or key.startswith((f"{test}: ", f"{test} ("))


def _function(key: str) -> str:
    found = re.match(r"(\w+::)*\w+", key)
    return found[0] if found else ""


def _asking(path: Path) -> set[str]:
    """The tests of a file that ask for the fixture, with the names of their classes."""
    if not path.exists():
        return set()
    return set(_asking_within(ast.parse(path.read_text(encoding="utf-8")), ""))


def _asking_within(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for part in node.body:
        if isinstance(part, ast.ClassDef):
            yield from _asking_within(part, f"{prefix}{part.name}::")
        elif isinstance(part, ast.FunctionDef) and any(arg.arg == "wording" for arg in part.args.args):
            yield prefix + part.name


@cache
def read(golden: Path) -> Entries:
    return tomllib.loads(golden.read_text(encoding="utf-8")) if golden.exists() else {}


def write(golden: Path, entries: Entries) -> None:
    """Whole or not at all: the other processes of pytest-xdist read meanwhile."""
    new = golden.with_suffix(".new")
    new.write_text(dumps(entries), encoding="utf-8")
    new.replace(golden)
    read.cache_clear()


def dumps(entries: Entries) -> str:
    """TOML that a person reads: sorted, and long texts on lines of their own."""
    tables = []
    for file, texts in sorted(entries.items()):
        if texts:
            lines = [_entry(key, text) for key, text in sorted(texts.items())]
            tables.append("\n".join([f"[{_one_line(file)}]", *lines]) + "\n")
    return "\n".join([HEAD, *tables])


def _entry(key: str, text: str) -> str:
    whole = f"{_one_line(key)} = {_one_line(text)}"
    if "\n" not in text and len(whole) <= WIDTH:
        return whole
    lines = "\n".join(_wrapped(_escaped(line)) for line in text.split("\n"))
    # No three quotes in a row, and none before those at the end.
    return f'{_one_line(key)} = """\n' + re.sub(r'"(?="|\Z)', r"\"", lines) + '"""'


def _one_line(text: str) -> str:
    if any(char in text for char in '"\\') and "'" not in text and text.isprintable():
        return f"'{text}'"
    return '"' + _escaped(text).replace('"', r"\"").replace("\n", r"\n") + '"'


def _escaped(line: str) -> str:
    """What TOML wants to be escaped, but for quotes and ends of lines."""
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", line.replace("\\", r"\\"))


def _wrapped(line: str) -> str:
    """A long sentence on several lines, which TOML joins; the rows of tables stay whole."""
    if len(line) <= WIDTH or "  " in line:
        return line
    lines = [""]
    for word in re.findall(r"[^ ]* ?", line):
        if lines[-1] and len(lines[-1]) + len(word) >= WIDTH:
            lines.append("")
        lines[-1] += word
    return "\\\n".join(lines)
