"""What is configured, in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wulf.core.configuration import RUNS, Configuration, ConfiguredValue
from wulf.core.names import plural
from wulf.report.kit.view import Columns, Section, View


def configuration_view(
    found: Configuration, files: Sequence[Path], variables: Mapping[str, str], nobodys: Sequence[ConfiguredValue]
) -> View:
    """The settings that count, what they are taken from, and those that are of no use.

    Parameters
    ----------
    variables
        The environment's that are wulf's.
    nobodys
        Settings that no command has an option for.
    """
    counting = [one for one in found.settings if one not in nobodys and not _beaten(one, found)]
    sections = [_file(path, found, counting) for path in files]
    if variables:
        table = Columns(("variable", "value"), list(variables.items()), words=2)
        sections.append(Section("Environment, which comes before files", table=table))
    if nobodys:
        lines = [f"{one.key} in {one.file}" for one in nobodys]
        sections.append(Section("Of no use: no command takes these from a file", lines))
    what = plural(len(counting), "setting") if counting else "Nothing"
    return View("What is configured", f"{what} {'are' if len(counting) > 1 else 'is'} configured", sections)


def _file(path: Path, found: Configuration, counting: Sequence[ConfiguredValue]) -> Section:
    """What of a file counts; the files stand one below the other, the weakest first."""
    own = [one for one in found.settings if one.file == path]
    rows = [(one.key, _shown(one), _whose(one)) for one in own if one in counting]
    beaten = [
        f"{one.key} = {_shown(one)} does not count: a file below says otherwise" for one in own if _beaten(one, found)
    ]
    if rows:
        return Section(str(path), table=Columns(("key", "value", "of"), rows, words=3), small=beaten)
    return Section(
        str(path), beaten or ["nothing here counts" if own else "nothing is set" if path.is_file() else "not there"]
    )


def configuration_object(
    found: Configuration, files: Sequence[Path], variables: Mapping[str, str], nobodys: Sequence[ConfiguredValue]
) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "settings": [
            {
                "key": one.key, "value": one.value, "file": str(one.file), "counts": not _beaten(one, found),
                "known": one not in nobodys,
            }
            for one in found.settings
        ],
        "files": [{"path": str(path), "read": path.is_file()} for path in files],
        "environment": dict(variables),
    }  # fmt: skip


def _beaten(setting: ConfiguredValue, found: Configuration) -> bool:
    """Whether a stronger file has the same."""
    return [one for one in found.settings if one.place == setting.place][-1] is not setting


def _whose(setting: ConfiguredValue) -> str:
    if setting.place == (RUNS,):
        return "all commands"
    tables = " ".join(setting.place[:-1])
    return f"wulf {tables}" if tables else f"all with --{setting.place[-1]}"


def _shown(setting: ConfiguredValue) -> str:
    values = setting.value if isinstance(setting.value, list) else [setting.value]
    return ", ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
