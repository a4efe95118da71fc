"""Values of settings: as people write and read them, and when two are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from wulf.core.errors import UsageError
from wulf.core.units import show
from wulf.tune.setting import Setting, Value

Catalogue = Mapping[str, Setting]


@dataclass(frozen=True)
class Level:
    """Values that are written together: (setting, value), in the order of writing."""

    writes: tuple[tuple[str, Value], ...]


def parse_settings(text: str, catalogue: Catalogue) -> dict[str, tuple[Value, ...]]:
    """`nic.mtu=3000:9000,nic.gro` to names with the values to try.

    Raises
    ------
    UsageError
        There is no such setting, or the value is not of its type.
    """
    found: dict[str, tuple[Value, ...]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, values = part.partition("=")
        if name not in catalogue:
            raise UsageError(f"--settings: there is no setting {name!r}", did_you_mean(name, catalogue))
        found[name] = tuple(parse_value(catalogue[name], one) for one in values.split(":")) if equals else ()
    if not found:
        raise UsageError("--settings names no setting", "write nic.mtu,nic.gro or nic.mtu=9000")
    return found


def did_you_mean(name: str, catalogue: Catalogue) -> str:
    """Names that are spelt alike, or that begin with the same word."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(catalogue)) or [
        n for n in catalogue if n.split(".")[0] == name.split(".", maxsplit=1)[0]
    ]
    return f"did you mean {', '.join(close)}?" if close else "docs/reference/settings.md lists them"


def parse_value(setting: Setting, text: str) -> Value:
    """A setting's value as a person writes it: SI units, on and off."""
    words: dict[str, Value] = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
    try:
        if setting.type == "bool":
            return words[text.lower()]
        if setting.type in ("int", "float"):
            return int(text) if setting.type == "int" else float(text)
    except (KeyError, ValueError) as error:
        raise UsageError(
            f"--settings: {setting.name} is {setting.type}, not {text!r}", "see docs/reference/settings.md"
        ) from error
    return text


def value_text(setting: Setting, value: Any) -> str:
    """A value for people."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float) and setting.unit == "s":
        return show(float(value), "s")
    scaled = setting.unit not in (None, "1") and isinstance(value, int | float)
    return f"{value} {setting.unit}" if scaled else str(value)


def with_networks(catalogue: Catalogue, networks: Sequence[str]) -> dict[str, Setting]:
    """The catalogue, in which a bypass of the firewall names the cluster's networks."""
    if not networks:
        return dict(catalogue)
    return {
        name: setting.model_copy(update={"target": {**setting.target, "networks": list(networks)}})
        if setting.mechanism == "nftables" and setting.target.get("what") == "bypass" else setting
        for name, setting in catalogue.items()
    }  # fmt: skip


def request_of(setting: Setting) -> dict[str, Any]:
    """How the agent is asked to read a setting."""
    return {"name": setting.name, "mechanism": setting.mechanism, "target": dict(setting.target)}


def level_text(catalogue: Catalogue, level: Level) -> str:
    """`nic.adaptive_rx = off, nic.rx_usecs = 0 s`."""
    return ", ".join(f"{name} = {value_text(catalogue[name], value)}" for name, value in level.writes)


def same(one: Any, other: Any) -> bool:
    """Whether two values are one: numbers but for rounding, texts but for blanks; on is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    return bool(one == other)
