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
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, toml_of
from wulf.core.records import Param
from wulf.search.space import Knob, Space, written

PLACE = re.compile(r"\{([A-Za-z_][\w.]*)\}")
"""A placeholder; what else stands in braces is left as it is."""

MOST_VALUES = 1000
SIZE = "size"

TOP = {
    "command": str, "figure": str, "unit": str, "better": str, "check": list, "timeout": (int, float), "chdir": str,
    "conditions": list, "environment": dict, "sizes": dict, "parameters": dict, "settings": dict, "ranks": int,
}  # fmt: skip
PARAMETER = {
    "values": list, "from": (int, float), "to": (int, float), "step": (int, float), "times": (int, float),
    "default": object, "environment": str,
}  # fmt: skip
SIZES = {"name": str, "values": list, "power": (int, float)}


@dataclass(frozen=True)
class Own:
    """A program and its space, as the file has them.

    Attributes
    ----------
    command
        Words with placeholders.
    variables
        Environment with placeholders: those of the file, and the parameters that go there.
    better
        "higher" or "lower".
    size_name, sizes, power
        Which placeholder is the problem's size; (1,) and 0 where there is none.
    ranks
        Over so many, by an MPI; None: not an MPI's program.
    """

    command: tuple[str, ...]
    space: Space
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

    def filled(self, values: Mapping[str, Param]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Command and environment with these values in their places."""
        words = tuple(_fill(word, values) for word in self.command)
        return words, {name: _fill(text, values) for name, text in self.variables.items()}


def _fill(text: str, values: Mapping[str, Param]) -> str:
    return PLACE.sub(lambda m: written(values[m[1]]) if m[1] in values else m[0], text)


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
    given = {"ranks": found["ranks"]} if "ranks" in found else {}
    made = Own(
        command, Space(tuple(knobs), _texts("conditions", found.get("conditions", [])), given),
        {**variables, **own_variables}, found.get("figure"), found.get("unit", "s"), better,
        _texts("check", found.get("check", [])), float(found.get("timeout", 600.0)), found.get("chdir"),
        size_name, sizes, power, found.get("ranks"),
    )  # fmt: skip
    _check_places(made, found)
    return made


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
    texts = [*own.command, *(text for text in own.variables.values())]
    places = {name for text in texts for name in PLACE.findall(text)}
    names = {knob.name for knob in own.space.knobs if not knob.setting}
    known = {*names, "ranks", *([own.size_name] if "sizes" in found else [])}
    for name in sorted(places - known):
        close = get_close_matches(name, known, n=1)
        raise UsageError(
            f"command: {{{name}}} is no parameter",
            f"did you mean {{{close[0]}}}?" if close else f"add [parameters.{name}]",
        )
    for name in sorted(names - places):
        raise UsageError(
            f"parameters.{name} has no place in the command", f'write {{{name}}} there, or environment = "NAME"'
        )
    if "sizes" in found and own.size_name not in places:
        raise UsageError(
            f"sizes.name = {own.size_name!r} has no place in the command", f"write {{{own.size_name}}} there"
        )
