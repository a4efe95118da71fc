"""Hatch's build hook: a wheel carries the static probes and is tagged for the machines that can run them.

One wheel is for all architectures whose probes are built (`make cross`): a login node of one may measure nodes of
another, and gives them theirs. It also carries plotly.js, for its pages, and the sources of wulf-mpi, libwulf-profile
and libwulf-trace, which every site builds with its own MPI.

An editable install needs no probes: they may be built later, in place.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOOLS = str(Path(__file__).resolve().parent)
SOURCES = str(Path(TOOLS).parent / "src")
for folder in (TOOLS, SOURCES):
    if folder not in sys.path:
        sys.path.insert(0, folder)

from provision import elf  # noqa: E402 - the path comes first
from provision.native import PROGRAMS  # noqa: E402

from wulf.codegen import native_source, profile_source, trace_source  # noqa: E402 - the package is not installed yet
from wulf.core.programs import PLOTLY, unpacked  # noqa: E402 - as above

# Static programs need no C library of the system, so the oldest tag that installers know serves every distribution.
PLATFORM = "manylinux_2_17"


class ProbesHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter open
    """Adds src/wulf/programs/<arch>/* and the tag."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        arches = architectures(Path(self.root))
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + ".".join(f"{PLATFORM}_{arch}" for arch in arches)
        for arch in arches:
            found = programs(Path(self.root), arch)
            build_data["force_include"].update({str(path): f"wulf/programs/{arch}/{path.name}" for path in found})
        for source in (plotly(Path(self.root)), mpi_source(Path(self.root)), *of_libraries(Path(self.root))):
            build_data["force_include"][str(source)] = f"wulf/programs/{source.name}"


def plotly(root: Path) -> Path:
    """Find the script that draws the charts of pages; refuse where the set-up has not fetched it."""
    if path := unpacked(root, PLOTLY):
        return path
    raise SystemExit(f"wulf's wheel carries {PLOTLY}, which is not here\n  → run `make wheel`, which fetches it")


def mpi_source(root: Path) -> Path:
    """Pack wulf-mpi's source beside the probes."""
    target = root / "src/wulf/programs" / native_source.NAME
    try:
        target.write_bytes(native_source.pack(root / "native", native_source.json_folder(root)))
    except OSError as error:
        raise SystemExit(f"wulf's wheel carries the source of wulf-mpi, but it can't be packed: {error}") from error
    return target


def of_libraries(root: Path) -> list[Path]:
    """Pack the sources of the libraries that interpose MPI's calls beside it."""
    packed = []
    for library in (profile_source, trace_source):
        packed.append(root / "src/wulf/programs" / library.NAME)
        packed[-1].write_bytes(native_source.zipped(library.files(root / "native")))
    return packed


def architectures(root: Path) -> list[str]:
    """This machine's, and the others whose probes are built; sorted."""
    others = {arch for arch in elf.MACHINES.values() if (root / "src/wulf/programs" / arch).is_dir()}
    return sorted({platform.machine(), *others})


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
