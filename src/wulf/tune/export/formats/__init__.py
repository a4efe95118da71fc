"""Formats of export: every module of this package is one, found by itself, that holds a `FORMAT`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from wulf.tune.export.format import Format


def format_names() -> list[str]:
    """The names of all formats, which are those of their modules."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """Every format by its name."""
    found = [importlib.import_module(f"{__name__}.{name}").FORMAT for name in format_names()]
    return {each.name: each for each in found}
