"""A program of the user's own and what may be varied in it: `my.toml`.

command = "./solve --block {block} --threads {threads} --size {n}"
figure = "GFLOPS: ([0-9.e+]+)"      # absent: wall time
unit = "flop/s"
better = "higher"
check = ["PASSED"]                  # what a right answer has in its output
conditions = ["block * threads <= 1024"]

[sizes]                             # absent: one size alone
name = "n"
values = [500, 1000, 2000]          # ascending, the last in full
power = 3                           # how time grows

[parameters.block]
values = [32, 64, 128]              # or from = 32, to = 512, and step = 32 or times = 2
default = 64

[parameters.threads]
from = 1
to = 8
times = 2
environment = "OMP_NUM_THREADS"     # instead of a place in the command

[settings]
"net.somaxconn" = [4096, 1024]      # of the catalogue, what is there first: see docs/reference/settings.md

[build]                             # absent: the command is there; else {program} in it is what is built
source = "/home/me/solve"           # a folder of the first node
commands = ["{mpicc} -O3 -o solve solve.c {blas}"]
product = "solve"
mpi = ["openmpi"]                   # absent: every one found that the commands have a place for; so compiler, blas
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, toml_of
from wulf.core.records import Param
from wulf.search.expression import Expression
from wulf.search.places import filled, places_of
from wulf.search.recipe import MPI, PLACES, PROGRAM, TOOLS, Recipe
from wulf.search.space import Knob, Space, written

MOST_VALUES = 1000
SIZE = "size"

TOP = {
    "command": str, "figure": str, "unit": str, "better": str, "check": list, "timeout": (int, float), "chdir": str,
    "conditions": list, "environment": dict, "sizes": dict, "parameters": dict, "settings": dict, "ranks": int,
    "build": dict,
}  # fmt: skip
PARAMETER = {
    "values": list, "from": (int, float), "to": (int, float), "step": (int, float), "times": (int, float),
    "default": object, "environment": str,
}  # fmt: skip
SIZES = {"name": str, "values": list, "power": (int, float)}
BUILD = {"source": str, "commands": list, "product": str, **dict.fromkeys(TOOLS, list)}


@dataclass(frozen=True)
class Own:
    """A program and what may be varied in it, as the file has them.

    Attributes
    ----------
    command
        Words with placeholders.
    knobs, conditions
        Of its space, but for the tools of its recipe, which the nodes know.
    variables
        Environment with placeholders: those of the file, and the parameters that go there.
    better
        "higher" or "lower".
    size_name, sizes, power
        Which placeholder is the problem's size; (1,) and 0 where there is none.
    ranks
        Over so many, by an MPI; None: not an MPI's program.
    recipe
        What makes the program; None: it is there.
    """

    command: tuple[str, ...]
    knobs: tuple[Knob, ...]
    conditions: tuple[str, ...]
    variables: Mapping[str, str]
    figure: str | None = None
    unit: str = "s"
    better: str = "lower"
    checks: tuple[str, ...] = ()
    timeout: float = 600.0
    chdir: str | None = None
    size_name: str = SIZE
    sizes: tuple[float, ...] = (1.0,)
    power: float = 0.0
    ranks: int | None = None
    recipe: Recipe | None = None

    @property
    def settings(self) -> dict[str, tuple[Param, ...]]:
        """Of its knobs those that are settings of nodes: name → values, what is there first."""
        return {knob.name: knob.values for knob in self.knobs if knob.setting}

    def space(self, tools: Sequence[Knob] = (), conditions: Sequence[str] = ()) -> Space:
        """The space, with the tools that the nodes have, and what can't be built of them.

        Raises
        ------
        UsageError
            There is nothing to search, or a condition is none.
        """
        given: dict[str, Param] = {} if self.ranks is None else {"ranks": self.ranks}
        return Space((*tools, *self.knobs), (*self.conditions, *conditions), given)

    def filled(self, values: Mapping[str, Param]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Command and environment with these values in their places."""
        words = tuple(filled(word, values) for word in self.command)
        return words, {name: filled(text, values) for name, text in self.variables.items()}


def read_own(path: Path, settings: Mapping[str, Any] | None = None) -> Own:
    """Read such a file.

    Parameters
    ----------
    settings
        The catalogue, by name.

    Raises
    ------
    UsageError
        Names file, field and value.
    """
    try:
        found = toml_of(path)
    except Unreadable as error:
        raise UsageError(f"{path} can't be read: {error}", "name a file such as docs/how-to/search.md shows") from error
    try:
        return own_of(found, settings or {})
    except UsageError as error:
        raise UsageError(f"{path}: {error.what}", error.next_step) from error


