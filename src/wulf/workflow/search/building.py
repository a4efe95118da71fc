"""A program's builds on the nodes: every combination of the tools that they have, each built once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from wulf.apps.linpack.make import c_compiler
from wulf.cluster.applications import Applications
from wulf.cluster.mpi import Installed
from wulf.cluster.mpi.installed import WHEEL
from wulf.core.errors import UsageError
from wulf.core.records import Param
from wulf.search.recipe import (
    BLAS,
    COMPILER,
    LANGUAGES,
    MPI,
    Recipe,
    Tool,
    Toolbox,
    Values,
    combinations,
    excluding,
    lacking,
    request_of,
    running,
    tool_knobs,
)
from wulf.search.space import Knob, configuration_text
from wulf.workflow.app.build import DROP_IN, NotBuiltError, Tree, build_tree

FIND_TIMEOUT = 120.0

MOST_BUILDS = 100
"""Combinations that are built: each may take minutes."""


@dataclass(frozen=True)
class Build:
    """One combination, and what came of it.

    Attributes
    ----------
    path
        Of the program on all nodes; None: it can't be built.
    reason
        Why: the compiler's last words.
    """

    values: Values
    path: str | None
    reason: str = ""
    kept: bool = False
    seconds: float = 0.0

    def about(self) -> dict[str, Any]:
        """As journal and search.json have it."""
        return {
            "values": dict(self.values), "path": self.path, "reason": self.reason, "kept": self.kept,
            "seconds": self.seconds,
        }  # fmt: skip


@dataclass(frozen=True)
class Builds:
    """All of a recipe's builds; the first one that could be made is the one without a search."""

    recipe: Recipe
    box: Toolbox
    mpis: Mapping[str, Installed]
    builds: tuple[Build, ...]

    @property
    def made(self) -> tuple[Build, ...]:
        """Those that there are."""
        return tuple(one for one in self.builds if one.path is not None)

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """The tools as knobs."""
        return tool_knobs(self.box, self.recipe, [one.values for one in self.made])

    @property
    def conditions(self) -> tuple[str, ...]:
        """What keeps a search from what can't be built."""
        failed = [one.values for one in self.builds if one.path is None]
        return excluding(failed, [one.values for one in self.made])

    def without(self, knobs: Sequence[Knob]) -> tuple[Knob, ...]:
        """A program's own knobs less the values that can't be built; their defaults are the first build's."""
        return tuple(self._left(knob) if knob.name in self.recipe.places else knob for knob in knobs)

    def _left(self, knob: Knob) -> Knob:
        built = [one.values[knob.name] for one in self.made]
        values = tuple(value for value in knob.values if value in built)
        return Knob(knob.name, values, built[0])

    def program(self, values: Mapping[str, Param]) -> str:
        """The path of what was built with these. Raises UsageError where nothing was: with the compiler's words."""
        for one in self.builds:
            if all(values.get(name) == value for name, value in one.values.items()):
                if one.path is None:
                    raise UsageError(f"{configuration_text(one.values)} can't be built: {one.reason}", "leave it out")
                return one.path
        raise UsageError(f"{configuration_text(values)} was never built here", "start the search anew")

    def running(self, values: Mapping[str, Param]) -> dict[str, str]:
        """The variables that it is run with."""
        return running(self.box, values)

    def mpi(self, values: Mapping[str, Param]) -> Installed | None:
        """The MPI whose launcher starts it; None: none is chosen by the recipe."""
        return self.mpis.get(str(values.get(MPI)))

    def about(self) -> list[dict[str, Any]]:
        """As journal and search.json have them."""
        return [one.about() for one in self.builds]


def build_all(apps: Applications, recipe: Recipe, parameters: Sequence[Knob] = ()) -> Builds:
    """Build every combination of what the nodes have and the recipe has places for.

    Raises
    ------
    UsageError
        A tool that the recipe has a place for is not there; it has no tree; nothing can be built at all.
    NodeError
        A node is lost, or has no room.
    """
    box, mpis = toolbox(apps, recipe)
    wanted = list(combinations(recipe, box, parameters))
    if len(wanted) > MOST_BUILDS:
        raise UsageError(
            f"{len(wanted)} combinations would have to be built, and {MOST_BUILDS} are the most", "name fewer tools"
        )
    builds = []
    for number, values in enumerate(wanted, 1):
        apps.say(f"building {number} of {len(wanted)}: {configuration_text(values)}")
        builds.append(_built(apps, recipe, box, values))
    found = Builds(recipe, box, mpis, tuple(builds))
    if not found.made:
        raise UsageError(
            f"{PurePath(recipe.product).name} can't be built with {configuration_text(builds[0].values)}"
            f"{f', nor with any other of {len(builds)}' if len(builds) > 1 else ''}: {builds[0].reason}",
            "build it by hand on the first node, and write the commands as they were",
        )
    return found


