"""What nodes say their settings are: which to ask for, and how a value is compared and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wulf.agent.settings import mechanisms
from wulf.core.units import show
from wulf.tune.setting import Setting

Reading = Mapping[str, Any]
"""Of one setting at one place: {"value", "startup"} or {"value": None, "reason", "absent"?}; "startup_reason"."""

Places = Mapping[str, Reading]
"""Place → reading; '' is the whole node."""

Readings = Mapping[str, Mapping[str, Places]]
"""Node → setting → place → reading, as settings.json holds them."""


def wanted(settings: Iterable[Setting], networks: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What to ask an agent for: the settings that a node can be asked about, in the words of its `settings` operation.

    Left out are those that only a person can look at (mechanism 'advice').

    Parameters
    ----------
    networks
        The cluster's, in CIDR; for settings that are about networks: a way past the firewall.
    """
    known = mechanisms()
    return [
        {"name": setting.name, "mechanism": setting.mechanism, "target": {**setting.target, **more}}
        for setting in settings
        if setting.mechanism in known
        for more in [{"networks": list(networks)} if networks and _about_networks(setting) else {}]
    ]


def _about_networks(setting: Setting) -> bool:
    return setting.access == "write" and "networks" in mechanisms()[setting.mechanism].optional


def shown(value: Any, unit: str | None = None) -> str:
    """A value for people; exact, since 1500 B is no 1.46 KiB."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        exact = unit in ("B", "1", None, "") or value == 0
        return f"{value:.12g} {'' if unit in ('1', None) else unit}".rstrip() if exact else show(value, str(unit), 6)
    return str(value)