def own_of(found: Mapping[str, Any], catalogue: Mapping[str, Any]) -> Own:
    """From the file's content. Raises UsageError that names field and value."""
    _check_fields("", found, TOP)
    command = _words(found)
    better = found.get("better", "higher" if "figure" in found else "lower")
    if better not in ("higher", "lower"):
        raise UsageError(f"better = {better!r}", "'higher' or 'lower'")
    size_name, sizes, power = _sizes(found.get("sizes"))
    knobs = [_knob(name, given) for name, given in found.get("parameters", {}).items()]
    knobs += [_setting(name, values, catalogue) for name, values in found.get("settings", {}).items()]
    variables = {str(k): written(v) for k, v in found.get("environment", {}).items()}
    own_variables = {
        given["environment"]: f"{{{name}}}"
        for name, given in found.get("parameters", {}).items()
        if "environment" in given
    }
    made = Own(
        command, tuple(knobs), _texts("conditions", found.get("conditions", [])),
        {**variables, **own_variables}, found.get("figure"), found.get("unit", "s"), better,
        _texts("check", found.get("check", [])), float(found.get("timeout", 600.0)), found.get("chdir"),
        size_name, sizes, power, found.get("ranks"), _recipe(found.get("build")),
    )  # fmt: skip
    if made.recipe is None:
        made.space()  # what is wrong with it is said now
    else:
        _check_recipe(made, made.recipe)
    _check_places(made, found)
    return made


def _recipe(given: Mapping[str, Any] | None) -> Recipe | None:
    if given is None:
        return None
    _check_fields("build.", given, BUILD)
    for name in ("source", "commands", "product"):
        if not given.get(name):
            step = "a recipe is source, commands and product: docs/how-to/search.md"
            raise UsageError(f"build.{name} is missing", step)
    wanted = {tool: _texts(f"build.{tool}", given[tool]) for tool in TOOLS if tool in given}
    recipe = Recipe(given["source"], _texts("build.commands", given["commands"]), given["product"], wanted=wanted)
    for command in recipe.commands:
        try:
            shlex.split(command)
        except ValueError as error:
            raise UsageError(f"build.commands: {command!r}: {error}", "quote it as for a shell") from error
    idle = [tool for tool in wanted if tool not in recipe.tools]
    if idle:
        raise UsageError(f"build.{idle[0]} has no place in the commands", f"write {_place_of(idle[0])} there")
    return recipe


def _place_of(tool: str) -> str:
    return next(f"{{{place}}}" for place, tools in PLACES.items() if tools[0] == tool)


def _check_recipe(own: Own, recipe: Recipe) -> None:
    """What can be said of a recipe before the nodes are asked for their tools."""
    if PROGRAM not in places_of(own.command):
        raise UsageError(f"what is built has no place in the command: {' '.join(own.command)}", "write {program} there")
    if MPI in recipe.tools and own.ranks is None:
        raise UsageError("the recipe is an MPI program's, and ranks is missing", "ranks = 4")
    names = {knob.name for knob in own.knobs}
    for name in sorted(names & {*TOOLS, *PLACES, PROGRAM}):
        raise UsageError(f"parameters.{name} is a name of what builds the program", "give it another name")
    for name in sorted(recipe.places - names - PLACES.keys()):
        raise UsageError(f"build.commands: {{{name}}} is neither a tool nor a parameter", ", ".join((*PLACES, *names)))
    for text in own.conditions:
        Expression(text, frozenset([*names, *recipe.tools, "ranks"]))


def _check_fields(where: str, found: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for name, value in found.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            raise UsageError(f"{where}{name} is no field", f"did you mean {close[0]}?" if close else ", ".join(known))
        wanted = known[name]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not object):
            kinds = wanted if isinstance(wanted, tuple) else (wanted,)
            raise UsageError(
                f"{where}{name} = {value!r}", f"it is to be {' or '.join(kind.__name__ for kind in kinds)}"
            )


def _words(found: Mapping[str, Any]) -> tuple[str, ...]:
    if not found.get("command"):
        raise UsageError("command is missing", 'write one: command = "./solve --block {block}"')
    try:
        return tuple(shlex.split(found["command"]))
    except ValueError as error:
        raise UsageError(f"command = {found['command']!r}: {error}", "quote it as for a shell") from error


