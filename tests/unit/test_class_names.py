"""No two public classes of one name where both can be seen: within a room and the modules that it imports."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import wulf

PACKAGE = Path(wulf.__file__).parent


def sources() -> dict[str, str]:
    """Module → its text. A room's own `__init__` is the module of its name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path.read_text()
    return found


def imported(tree: ast.Module, modules: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield from (module for module in (whole, node.module) if module in modules)


def room_of(module: str, modules: Mapping[str, str]) -> str:
    """Its package; a package's `__init__` stands in itself."""
    return module if any(each.startswith(f"{module}.") for each in modules) else module.rpartition(".")[0]


def twins(modules: Mapping[str, str]) -> dict[tuple[str, str], list[str]]:
    """(room, name of a class) → the modules in its sight that have one each, where these are several."""
    classes, sight = {}, defaultdict(set)
    for module, text in modules.items():
        tree = ast.parse(text)
        names = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        classes[module] = {name for name in names if not name.startswith("_")}
        sight[room_of(module, modules)] |= {module, *imported(tree, modules)}
    found = defaultdict(list)
    for room, seen in sight.items():
        for module in sorted(seen):
            for name in classes[module]:
                found[room, name].append(module)
    return {where: those for where, those in found.items() if len(those) > 1}


def test_a_name_is_one_class_where_it_is_seen() -> None:
    assert twins(sources()) == {}


def test_twins_are_found_in_a_room_and_among_what_it_imports() -> None:
    modules = {
        "wulf": "",
        "wulf.a": "",
        "wulf.a.one": "class Row: ...\nclass _Own: ...",
        "wulf.a.two": "class Row: ...\nclass _Own: ...",
        "wulf.b": "",
        "wulf.b.here": "from wulf.a import one\nclass Other: ...",
        "wulf.b.there": "from wulf.c.far import Other, Row",
        "wulf.c": "",
        "wulf.c.far": "class Row: ...\nclass Other: ...",
    }
    assert twins(modules) == {
        ("wulf.a", "Row"): ["wulf.a.one", "wulf.a.two"],
        ("wulf.b", "Row"): ["wulf.a.one", "wulf.c.far"],
        ("wulf.b", "Other"): ["wulf.b.here", "wulf.c.far"],
    }
