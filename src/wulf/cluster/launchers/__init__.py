"""Ways to start programs on nodes. A module of this package is a launcher of its name; `null` is the template.

A launcher's module has a class `LAUNCHER`, a `wulf.cluster.launcher.Launcher`. Nothing else need be changed.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING

from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.cluster.inventory import Inventory
    from wulf.cluster.launcher import Launcher


@functools.cache
def launcher_names() -> tuple[str, ...]:
    """The names of all launchers."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


INTERNAL = ("lab", "null")
"""Launchers that nobody chooses: --lab has its own, and `null` is the template."""


def offered_launchers() -> list[str]:
    """The names that --launcher takes."""
    return [name for name in launcher_names() if name not in INTERNAL]


def check_launcher(name: str) -> None:
    """UsageError where there is none of that name."""
    names = launcher_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        raise UsageError(
            f"{name!r} is no launcher",
            f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}",
        )


def make_launcher(inventory: Inventory) -> Launcher:
    """The launcher that the inventory names.

    Raises
    ------
    UsageError
        There is none of that name.
    """
    check_launcher(inventory.launcher)
    module = importlib.import_module(f"{__name__}.{inventory.launcher}")
    launcher: Launcher = module.LAUNCHER(inventory)
    return launcher
