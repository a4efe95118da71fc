"""clang-tidy looks again at what has changed, and at that alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import native_lint
import pytest
from provision.includes import read_by
from provision.places import Places

TIDY = """#!/bin/sh
here=$(dirname "$0")
[ "$1" = --version ] && exec cat "$here/version"
for last; do :; done
basename "$last" >>"$here/checked"
! grep -H BAD "$last"
"""
SOURCES = {
    "core/a.cpp": '#include "core/a.hpp"\n',
    "core/a.hpp": '#include <vector>\n#  include "deep.hpp"\n',
    "core/deep.hpp": '#pragma once\n#include "core/a.hpp"\n',
    "net/b.cpp": '#include "core/absent.hpp"\n// #include "core/a.hpp"\n',
    ".clang-tidy": "Checks: all",
    "CMakeLists.txt": "",
}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name, text in SOURCES.items():
        path = tmp_path / "native" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder = tmp_path / ".venv/bin"
    folder.mkdir(parents=True)
    (folder / "version").write_text("22")
    (folder / "clang-tidy").write_text(TIDY)
    (folder / "clang-tidy").chmod(0o755)
    return Places(tmp_path)


@pytest.fixture
def lint(places: Places, make_host: Callable[..., Any], script: Any) -> Callable[[], tuple[list[str], list[str]]]:
    """Lints the sources; the files that clang-tidy saw, and what it complained about."""
    host = make_host(programs=("g++", "cmake", "ninja"))

    def run() -> tuple[list[str], list[str]]:
        seen = places.venv / "bin/checked"
        seen.unlink(missing_ok=True)
        problems = native_lint.tidy_problems(places, host, script)
        return sorted(seen.read_text().split()) if seen.exists() else [], problems

    return run


def test_headers_are_found_through_headers_and_circles_end(places: Places) -> None:
    root = places.repo / "native"
    read = read_by(root / "core/a.cpp", root)
    assert {path.relative_to(root).as_posix() for path in read} == {"core/a.cpp", "core/a.hpp", "core/deep.hpp"}
    assert read_by(root / "net/b.cpp", root) == {root / "net/b.cpp"}


def test_what_was_clean_is_not_checked_again(lint: Any) -> None:
    assert lint() == (["a.cpp", "b.cpp"], [])
    assert lint() == ([], [])


@pytest.mark.parametrize(
    ("changed", "checked"),
    [
        ("native/net/b.cpp", ["b.cpp"]),
        ("native/core/deep.hpp", ["a.cpp"]),
        ("native/.clang-tidy", ["a.cpp", "b.cpp"]),
        ("native/CMakeLists.txt", ["a.cpp", "b.cpp"]),
        (".venv/bin/version", ["a.cpp", "b.cpp"]),
    ],
)
def test_what_changed_is_checked(lint: Any, places: Places, changed: str, checked: list[str]) -> None:
    lint()
    with (places.repo / changed).open("a") as file:
        file.write("\n// more")
    assert lint() == (checked, [])


def test_a_complaint_stays_until_it_is_mended(lint: Any, places: Places) -> None:
    bad = places.repo / "native/net/b.cpp"
    bad.write_text("// BAD\n")
    for checked in (["a.cpp", "b.cpp"], ["b.cpp"]):
        seen, problems = lint()
        assert seen == checked
        assert len(problems) == 1
    bad.write_text("")
    assert lint() == (["b.cpp"], [])
