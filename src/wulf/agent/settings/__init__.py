"""Settings of a node: every other module of this package is one mechanism by which some of them are read and written.

A mechanism knows nothing of the catalogue: a request brings its own words (`target`) along. A new one is a new module,
found by itself, that holds a `mechanism`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wulf.agent.importing import IMPORTING
from wulf.agent.session import Refused
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wulf.agent.machine import Machine
    from wulf.agent.mechanism import Mechanism

__all__ = ["check", "mechanisms", "read_all", "reading"]


_ODD = (OSError, ValueError, LookupError, TypeError, ArithmeticError)
"""What odd contents of a file raise, on a kernel that we have not met: that must not cost all the other settings."""


@lru_cache(maxsize=1)
def mechanisms() -> dict[str, Mechanism]:
    """Every mechanism by its name, which is its module's."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))  # works inside a zip, too
    with IMPORTING:
        return {name: importlib.import_module(f"{__name__}.{name}").mechanism for name in names}


def check(wanted: Any) -> None:
    """Raises Refused where a request for settings is not as `read_all` needs it."""
    for each in wanted if isinstance(wanted, list) else [wanted]:
        if not isinstance(each, dict) or set(each) != {"name", "mechanism", "target"}:
            raise Refused("bad-parameter", f"read must be a list of {{name, mechanism, target}}, not {each!r}", "read")
        check_words(mechanisms(), each)


def check_words(known: Mapping[str, Mechanism], setting: Mapping[str, Any]) -> None:
    """Raises Refused where there is no such mechanism, or the setting's target is not in its words."""
    mechanism = known.get(setting["mechanism"])
    if mechanism is None:
        names = ", ".join(sorted(known))
        raise Refused(
            "bad-parameter", f"there is no mechanism {setting['mechanism']!r}; there are {names}", "mechanism"
        )
    words = set(setting["target"])
    if not set(mechanism.words) <= words <= {*mechanism.words, *mechanism.optional}:
        need = ", ".join((*mechanism.words, *(f"[{word}]" for word in mechanism.optional)))
        raise Refused("bad-parameter", f"{setting['name']}: {setting['mechanism']} takes {need}", "target")


def read_all(machine: Machine, wanted: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """What settings are: name → place ('' for the whole node, else 'eth0', 'cpu3') → reading.

    Parameters
    ----------
    wanted
        {"name", "mechanism", "target"} each.

    Returns
    -------
    A reading is {"value": …}, or {"value": None, "reason": …, "absent": True?}; beside it, unless absent, "startup"
    (what a reboot would give) or "startup_reason".
    """
    return {each["name"]: _read(machine, mechanisms()[each["mechanism"]], each["target"]) for each in wanted}


def _read(machine: Machine, mechanism: Mechanism, target: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    try:
        return {place: reading(machine, mechanism, target, place) for place in mechanism.places(machine, target)}
    except Unknown as unknown:
        return {"": _nothing(unknown)}
    except _ODD as error:
        return {"": {"value": None, "reason": f"unexpected contents: {type(error).__name__}: {error}"}}


def reading(machine: Machine, mechanism: Mechanism, target: Mapping[str, Any], place: str) -> dict[str, Any]:
    """One setting at one place."""
    try:
        found = {"value": mechanism.read(machine, target, place)}
    except Unknown as unknown:
        found = _nothing(unknown)
        if unknown.absent:
            return found
    except _ODD as error:
        found = {"value": None, "reason": f"unexpected contents: {type(error).__name__}: {error}"}
    try:
        found["startup"] = mechanism.startup(machine, target, place)
    except Unknown as unknown:
        found["startup_reason"] = unknown.reason
    except _ODD as error:
        found["startup_reason"] = f"unexpected contents: {type(error).__name__}: {error}"
    return found


def _nothing(unknown: Unknown) -> dict[str, Any]:
    return {"value": None, "reason": unknown.reason, **({"absent": True} if unknown.absent else {})}
