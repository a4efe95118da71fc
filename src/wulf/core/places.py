"""The user's own folders, as the XDG Base Directory specification has them."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

_DEFAULTS = {"cache": ".cache", "config": ".config", "state": ".local/state"}


def user_folder(kind: Literal["cache", "config", "state"], environ: Mapping[str, str] = os.environ) -> Path:
    """wulf's own: below $XDG_CACHE_HOME, $XDG_CONFIG_HOME or $XDG_STATE_HOME, else below ~/.cache and so on.

    One that is relative is ignored, as the specification asks; so is such a HOME. It need not be there.
    """
    given = Path(environ.get(f"XDG_{kind.upper()}_HOME", ""))
    return (given if given.is_absolute() else _home(environ) / _DEFAULTS[kind]) / "wulf"


def _home(environ: Mapping[str, str]) -> Path:
    """Of whom no file of accounts knows, as in a container, it is /."""
    given = Path(environ.get("HOME", ""))
    if given.is_absolute():
        return given
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path("/")
