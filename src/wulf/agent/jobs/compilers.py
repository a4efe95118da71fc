"""Which compilers this node has, and which MPIs' wrappers take each of them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wulf.agent.mpi.find import output_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Family(NamedTuple):
    """What a family's compilers of C, C++ and Fortran are called."""

    cc: str
    cxx: str
    fc: str


FAMILIES = (
    Family("gcc", "g++", "gfortran"),
    Family("clang", "clang++", "flang"),
    Family("icx", "icpx", "ifx"),
    Family("nvc", "nvc++", "nvfortran"),
    Family("armclang", "armclang++", "armflang"),
)

FOLDERS = (
    "/opt/intel/oneapi/compiler/latest/bin", "/opt/nvidia/hpc_sdk/Linux_*/*/compilers/bin", "/opt/AMD/aocc-*/bin",
    "/opt/rh/*/root/usr/bin", "/usr/lib/llvm-*/bin",
)  # fmt: skip
"""Where vendors and distributions install compilers beside the PATH: glob patterns."""

PREFIXES = ("", "OMPI_", "MPICH_", "I_MPI_")
"""Of CC, CXX and FC: what make and others read, and the wrappers of Open MPI, MPICH and Intel's MPI."""

_NUMBER = re.compile(r"\d+(?:\.\d+)+")


def chosen_by(cc: str, cxx: str | None, fc: str | None) -> dict[str, str]:
    """The variables with which a build, and any MPI's wrapper in it, uses these compilers."""
    paths = {"CC": cc, "CXX": cxx, "FC": fc}
    return {f"{prefix}{name}": path for prefix in PREFIXES for name, path in paths.items() if path}


def compiler_find(wrappers: Any = ()) -> dict[str, Any]:
    """{"op": "compiler_find", "wrappers": ["/usr/bin/mpicc.mpich"]}: compilers, the PATH's own first.

    Answered with "compilers" → [{"name", "version", "title", "cc", "cxx", "fc", "choose", "wrappers"}]: `choose` are
    the variables that make a build use it, `wrappers` those of the wrappers that do so; "usual" → wrapper → the title
    of what it uses by itself.
    """
    usual = {wrapper: _title(wrapper) for wrapper in wrappers}
    return {"compilers": find(list(wrappers)), "usual": usual}


def find(wrappers: list[str]) -> list[dict[str, Any]]:
    """Each compiler once, by what it says of itself."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for family, ending, folder in _candidates():
        cc = str(folder / f"{family.cc}{ending}")
        title = _title(cc)
        plain = title.replace(f"{family.cc}{ending}", family.cc, 1)  # gcc calls itself what it was started as
        if not title or (family.cc, plain) in found:
            continue
        cxx, fc = (_there(folder, f"{name}{ending}") for name in (family.cxx, family.fc))
        number = _NUMBER.search(title)
        choose = chosen_by(cc, cxx, fc)
        found[family.cc, plain] = {
            "name": family.cc, "version": number[0] if number else "", "title": title, "cc": cc, "cxx": cxx, "fc": fc,
            "choose": choose, "wrappers": [wrapper for wrapper in wrappers if _title(wrapper, choose) == title],
        }  # fmt: skip
    return list(found.values())


def _candidates() -> Iterator[tuple[Family, str, Path]]:
    """Family, ending of its names ("", "-12") and folder of every compiler of C, the PATH's folders first."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += [folder for pattern in FOLDERS for folder in sorted(Path("/").glob(pattern[1:]))]
    for folder in folders:
        names = sorted(path.name for path in folder.iterdir()) if os.access(folder, os.R_OK | os.X_OK) else []
        for family in FAMILIES:
            pattern = re.compile(re.escape(family.cc) + r"(-\d[\d.]*)?")
            for name in names:
                match = pattern.fullmatch(name)
                if match and os.access(folder / name, os.X_OK):
                    yield family, match[1] or "", folder


def _there(folder: Path, name: str) -> str | None:
    return str(folder / name) if os.access(folder / name, os.X_OK) else None


def _title(program: str, environment: Mapping[str, str] | None = None) -> str:
    """The first line of what a compiler, or a wrapper's, says of itself; empty where it can't be run."""
    words = ["/usr/bin/env", *(f"{name}={value}" for name, value in (environment or {}).items()), program, "--version"]
    return output_of(*words).partition("\n")[0].strip()
