"""How a program is built, with whichever MPI, compiler and BLAS the nodes have: what they are to a search is knobs.

A recipe's commands have places for what a *tool* brings: {mpicc}, {mpicxx} and {mpifort} of an MPI, {cc}, {cxx} and
{fc} of a compiler, {blas} of a library; and for parameters of the search. The tools that it has places for vary, and
every combination is a program of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from wulf.core.records import Param
from wulf.search.places import filled, places_of
from wulf.search.space import Knob

MPI, COMPILER, BLAS = TOOLS = ("mpi", "compiler", "blas")
"""The knobs that tools are."""

PLACES = {
    "mpicc": (MPI, COMPILER), "mpicxx": (MPI, COMPILER), "mpifort": (MPI, COMPILER),
    "cc": (COMPILER,), "cxx": (COMPILER,), "fc": (COMPILER,),
    "blas": (BLAS,),
}  # fmt: skip
"""Place in a recipe → the tools that it varies with: an MPI's wrapper calls a compiler."""

CALLS = {"mpicc": "cc", "mpicxx": "cxx", "mpifort": "fc"}
"""Which of a compiler's programs a wrapper calls."""

LANGUAGES = {"cc": "C", "cxx": "C++", "fc": "Fortran"}

PROGRAM = "program"
"""In the command of a program that has a recipe: where the nodes have what was built."""


@dataclass(frozen=True)
class Recipe:
    """What makes a program of a source tree.

    Attributes
    ----------
    source
        The tree, a folder of the first node; what is built is built in a copy.
    commands
        Command lines, run there one after the other.
    product
        The file that they make.
    files
        Name → text with places, written into the copy before.
    needs
        Names that a tree of this kind has.
    wanted
        Tool → names or kinds that are tried; a tool that is not there: all that are found.
    """

    source: str
    commands: tuple[str, ...]
    product: str
    files: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def places(self) -> set[str]:
        """Names of all places in commands and files."""
        return places_of((*self.commands, *self.files.values()))

    def only(self, mpi: str) -> Recipe:
        """With this MPI alone, where it has a place for one."""
        return replace(self, wanted={**self.wanted, MPI: (mpi,)}) if MPI in self.tools else self

    @property
    def tools(self) -> tuple[str, ...]:
        """Those that it has places for."""
        used = {tool for place in self.places for tool in PLACES.get(place, ())}
        return tuple(tool for tool in TOOLS if tool in used)


@dataclass(frozen=True)
class Tool:
    """An MPI, a compiler or a BLAS: one value of its knob.

    Attributes
    ----------
    name
        As the knob's value: openmpi-4.1.4.
    place
        Where it is.
    kinds
        What else a person may call it.
    words
        Place → what stands there; a place that it has nothing for is not there.
    building, running
        Variables of the build's commands, and of what was built.
    files
        Paths that tell this version from a later one.
    takes
        Of a compiler: the wrappers of MPIs that can be made to call it.
    """

    name: str
    place: str = ""
    kinds: frozenset[str] = frozenset()
    words: Mapping[str, str] = field(default_factory=dict)
    building: Mapping[str, str] = field(default_factory=dict)
    running: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    takes: frozenset[str] = frozenset()

    def is_meant_by(self, word: str) -> bool:
        """Whether a person's word for it means this one."""
        return word in (self.name, *self.kinds)


Toolbox = Mapping[str, Mapping[str, Tool]]
"""Tool's knob → name → what the nodes have, the one that is used without a search first."""

Values = Mapping[str, Param]
"""What makes one build: tools' names, and parameters that the recipe has places for."""


@dataclass(frozen=True)
class BuildRequest:
    """What the node that builds is asked for; see `wulf.agent.jobs.build_tree`."""

    commands: tuple[tuple[str, ...], ...]
    files: Mapping[str, str]
    environment: Mapping[str, str]
    uses: tuple[str, ...]


def combinations(recipe: Recipe, box: Toolbox, parameters: Sequence[Knob]) -> Iterator[dict[str, Param]]:
    """Every build that the search may want: the defaults first, the last one changing fastest."""
    ours = [knob for knob in parameters if knob.name in recipe.places]
    tools: list[list[Param]] = [[*box[tool]] for tool in recipe.tools]
    columns = [*tools, *map(_default_first, ours)]
    names = [*recipe.tools, *(knob.name for knob in ours)]
    return (dict(zip(names, values, strict=True)) for values in product(*columns))


def _default_first(knob: Knob) -> list[Param]:
    return sorted(knob.values, key=lambda value: value != knob.default)


def lacking(recipe: Recipe, box: Toolbox, values: Values) -> str:
    """Why this combination can't even be begun; empty: it can."""
    tools = _tools(box, values)
    compiler, mpi = tools.get(COMPILER), tools.get(MPI)
    for place in sorted(recipe.places & PLACES.keys()):
        if compiler and (program := CALLS.get(place, place)) in LANGUAGES and program not in compiler.words:
            return f"{compiler.name} has no compiler of {LANGUAGES[program]} on the node that builds"
        if mpi and place in CALLS and place not in mpi.words:
            return f"{mpi.name} has no {place} on the node that builds"
    if compiler and mpi and (wrapper := mpi.words.get("mpicc")) and wrapper not in compiler.takes:
        return f"{wrapper} can't be made to call {compiler.name}: neither OMPI_CC, MPICH_CC nor I_MPI_CC does it"
    return ""


def request_of(recipe: Recipe, box: Toolbox, values: Values) -> BuildRequest:
    """The commands with everything in its place. Raises ValueError where a quotation mark is open."""
    tools = _tools(box, values).values()
    words = {**values, **{place: word for tool in tools for place, word in tool.words.items()}}
    return BuildRequest(
        tuple(tuple(shlex.split(filled(command, words))) for command in recipe.commands),
        {name: filled(text, words) for name, text in recipe.files.items()},
        {name: value for tool in tools for name, value in tool.building.items()},
        tuple(path for tool in tools for path in tool.files),
    )


def running(box: Toolbox, values: Values) -> dict[str, str]:
    """The variables with which what was built finds the libraries that it was built with."""
    return {name: value for tool in _tools(box, values).values() for name, value in tool.running.items()}


def _tools(box: Toolbox, values: Values) -> dict[str, Tool]:
    return {knob: box[knob][str(values[knob])] for knob in TOOLS if knob in box and knob in values}


def tool_knobs(box: Toolbox, recipe: Recipe, built: Sequence[Values]) -> tuple[Knob, ...]:
    """A knob for each tool, of what was built with; its default is that of the first build."""
    return tuple(
        Knob(tool, tuple(name for name in box[tool] if any(one[tool] == name for one in built)), built[0][tool])
        for tool in recipe.tools
    )


def excluding(failed: Sequence[Values], built: Sequence[Values]) -> tuple[str, ...]:
    """Conditions that keep a search from combinations that can't be built, though each of their values can."""
    alive = {(name, repr(value)) for one in built for name, value in one.items()}
    return tuple(
        f"not ({' and '.join(f'{name} == {value!r}' for name, value in one.items())})"
        for one in failed if all((name, repr(value)) in alive for name, value in one.items())
    )  # fmt: skip
