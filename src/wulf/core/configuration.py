"""What a user or a site has set for every command: config.toml.

runs = "/data/wulf/runs"   # where runs go, in the place of ./runs
inventory = "/etc/wulf/cluster.toml"
width = "3%"               # any option by its long name: of every command that has it

[survey]                   # of one command, or of all commands of a group
quick = true

[net.stream]
seconds = 2

What is written nearer to the command counts, and the user's file before the site's. The command line comes before both,
and so does an environment variable that says the same (WULF_RUNS).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, text_of, toml
from wulf.core.places import user_folder

SITE = Path("/etc/wulf/config.toml")
VARIABLE = "WULF_CONFIG"

MOST = 1 << 20
"""Bytes of a file."""

DEEPEST = 3
"""Words of a command, at most."""

RUNS = "runs"
"""The one key that is no command's option."""

Scalar = str | int | float | bool
Value = Scalar | list[Scalar]


@dataclass(frozen=True)
class ConfiguredValue:
    """A value, and where it is written.

    Attributes
    ----------
    place
        The tables that it stands in, and its key: ("net", "stream", "seconds").
    """

    place: tuple[str, ...]
    value: Value
    file: Path

    def path(self, value: Scalar) -> Path:
        """A value, or one of its parts, as a path: relative to the file, `~` for the user's home."""
        return self.file.parent / Path(str(value)).expanduser()

    @property
    def key(self) -> str:
        """As it is written in the file, behind its tables."""
        return ".".join(self.place)


@dataclass(frozen=True)
class Configuration:
    """All settings of all files, the weakest first."""

    settings: tuple[ConfiguredValue, ...] = ()

    def of(self, command: Sequence[str]) -> dict[str, ConfiguredValue]:
        """Option → what counts for a command, which is named by its words: ("net", "stream")."""
        words = tuple(command)
        near = [one for one in self.settings if one.place[:-1] == words[: len(one.place) - 1]]
        return {one.place[-1]: one for one in sorted(near, key=lambda one: len(one.place))}

    @property
    def runs(self) -> Path | None:
        """Where runs go.

        Raises
        ------
        UsageError
            It is no path.
        """
        setting = self.of(()).get(RUNS)
        if setting is None:
            return None
        if not isinstance(setting.value, str) or not setting.value:
            raise UsageError(f"{setting.file}: {setting.key} = {setting.value!r} is no path")
        return setting.path(setting.value)


def user_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own file: $XDG_CONFIG_HOME/wulf/config.toml, else ~/.config/wulf/config.toml."""
    return user_folder("config", environ) / "config.toml"


def paths(environ: Mapping[str, str] = os.environ, site: Path = SITE) -> list[Path]:
    """Where configuration is looked for, the weakest first; WULF_CONFIG names one file for all, or none by ''."""
    given = environ.get(VARIABLE)
    return [site, user_path(environ)] if given is None else [Path(given)] if given else []


def read(files: Sequence[Path], *, needed: bool = False) -> Configuration:
    """What the files say that there are.

    Raises
    ------
    UsageError
        One can't be read, is no TOML, or a value is none that an option can have; or, where all are `needed`, is not
        there.
    """
    found: list[ConfiguredValue] = []
    for path in files:
        try:
            content = toml(text_of(path, MOST))
        except Unreadable as error:
            if error.absent and not needed:
                continue
            raise UsageError(
                f"{path}: can't read the configuration: {error}", "`wulf config --help` has an example"
            ) from error
        found += _settings(content, (), path)
    return Configuration(tuple(found))


@cache
def configuration() -> Configuration:
    """What is set for this process."""
    return read(paths(), needed=bool(os.environ.get(VARIABLE)))


def _settings(table: Mapping[str, Any], above: tuple[str, ...], file: Path) -> Iterator[ConfiguredValue]:
    for name, value in table.items():
        place = (*above, name.replace("_", "-"))
        if isinstance(value, dict) and len(place) > DEEPEST:
            raise UsageError(
                f"{file}: {'.'.join(place)} is nested deeper than commands are", "`wulf --help` lists them"
            )
        if isinstance(value, dict):
            yield from _settings(value, place, file)
        elif isinstance(value, Scalar) or (isinstance(value, list) and all(isinstance(one, Scalar) for one in value)):
            yield ConfiguredValue(place, value, file)
        else:
            raise UsageError(
                f"{file}: {'.'.join(place)} = {value} is no text, number, true or false, nor a list of such",
                "`wulf config --help` has an example",
            )
