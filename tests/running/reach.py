"""Which tests a change can reach: the map from changed files to tests, and how far away each test is.

The map's edges are imports, counted one by one, and what no import statement shows: commands and modules that are named
in a string, plugins of a folder, fixtures of a conftest.py, data that a module reads, programs that it starts.
"""

from __future__ import annotations

import ast
import heapq
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import PurePosixPath

FAR = 3
"""What the import of one out of a table or folder, by its name, counts as: most who reach the table mean another."""

Edges = dict[str, dict[str, int]]
"""Module, program or test → those that depend on it → how many imports that counts as."""

Texts = Mapping[str, str]
"""Module → its source."""

PLACES = {"src/wulf/": "src/", "tests/": "", "bench/": "", "tools/provision/": "tools/"}
"""Folders of modules → the folder that their names begin in."""

STARTED = {
    "wulf.agent.bundle": ("wulf.agent.__main__",),
    "wulf.lab.state": ("wulf.lab.inside.__main__",),
}
"""Module → what it has started on nodes."""

CONFIGURES = {"pyproject.toml": "tests.conftest"}
"""File → the module as which it counts: pytest's options are for every test."""

NATIVE = PurePosixPath("native")


def module_of(path: str) -> str | None:
    """The module that a file is, by its place below the project's root; None: it is data.

    >>> module_of("src/wulf/lab/__init__.py")
    'wulf.lab'
    """
    for folder, top in PLACES.items():
        if path.startswith(folder) and path.endswith(".py"):
            return path.removeprefix(top).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return None


def is_test(module: str) -> bool:
    return module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")


def tier(module: str) -> str:
    """The folder of a test: "unit", "process", …"""
    return module.split(".")[1]


@cache
def strings(source: str) -> tuple[str, ...]:
    """All strings of a source but its docstrings; of an f-string its fixed parts."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return tuple(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    )


def naming(texts: Texts, name: str) -> set[str]:
    """Modules that have the name in a string, as a word of its own."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    return {module for module, text in texts.items() if name in text and any(map(word.search, strings(text)))}


def turned(imports: Mapping[str, Iterable[str]]) -> Edges:
    """From module → what it imports to module → who imports it."""
    edges: Edges = {}
    for module, imported in imports.items():
        for each in imported:
            edges.setdefault(each, {})[module] = 1
    return edges


def joined(*parts: Edges) -> Edges:
    """All edges; the shortest where two are between the same."""
    both: Edges = {}
    for part in parts:
        for used, users in part.items():
            known = both.setdefault(used, {})
            for user, distance in users.items():
                known[user] = min(distance, known.get(user, distance))
    return both


_QUOTED_MODULE = re.compile(r'"((?:wulf|tests|bench|provision)(?:\.\w+)+)(?::\w+)?"')
_IMPORTS_BY_NAME = re.compile(r'import_module\(f"(?:\{__name__\}|\w+)\.|of_rooms\("(\w+)"\)')
"""`of_rooms("part")`: the modules of that name in all rooms; else those beside the one that imports."""

_LISTED = re.compile(r"^LISTED = ", re.M)
"""In a module that is a command of `wulf.cli.main`."""


def named(texts: Texts, packages: Iterable[str]) -> Edges:
    """Edges that no import statement shows: modules named in strings, plugins of a folder, fixtures, programs."""
    edges: Edges = {}
    whole = set(packages)
    for module, text in texts.items():
        distance = 1 if module.startswith("tests.") else FAR
        for name in {*_QUOTED_MODULE.findall(text), *STARTED.get(module, ())} - {module}:
            for each in {name, f"{name}.__main__"} & texts.keys():
                edges.setdefault(each, {})[module] = distance
        for name in _IMPORTS_BY_NAME.findall(text):
            package = module if module in whole else module.rpartition(".")[0]
            layer = ".".join(module.split(".")[:2])
            for each in texts.keys() - {module}:
                inside, _, own = each.rpartition(".")
                if (inside.startswith(f"{layer}.") and own == name) if name else inside == package:
                    edges.setdefault(each, {})[module] = FAR
        if _LISTED.search(text):
            edges.setdefault(module, {})["wulf.cli.main"] = FAR
        if module.startswith("tests."):
            for conftest in _conftests(module) & texts.keys() - {module}:
                edges.setdefault(conftest, {})[module] = 1
    return edges


