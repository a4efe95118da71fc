"""How large a function, a list of parameters and a file of the package may be without a reason beside it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import bench
import pytest

import wulf

PACKAGE = Path(wulf.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
BENCH = Path(bench.__file__).parent

MOST_LINES, MOST_OF_A_FILE, MOST_PARAMETERS = 60, 400, 8
LONG = "one long file"
"""What the docstring of a longer file says, and why."""


MOST_MODULES = 15
PEERS = {"agent/changes", "agent/facts"}
"""Rooms of peers: an addition is one module more."""


def functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Without `self` and `cls`."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def signature(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    return "\n".join(lines[function.lineno - 1 : function.body[0].lineno - 1])


def wrong(text: str) -> list[str]:
    lines = text.splitlines()
    found = []
    for function in functions(text):
        assert function.end_lineno is not None
        if function.end_lineno - function.lineno + 1 > MOST_LINES:
            found.append(f"{function.name}: {function.end_lineno - function.lineno + 1} lines")
        told = "#" in signature(function, lines).replace("# fmt: skip", "")
        if parameters(function) > MOST_PARAMETERS and not told:
            found.append(f"{function.name}: {parameters(function)} parameters, and no word why")
    if len(lines) > MOST_OF_A_FILE and LONG not in (ast.get_docstring(ast.parse(text)) or ""):
        found.append(f"{len(lines)} lines, and no word why")
    return found


@pytest.mark.parametrize("room", sorted({path.relative_to(PACKAGE).parts[0] for path in FILES}))
def test_nothing_is_large_without_a_reason(room: str) -> None:
    own = [path for path in FILES if path.relative_to(PACKAGE).parts[0] == room]
    # a command has an argument for each option
    found = {
        str(path.relative_to(PACKAGE)): faults
        for path in own
        if (faults := [one for one in wrong(path.read_text()) if room != "cli" or "parameters" not in one])
    }
    assert found == {}


@pytest.mark.parametrize("top", [PACKAGE, BENCH], ids=lambda top: top.name)
def test_no_room_has_more_modules_than_one_takes_in(top: Path) -> None:
    modules = [path for path in top.rglob("*.py") if path.name != "__init__.py"]
    rooms = Counter(path.relative_to(top).parent.as_posix() for path in modules)
    assert {room: count for room, count in rooms.items() if count > MOST_MODULES and room not in PEERS} == {}


@pytest.mark.parametrize("top", [PACKAGE, BENCH], ids=lambda top: top.name)
def test_no_module_repeats_its_rooms_name(top: Path) -> None:
    found = [path.stem for path in top.rglob("*.py") if path.stem.startswith(f"{path.parent.name}_")]
    assert [name for name in found if name != "cluster_toml"] == []  # the name of the file that it reads


def test_what_is_too_large_is_found() -> None:
    long = "def f():\n" + "    x = 1\n" * 60
    many = "def g(a, b, c, d, e, f, g, h, i):\n    pass\n"
    assert wrong(long + many) == ["f: 61 lines", "g: 9 parameters, and no word why"]
    assert wrong(many.replace("i):", "i):  # fmt: skip")) == ["g: 9 parameters, and no word why"]
    assert wrong(many.replace("i):", "i):  # nine are what there is")) == []
    assert wrong('"""A table."""\n' + "x = 1\n" * 400) == ["401 lines, and no word why"]
    assert wrong('"""It is one long file, as tables are."""\n' + "x = 1\n" * 400) == []