def _built(apps: Applications, recipe: Recipe, box: Toolbox, values: Values) -> Build:
    why = lacking(recipe, box, values)
    if why:
        return Build(values, None, why)
    try:
        asked = request_of(recipe, box, values)
    except ValueError as error:  # a parameter's value with a quotation mark
        return Build(values, None, f"its commands can't be told apart into words: {error}")
    tree = Tree(
        recipe.source, asked.commands, recipe.product, asked.files, recipe.needs, asked.environment, asked.uses
    )  # fmt: skip
    try:
        answer = build_tree(apps, tree)
    except NotBuiltError as error:
        return Build(values, None, error.said)
    return Build(values, str(answer["path"]), "", bool(answer["kept"]), float(answer["seconds"]))


def toolbox(apps: Applications, recipe: Recipe) -> tuple[Toolbox, dict[str, Installed]]:
    """What the nodes have of the tools that the recipe has places for; and the MPIs by name.

    MPIs and libraries are those of all nodes, compilers those of the first one, which builds.

    Raises
    ------
    UsageError
        One of them is not there.
    """
    installed = apps.mpis(recipe.wanted.get(MPI, ())) if MPI in recipe.tools else ()
    mpis = {tool.name: (tool, one) for tool, one in zip(_named(map(_mpi_tool, installed)), installed, strict=True)}
    found: dict[str, list[Tool]] = {MPI: [tool for tool, _ in mpis.values()]}
    if COMPILER in recipe.tools:
        found[COMPILER] = _compilers(apps, [tool.words["mpicc"] for tool in found[MPI] if tool.words])
    if BLAS in recipe.tools:
        found[BLAS] = _libraries(apps)
    box = {knob: _meant(knob, found[knob], recipe.wanted.get(knob, ())) for knob in recipe.tools}
    return box, {name: one for name, (_, one) in mpis.items()}


def _meant(knob: str, found: Sequence[Tool], words: Sequence[str]) -> dict[str, Tool]:
    """Those that a person's words mean, by name; all where there are none; UsageError where a word means none."""
    there = ", ".join(tool.name for tool in found) or "none"
    for word in words or (None,):
        if not any(word is None or tool.is_meant_by(word) for tool in found):
            where = "the node that builds" if knob == COMPILER else "all nodes"
            raise UsageError(f"no {knob}{f' {word}' if word else ''} is there on {where}", f"there is: {there}")
    return {tool.name: tool for tool in found if not words or any(map(tool.is_meant_by, words))}


def _named(tools: Iterable[Tool]) -> list[Tool]:
    """Of tools that have one name each is called by where it is."""
    found = list(tools)
    often = Counter(tool.name for tool in found)
    return [replace(tool, name=f"{tool.name} {tool.place}") if often[tool.name] > 1 else tool for tool in found]


def _mpi_tool(one: Installed) -> Tool:
    kinds = frozenset({one.kind, one.prefix, one.mpirun, *([f"{WHEEL}{one.kind}"] if one.where == "wheel" else [])})
    name = one.name.replace(" ", "-")
    if one.mpicxx is None:
        return Tool(name, one.prefix, kinds)
    words = {"mpicc": c_compiler(one.mpicxx), "mpicxx": one.mpicxx, "mpifort": c_compiler(one.mpicxx, "mpifort")}
    return Tool(name, one.prefix, kinds, words, files=(one.mpicxx, one.mpirun))


def _compilers(apps: Applications, wrappers: Sequence[str]) -> list[Tool]:
    """What the node that builds has, the one that the first MPI's wrapper calls by itself first."""
    first = apps.nodes[0]
    answer = apps.ask("compiler_find", FIND_TIMEOUT, nodes=[first], wrappers=list(wrappers))[first]
    usual = answer["usual"].get(wrappers[0], "") if wrappers else ""
    return _named(
        Tool(
            f"{one['name']}-{one['version']}", one["cc"], frozenset({one["name"], one["cc"]}),
            {place: one[place] for place in LANGUAGES if one[place]}, one["choose"],
            files=tuple(one[place] for place in LANGUAGES if one[place]), takes=frozenset(one["wrappers"]),
        )
        for one in sorted(answer["compilers"], key=lambda one: one["title"] != usual)
    )  # fmt: skip


def _libraries(apps: Applications) -> list[Tool]:
    """Every BLAS that all nodes have and programs can be linked with, those of the usual name first."""
    answers = apps.ask("blas_find", FIND_TIMEOUT)
    first, *others = ({one["path"]: one["label"] for one in each["libraries"]} for each in answers.values())
    paths = [path for path in first if all(path in there for there in others) and "scipy_openblas" not in path]
    return _named(
        # loaded before all others rather than by LD_LIBRARY_PATH, which a module may have set for the MPI
        Tool(first[path], path, frozenset({path}), {"blas": path}, running={"LD_PRELOAD": path}, files=(path,))
        for path in sorted(paths, key=lambda path: not PurePath(path).name.startswith(DROP_IN))
    )
