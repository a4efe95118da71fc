"""Where the rates file is.

Readers look for the first of: the file that WULF_RATES names; /run/wulf/rates.json, the machine's; the user's own below
$XDG_CACHE_HOME or ~/.cache. The first that exists decides: one that is torn or stale is an error, and no reason to look
further, since the next may be older still.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from wulf.core.places import user_folder

SYSTEM = Path("/run/wulf/rates.json")
VARIABLE = "WULF_RATES"


def user_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own file: $XDG_CACHE_HOME/wulf/rates.json, else ~/.cache/wulf/rates.json."""
    return user_folder("cache", environ) / "rates.json"


def read_path(environ: Mapping[str, str] = os.environ, system: Path = SYSTEM) -> Path:
    """The file that readers take; where there is none, the one that they would take last."""
    if given := environ.get(VARIABLE):
        return Path(given)
    return system if system.exists() else user_path(environ)


def write_path(environ: Mapping[str, str] = os.environ, system: Path = SYSTEM) -> Path:
    """The file that is published: WULF_RATES, else the machine's where its folder is writable, else the user's own."""
    if given := environ.get(VARIABLE):
        return Path(given)
    folder = system.parent if system.parent.is_dir() else system.parent.parent
    return system if os.access(folder, os.W_OK | os.X_OK) else user_path(environ)
