"""Whom the sentry tells: a module here is a channel, with one function; a field of the plan's [tell] asks for it.

    def send(one: Delivery, tell: Tell, key: str) -> None

It tells one event, whole, or raises `Untold` with the reason, in which nothing secret stands; it is tried again later,
with the same `key`. It takes no longer than `PATIENCE`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from wulf.sentry.plan import Tell
from wulf.sentry.state import Delivery

Send = Callable[[Delivery, Tell, str], None]


@cache
def channels() -> dict[str, Send]:
    """Name → its function."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "untold")
    return {name: importlib.import_module(f"{__name__}.{name}").send for name in names}


def wanted(tell: Tell) -> list[str]:
    """Those that a plan asks for."""
    return [name for name in channels() if getattr(tell, name)]
