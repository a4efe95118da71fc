"""Sources are compiled together, and nothing but what was built is kept on the node."""

from __future__ import annotations

from pathlib import Path

from wulf.agent.mpi import build


def test_twelve_sources_are_compiled_as_one_and_the_longest_alone(tmp_path: Path) -> None:
    names = [f"mpi/{number:02}.cpp" for number in range(14)]
    made = build._together(tmp_path, ["core/json/json.cpp", *names], 12)
    assert made == ["core/json/json.cpp", "together-0.cpp", "together-1.cpp"]
    assert (tmp_path / made[1]).read_text().splitlines() == [f'#include "{name}"' for name in names[:12]]
    assert (tmp_path / made[2]).read_text().splitlines() == [f'#include "{name}"' for name in names[12:]]


def test_a_library_is_built_source_by_source(tmp_path: Path) -> None:
    assert build._together(tmp_path, ["trace/a.cpp", "trace/b.cpp"], build.TRACE.together) == [
        "trace/a.cpp",
        "trace/b.cpp",
    ]