def _texts(name: str, values: Sequence[Any]) -> tuple[str, ...]:
    for value in values:
        if not isinstance(value, str):
            raise UsageError(f"{name} has {value!r}", "texts alone")
    return tuple(values)


def _sizes(found: Mapping[str, Any] | None) -> tuple[str, tuple[float, ...], float]:
    if found is None:
        return SIZE, (1.0,), 0.0
    _check_fields("sizes.", found, SIZES)
    values = found.get("values", [])
    if not values or any(isinstance(v, bool) or not isinstance(v, int | float) or v <= 0 for v in values):
        raise UsageError(f"sizes.values = {values!r}", "numbers above 0, ascending: [500, 1000, 2000]")
    if list(values) != sorted(set(values)):
        raise UsageError(f"sizes.values = {values!r} do not ascend", "the last is the full size")
    if "name" not in found:
        raise UsageError("sizes.name is missing", 'it is the placeholder of the size: name = "n"')
    return found["name"], tuple(map(float, values)), float(found.get("power", 1.0))


def _knob(name: str, given: Any) -> Knob:
    if not isinstance(given, Mapping):
        raise UsageError(f"parameters.{name} = {given!r} is no table", f"write [parameters.{name}] and values = […]")
    where = f"parameters.{name}."
    _check_fields(where, given, PARAMETER)
    values = _values(where, given)
    for value in values:
        if not isinstance(value, int | float | str):
            raise UsageError(f"{where}values has {value!r}", "numbers, texts, true or false")
    default = given.get("default", values[0])
    if default not in values:
        raise UsageError(f"{where}default = {default!r} is none of its values", ", ".join(map(str, values[:12])))
    return Knob(name, values, default)


def _values(where: str, given: Mapping[str, Any]) -> tuple[Param, ...]:
    if "values" in given:
        if not given["values"]:
            raise UsageError(f"{where}values is empty", "give one value at least")
        return tuple(given["values"])
    if "from" not in given or "to" not in given or ("step" in given) == ("times" in given):
        raise UsageError(f"{where}values is missing", "or from, to, and one of step and times")
    now, end = given["from"], given["to"]
    step, times = given.get("step", 0), given.get("times", 1)
    if end < now or (step <= 0 and times <= 1) or (times > 1 and now <= 0):
        raise UsageError(f"{where}from = {now} to {end} never ends", "to is greater, step above 0, times above 1")
    found: list[Param] = []
    while now <= end and len(found) <= MOST_VALUES:
        found.append(now)
        now = now * times + step
    if len(found) > MOST_VALUES:
        raise UsageError(f"{where}from {given['from']} to {end} has more than {MOST_VALUES} values", "a larger step")
    return tuple(found)


def _setting(name: str, values: Any, catalogue: Mapping[str, Any]) -> Knob:
    if name not in catalogue:
        close = get_close_matches(name, catalogue, n=1)
        raise UsageError(
            f"settings.{name} is no setting", f"did you mean {close[0]}?" if close else "docs/reference/settings.md"
        )
    if not isinstance(values, list) or len(values) < 2:
        raise UsageError(f"settings.{name} = {values!r}", "two values or more, the one that is there first")
    kinds: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float)}
    wanted = getattr(catalogue[name], "type", "str")
    for value in values:
        if not isinstance(value, kinds.get(wanted, (str,))) or (isinstance(value, bool) and wanted != "bool"):
            raise UsageError(f"settings.{name} has {value!r}", f"it is of type {wanted}: docs/reference/settings.md")
    return Knob(name, tuple(values), values[0], setting=name)


def _check_places(own: Own, found: Mapping[str, Any]) -> None:
    """Every parameter has a place, and every place that is named is a parameter's."""
    places = places_of((*own.command, *own.variables.values()))
    names = {knob.name for knob in own.knobs if not knob.setting}
    built = set() if own.recipe is None else own.recipe.places
    known = {*names, "ranks", *([own.size_name] if "sizes" in found else []), *([PROGRAM] if own.recipe else [])}
    for name in sorted(places - known):
        close = get_close_matches(name, known, n=1)
        raise UsageError(
            f"command: {{{name}}} is no parameter",
            f"did you mean {{{close[0]}}}?" if close else f"add [parameters.{name}]",
        )
    for name in sorted(names - places - built):
        raise UsageError(
            f"parameters.{name} has no place in the command", f'write {{{name}}} there, or environment = "NAME"'
        )
    if "sizes" in found and own.size_name not in places:
        raise UsageError(
            f"sizes.name = {own.size_name!r} has no place in the command", f"write {{{own.size_name}}} there"
        )
