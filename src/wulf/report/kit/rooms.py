"""The rooms of wulf.report: what each adds is found in it, by its module's name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

import wulf.report


def of_rooms(name: str) -> Iterator[ModuleType]:
    """The modules of this name, one of each room that has it, by the rooms' names."""
    for room in iter_modules(wulf.report.__path__, f"{wulf.report.__name__}."):
        if room.ispkg and find_spec(f"{room.name}.{name}"):
            yield import_module(f"{room.name}.{name}")
