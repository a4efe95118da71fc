"""Applications: every module of this package that has a NAME is a driver (see `driver.Driver`), found by itself.

The other modules are what drivers share. All of it is pure: texts and numbers in, texts and numbers out.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import cast

from wulf.apps.driver import Driver
from wulf.core.errors import UsageError

__all__ = ["driver_of", "drivers"]


@lru_cache(maxsize=1)
def drivers() -> dict[str, Driver]:
    """Every driver by its name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [cast("Driver", module) for module in modules if hasattr(module, "NAME")]
    return {driver.NAME: driver for driver in found}


def driver_of(name: str) -> Driver:
    """The driver of this name.

    Raises
    ------
    UsageError
        There is none: names those there are.
    """
    try:
        return drivers()[name]
    except KeyError:
        raise UsageError(f"there is no driver for {name!r}", f"there are: {', '.join(drivers())}") from None
