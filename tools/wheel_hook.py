"""Hatch's build hook: a wheel carries the static probes and is tagged for the machines that can run them.

An editable install needs no probes: they may be built later, in place.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOOLS = str(Path(__file__).resolve().parent)
if TOOLS not in sys.path:
    sys.path.insert(0, TOOLS)

from provision import elf  # noqa: E402 - the path comes first
from provision.native import PROGRAMS  # noqa: E402

# Static programs need no C library of the system, so the oldest tag that installers know serves every distribution.
PLATFORM = "manylinux_2_17"


class ProbesHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter open
    """Adds src/wulf/programs/<arch>/* and the tag; WULF_WHEEL_ARCH names another architecture than this machine's."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        arch = os.environ.get("WULF_WHEEL_ARCH") or platform.machine()
        found = programs(Path(self.root), arch)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{PLATFORM}_{arch}"
        build_data["force_include"].update({str(path): f"wulf/programs/{arch}/{path.name}" for path in found})


def programs(root: Path, arch: str) -> list[Path]:
    """List the probes of an architecture; refuse when one is not built, or would not run everywhere."""
    folder = root / "src/wulf/programs" / arch
    found = [folder / name for name in PROGRAMS]
    for path in found:
        trouble = elf.problem(path, arch) if path.is_file() else "is not built"
        if trouble:
            raise SystemExit(
                f"wulf's wheel carries static probes, but {path} {trouble}\n  → run `make wheel`, which builds them"
            )
    return found