def _conftests(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join([*parts[:count], "conftest"]) for count in range(1, len(parts))}


Commands = dict[str, tuple[str, dict[str, str]]]
"""Command → its module, and the modules of its subcommands that have one of their own."""


def commands(table: Mapping[str, str], texts: Texts) -> Commands:
    """The commands' modules, and those that the tables of command groups name."""
    entry = re.compile(r'^ +"([\w-]+)": "(wulf\.[\w.]+):\w+"', re.M)
    return {name: (module, dict(entry.findall(texts.get(module, "")))) for name, module in table.items()}


def commands_in(texts: Iterable[str], known: Commands) -> dict[str, int]:
    """The modules of all commands that texts, such as "net pingpong", begin with: distance of each."""
    said = [text.removeprefix("wulf ").split() for text in texts]
    first, words = {each[0] for each in said if each}, {word for each in said for word in each[:2]}
    found: dict[str, int] = {}
    for name in first & known.keys():
        module, subcommands = known[name]
        own = {subcommands[word]: 1 for word in subcommands.keys() & words}
        found |= {module: FAR if own else 1, **own}
    return found


def distances(edges: Edges, changed: Mapping[str, int]) -> dict[str, int]:
    """The fewest imports between the changed and each that depends on them.

    Parameters
    ----------
    changed
        Where to begin, and at which distance.
    """
    found: dict[str, int] = {}
    ahead = [(distance, name) for name, distance in changed.items()]
    heapq.heapify(ahead)
    while ahead:
        distance, name = heapq.heappop(ahead)
        if name not in found:
            found[name] = distance
            for user, step in edges.get(name, {}).items():
                heapq.heappush(ahead, (distance + step, user))
    return found


def readers(path: str, texts: Texts, beside: Texts | None = None) -> set[str]:
    """The modules that read a data file: those that name it or its folder, or else all of the package that it is in.

    Parameters
    ----------
    beside
        Data files of the same folder, with their texts: those that name it are read by others in their turn.
    """
    if path in CONFIGURES:
        return {CONFIGURES[path]}
    file = PurePosixPath(path)
    if file.is_relative_to(NATIVE):  # its folders' names are words of every day; native_reach.py has programs
        return naming(texts, file.name)
    names = [file.name, *(other for other, text in (beside or {}).items() if other != file.name and file.name in text)]
    if re.search(r"[.-]", file.stem):  # nic.mtu.toml is known as nic.mtu, report.toml as nothing that is its own
        names.append(file.stem)
    return set().union(*(naming(texts, name) for name in names), _of_folder(file, texts)) or _of_package(file, texts)


def _of_folder(file: PurePosixPath, texts: Texts) -> set[str]:
    """Who names the nearest folder that is no package: modules beside it, or any for a folder of the root."""
    for folder in file.parents:
        if not folder.name or _package(folder) in texts:
            return set()
        ends = (folder.name, f"/{folder.name}")
        found = {
            module
            for module, text in texts.items()
            if folder.name in text
            and (_package(folder.parent) not in texts or module.rpartition(".")[0] == _package(folder.parent))
            and any(text == ends[0] or text.endswith(ends[1]) for text in strings(text))
        }
        if found:
            return found
    return set()


def _of_package(file: PurePosixPath, texts: Texts) -> set[str]:
    package = next((name for folder in file.parents if (name := _package(folder)) in texts), None)
    return {module for module in texts if package and module.rpartition(".")[0] == package}


def _package(folder: PurePosixPath) -> str | None:
    return module_of(f"{folder}/__init__.py")
