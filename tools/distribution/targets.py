"""The distributions that packages are made for: packaging/targets.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from provision.runner import SetupError


@dataclass(frozen=True)
class Target:
    """One package; packaging/targets.toml explains the fields."""

    name: str
    format: str
    python: str
    release: str
    requires: tuple[str, ...]
    recommends: tuple[str, ...]
    suggests: tuple[str, ...]

    @property
    def interpreter(self) -> str:
        return f"/usr/bin/python{self.python}"


def read(path: Path) -> list[Target]:
    """Read targets.toml: each requires its Python and the libraries. An unknown or missing field is Python's error."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))
    for entry in listed["target"]:
        entry["requires"] += listed["libraries"][entry["format"]]
        for name in ("requires", "recommends", "suggests"):
            entry[name] = tuple(entry[name])
    return [Target(**entry) for entry in listed["target"]]


def chosen(targets: Sequence[Target], names: Sequence[str]) -> list[Target]:
    """Those of these names; all, where none is given."""
    known = {target.name: target for target in targets}
    if unknown := [name for name in names if name not in known]:
        raise SetupError(f"no package is made for {unknown[0]}", f"name some of {', '.join(known)}")
    return [known[name] for name in names or known]
