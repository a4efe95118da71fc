"""A folder of native sources is a room: few modules, and includes that run one way between a program's rooms."""

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[3] / "native"

PROGRAMS = sorted(path.name for path in NATIVE.iterdir() if path.is_dir())

MOST_MODULES = 15
PEERS = {"node/probes", "replay/collectives"}
"""Rooms of peers: an addition is one module more."""

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources(program):
    return sorted([*program.rglob("*.hpp"), *program.rglob("*.cpp")])


def modules(program):
    """Room → its modules; a source and its header are one."""
    found = defaultdict(set)
    for path in sources(program):
        found[path.parent.relative_to(program.parent).as_posix()].add(path.stem)
    return found


def arrows(program):
    """Room → the rooms of the same program that it includes."""
    found = defaultdict(set)
    for path in sources(program):
        room = path.parent.relative_to(program.parent).as_posix()
        for name in INCLUDE.findall(path.read_text()):
            other = Path(name).parent.as_posix()
            if other != room and Path(name).parts[0] == program.name:
                found[room].add(other)
    return found


def circle(graph):
    """The rooms of a circle, in turn; none where there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_room_has_more_modules_than_one_takes_in(program):
    counts = {room: len(names) for room, names in modules(NATIVE / program).items()}
    assert {room: count for room, count in counts.items() if count > MOST_MODULES and room not in PEERS} == {}


@pytest.mark.parametrize("program", PROGRAMS)
def test_includes_run_one_way_between_rooms(program):
    assert circle(arrows(NATIVE / program)) == []


def test_tests_stand_in_the_rooms_of_what_they_test():
    tests = NATIVE / "tests"
    rooms = {path.parent.relative_to(tests) for path in sources(tests)}
    assert sorted(room for room in rooms if not (NATIVE / room).is_dir()) == []
    assert [path.name for path in sources(tests) if path.parent == tests and path.name.startswith("test_")] == []


def test_a_circle_is_found(tmp_path):
    for name, includes in {
        "net/main.cpp": "net/run/run.hpp",
        "net/run/run.hpp": "net/wire/key.hpp",
        "net/wire/key.hpp": "core/json.hpp",
        "net/wire/key.cpp": "net/run/other.hpp",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#pragma once\n#include "{includes}"\n')
    assert modules(tmp_path / "net") == {"net": {"main"}, "net/run": {"run"}, "net/wire": {"key"}}
    graph = arrows(tmp_path / "net")
    assert graph == {"net": {"net/run"}, "net/run": {"net/wire"}, "net/wire": {"net/run"}}
    assert set(circle(graph)) == {"net/run", "net/wire"}
    assert circle({"net": {"net/run"}, "net/run": {"net/wire"}}) == []
