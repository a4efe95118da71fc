"""Parameters with type, unit and limits: what a probe or an application takes, and the check of what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.core.records import Param

_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}


@dataclass(frozen=True)
class ParamSpec:
    """One parameter; `default` None = chosen by what takes it, as `help` says; `type` is int, float, bool or str."""

    name: str
    type: str
    unit: str
    help: str
    default: Param = None
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()


def check_params(owner: str, specs: Sequence[ParamSpec], given: Mapping[str, Param]) -> None:
    """Check parameters before any node is touched.

    Parameters
    ----------
    owner
        Whose they are, for the message.

    Raises
    ------
    UsageError
        Names the field, the value and the limit.
    """
    known = {spec.name: spec for spec in specs}
    for name, value in given.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            raise UsageError(
                f"{owner} has no parameter {name!r}",
                f"did you mean {close[0]!r}?" if close else f"parameters: {', '.join(known)}",
            )
        check_value(known[name], value)


def with_defaults(specs: Sequence[ParamSpec], given: Mapping[str, Param]) -> dict[str, Param]:
    """Every parameter: as given, or else its default."""
    return {spec.name: given.get(spec.name) if given.get(spec.name) is not None else spec.default for spec in specs}


def check_value(spec: ParamSpec, value: Param) -> None:
    """Type and range of one parameter, as a UsageError."""
    if value is None:
        return
    if not isinstance(value, _TYPES[spec.type]) or (isinstance(value, bool) and spec.type != "bool"):
        raise UsageError(f"{spec.name} = {value!r} is not {'an' if spec.type == 'int' else 'a'} {spec.type}")
    if spec.choices and value not in spec.choices:
        raise UsageError(f"{spec.name} = {value!r} is none of its choices", f"choices: {', '.join(spec.choices)}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        unit = f" {spec.unit}" if spec.unit else ""
        if spec.min is not None and value < spec.min:
            raise UsageError(f"{spec.name} = {value}{unit} is too small", f"at least {spec.min:g}{unit}")
        if spec.max is not None and value > spec.max:
            raise UsageError(f"{spec.name} = {value}{unit} is too large", f"at most {spec.max:g}{unit}")
