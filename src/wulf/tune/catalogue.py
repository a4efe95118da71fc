"""The catalogue: one TOML a setting, in the folder of this module's name beside it."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from wulf.core.errors import UsageError
from wulf.tune.setting import Setting

FOLDER = Path(__file__).with_suffix("")


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Setting]:
    """All settings by name, sorted. Raises UsageError, naming the file and the field, where one is wrong."""
    return {setting.name: setting for setting in map(read, sorted(FOLDER.glob("*.toml")))}


def read(path: Path) -> Setting:
    """One entry; its file is named after it."""
    try:
        setting = Setting.model_validate(tomllib.loads(path.read_text()))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise UsageError(
            f"{path} is no entry of the catalogue: {error}", "its fields are explained in wulf/tune/setting.py"
        ) from error
    if path.stem != setting.name:
        raise UsageError(f"{path} holds the setting {setting.name}", f"name the file {setting.name}.toml")
    return setting
