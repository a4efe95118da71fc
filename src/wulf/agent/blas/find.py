"""Where this node's BLAS libraries are."""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = re.compile(
    r"^lib(openblas\w*|scipy_openblas\w*|mkl_rt|blis(-mt|64)?|flexiblas\w*|[st]?atlas|blas|nvpl_blas_core|armpl(_mp)?|sci_\w+"
    r")([-_.].*)?\.so(\.[\d.]+)?$"
)
"""Files that hold a whole BLAS: OpenBLAS (also as wheels carry it), MKL, BLIS, FlexiBLAS, ATLAS, the reference, NVPL,
Arm's, Cray's."""

# What ldconfig does not list: software under /opt, modules and environments (by variable), wheels.
_FOLDERS = (
    "usr/local/lib*",
    "opt/OpenBLAS/lib*",
    "opt/intel/oneapi/mkl/*/lib*",
    "opt/intel/oneapi/mkl/*/lib/intel64",
    "opt/intel/mkl/lib/intel64",
    "opt/amd/aocl/*/lib*",
    "opt/arm/armpl*/lib",
    "opt/nvidia/hpc_sdk/Linux_*/*/math_libs/nvpl/lib",
    "usr/lib/python3*/*-packages/*.libs",
    "usr/local/lib/python3*/*-packages/*.libs",
)
# Where Debian keeps one BLAS a folder, of which update-alternatives makes one the system's libblas.so.3.
_ALTERNATIVES = ("openblas*", "blis-*", "blis", "atlas", "blas")
_DROP_IN = "libblas.so.3"

# From a folder of packages: libraries beside a package, packages that are one library, and MKL, which goes to lib/.
_WHEELS = ("*.libs", "scipy_openblas*/lib", "../..")

_PREFIX_VARIABLES = ("MKLROOT", "OPENBLAS_ROOT", "EBROOTOPENBLAS", "EBROOTIMKL", "BLIS_ROOT", "CONDA_PREFIX")


def find(
    root: str = "/", environment: Mapping[str, str] = os.environ, packages: Iterable[str] | None = None
) -> list[str]:
    """Paths of the BLAS libraries, each file once, sorted.

    Parameters
    ----------
    root
        Where the file system begins.
    environment
        Of modules and environments: LD_LIBRARY_PATH, MKLROOT, ...
    packages
        Folders of Python packages, whose wheels carry libraries beside them; default: this Python's.
    """
    folders = [
        *(str(folder) for pattern in _FOLDERS for folder in Path(root).glob(pattern)),
        *alternatives(root),
        *environment.get("LD_LIBRARY_PATH", "").split(os.pathsep),
        *(
            f"{environment[name]}/{lib}"
            for name in _PREFIX_VARIABLES
            if environment.get(name)
            for lib in ("lib", "lib64")
        ),
        *(
            str(folder)
            for package in (_packages() if packages is None else packages)
            for pattern in _WHEELS
            for folder in Path(package).glob(pattern)
        ),
    ]
    found = [*_cached(root), *(str(path) for folder in folders if folder for path in _files(folder))]
    whole = {os.path.realpath(path) for path in found if is_whole(os.path.basename(path))}  # noqa: PTH119
    drop_in = {folder: os.path.realpath(f"{folder}/{_DROP_IN}") for folder in map(os.path.realpath, alternatives(root))}
    # a folder's other names are the same library once more
    once = {drop_in.get(os.path.dirname(path), path) for path in whole}  # noqa: PTH120
    return sorted(path for path in once if os.path.isfile(path))  # noqa: PTH113


def is_whole(name: str) -> bool:
    """Whether a file of this name holds a whole BLAS."""
    return _NAME.match(name) is not None


def alternatives(root: str = "/") -> list[str]:
    """Folders that hold one BLAS under the name that programs are linked with, so that LD_LIBRARY_PATH chooses it."""
    folders = [folder for name in _ALTERNATIVES for folder in sorted(Path(root).glob(f"usr/lib/*/{name}"))]
    return [str(folder) for folder in folders if (folder / _DROP_IN).exists()]


def choosing(path: str) -> dict[str, str]:
    """The variables with which a program that is linked with any libblas.so.3 takes this library, without root.

    A library that has that name in its folder is found by LD_LIBRARY_PATH; any other is loaded before all others.
    """
    folder = Path(path).parent
    if os.path.realpath(folder / _DROP_IN) == os.path.realpath(path):
        return {"LD_LIBRARY_PATH": str(folder)}
    return {"LD_PRELOAD": path}


def label(path: str) -> str:
    """openblas-pthread, of Debian's folders; else the file's name."""
    file = Path(path)
    return file.parent.name if file.name.startswith("libblas.so") else file.name


def blas_find(also: Any = ()) -> dict[str, Any]:
    """{"op": "blas_find", "also": [path]}: BLAS libraries, their labels, and the variables that choose each: [{"path",
    "label", "choose"}].

    Answered "also": those of the paths asked for that are files.
    """
    libraries = [{"path": path, "label": label(path), "choose": choosing(path)} for path in find()]
    return {"libraries": libraries, "also": [path for path in also if os.path.isfile(path)]}  # noqa: PTH113


def _packages() -> list[str]:
    return [*site.getsitepackages(), site.getusersitepackages(), *(path for path in sys.path if path)]


def _files(folder: str) -> list[Path]:
    try:
        return list(Path(folder).iterdir())
    except OSError:  # no such folder, or not ours to read: there is nothing that we could load
        return []


def _cached(root: str) -> list[str]:
    """What the dynamic linker's cache lists; nothing where it has none (musl) or can't be read."""
    for program in ("sbin/ldconfig", "usr/sbin/ldconfig"):
        path = Path(root) / program
        if path.is_file():
            done = subprocess.run(
                [str(path), "-p"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
            return listed(done.stdout)
    return []


def listed(text: str) -> list[str]:
    """The paths in what `ldconfig -p` prints."""
    return [line.rpartition(" => ")[2].strip() for line in text.splitlines() if " => " in line]
