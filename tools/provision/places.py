"""Where things are in a clone."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """The folders of one clone, given its root."""

    repo: Path

    @property
    def build(self) -> Path:
        return self.repo / "build"

    @property
    def venv(self) -> Path:
        return self.repo / ".venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin/python"

    @property
    def sysroot(self) -> Path:
        """Where packages are unpacked that can't be installed; a root folder of its own."""
        return self.build / "sysroot"

    @property
    def native(self) -> Path:
        return self.build / "native"

    @property
    def programs(self) -> Path:
        """Where the package looks for the probes of this machine's architecture."""
        return self.repo / "src/wulf/programs" / platform.machine()
