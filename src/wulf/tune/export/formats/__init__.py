"""Formats of export: every module of this package is one, found by itself, that holds a `FORMAT`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from wulf.tune.export.format import Format


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """Every format by its name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f"{__name__}.{name}").FORMAT for name in names]
    return {each.name: each for each in found}
