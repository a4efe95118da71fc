"""Which applications this node has: in the PATH, in modules' and Spack's folders, and where packages put theirs."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.agent.blas.find import is_whole
from wulf.agent.mpi.find import output_of
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGED = (
    "/usr/lib64/openmpi/bin", "/usr/lib64/mpich/bin", "/usr/lib/*/bin", "/usr/lib/*/*/bin", "/usr/lib/*-linux-gnu/*",
    "/usr/libexec/*", "/usr/local/*/bin", "/opt/*/bin", "/opt/*/*/bin",
)  # fmt: skip
"""Glob patterns of folders where distributions and vendors put programs beside the PATH."""

SPACK_ROOTS = ("~/spack", "/opt/spack", "/spack", "/usr/local/spack", "/software/spack")

MODULE_PATHS = ("/etc/modulefiles", "/usr/share/modulefiles", "/usr/share/modules/modulefiles", "/opt/modulefiles")

MOST_MODULES = 5000
"""Module files that are read: a site has hundreds, and a file system may be slow."""

MOST_BYTES = 65536

_PATH = re.compile(r"""(?:prepend|append)[-_]path\s*\(?\s*["']?PATH["']?\s*,?\s*["']?([^\s"',)]+)""")
_SET = re.compile(r"""^\s*(?:set\s+(\w+)\s+|local\s+(\w+)\s*=\s*)["']?([^\s"']+)""", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")

_LIBRARIES = (
    ("mpich", re.compile(r"libmpich\.so|libmpi\.so\.12")),
    ("openmpi", re.compile(r"libmpi\.so\.(?:[1-4]\d)")),
)
"""libmpi.so.12 is the name by which MPICH's relatives exchange it (Intel MPI, MVAPICH, Cray), 40 is Open MPI's."""


def app_find(names: Any) -> dict[str, Any]:
    """{"op": "app_find", "names": ["xhpl"]}: each program's places, the PATH's own first, and what MPI it is built for.

    "python3:mpi4py" asks for an interpreter that has a module, "/opt/x/xhpl" for that very file.
    Answered with "programs" → name → [{"path", "where",
    "mpi", "blas"}], and "looked": how many folders of each kind were looked into.
    """
    if not isinstance(names, list) or not all(isinstance(name, str) and _asked(name) for name in names):
        raise Refused("bad-parameter", f"names are programs' names or paths from /, not {names!r}", "names")
    folders = list(_folders())
    found = {name: _found(name, folders) for name in names}
    kinds = [where for _, where in folders]
    return {"programs": found, "looked": {where: kinds.count(where) for where in dict.fromkeys(kinds)}}


def _asked(name: str) -> bool:
    """A program's name, or a path from the root; what a relative path means depends on where one stands."""
    return bool(name) and (name.startswith("/") or "/" not in name)


def _found(name: str, folders: list[tuple[Path, str]]) -> list[dict[str, Any]]:
    if name.startswith("/"):
        return _programs(Path(name).name, [(Path(name).parent, "given")])
    return _with_module(name) if ":" in name else _programs(name, folders)


def _programs(name: str, folders: list[tuple[Path, str]]) -> list[dict[str, Any]]:
    unique: dict[str, dict[str, Any]] = {}
    for folder, where in folders:
        path = folder / name
        if os.access(path, os.X_OK) and path.is_file():
            unique.setdefault(os.path.realpath(path), {"path": str(path), "where": where})
    return [{**row, **linked(output_of("ldd", row["path"]))} for row in unique.values()]


def linked(said: str) -> dict[str, Any]:
    """What `ldd` says that a program loads, by itself or by a library: its MPI (openmpi, mpich), the BLAS's real path.

    None for what it does not load; a script loads nothing.
    """
    mpi = next((kind for kind, pattern in _LIBRARIES if pattern.search(said)), None)
    paths = [line.partition(" => ")[2].rpartition(" (")[0] for line in said.splitlines() if " => " in line]
    whole = next((path for path in paths if is_whole(path.rpartition("/")[2])), None)
    return {"mpi": mpi, "blas": None if whole is None else os.path.realpath(whole)}


def _with_module(name: str) -> list[dict[str, Any]]:
    """An interpreter of Python that finds a module."""
    interpreter, _, module = name.partition(":")
    path = shutil.which(interpreter)
    if path is None or not re.fullmatch(r"\w+", module):
        return []
    ask = f"import importlib.util as u; s = u.find_spec({module!r}); print(s.origin if s else '')"
    origin = output_of(path, "-c", ask).strip()
    if not origin:
        return []
    libraries = sorted(Path(origin).parent.glob("MPI*.so"))
    found = linked(output_of("ldd", str(libraries[0]))) if libraries else linked("")
    return [{"path": path, "where": "PATH", **found}]


def _folders() -> Iterator[tuple[Path, str]]:
    """Where programs may be, and how each folder came to be looked at; no folder twice."""
    seen: set[str] = set()
    for folder, where in _candidates():
        real = os.path.realpath(folder)
        if real not in seen and folder.is_dir():
            seen.add(real)
            yield folder, where


def _candidates() -> Iterator[tuple[Path, str]]:
    yield from ((Path(folder), "PATH") for folder in os.get_exec_path())
    yield from ((Path(folder), "module") for folder in _module_folders())
    yield from ((folder, "Spack") for folder in _spack_folders())
    for pattern in PACKAGED:
        yield from ((folder, "package") for folder in sorted(Path("/").glob(pattern[1:])))


def _spack_folders() -> list[Path]:
    """The bin/ of everything that Spack installed: opt/spack/[platform/][compiler/]name-version-hash/bin."""
    roots = [os.environ["SPACK_ROOT"]] if os.environ.get("SPACK_ROOT") else []
    found: list[Path] = []
    for root in [*roots, *SPACK_ROOTS]:
        store = Path(root).expanduser() / "opt/spack"
        for pattern in ("*/bin", "*/*/bin", "*/*/*/bin"):
            found += sorted(store.glob(pattern))
    return found


def _module_folders() -> list[str]:
    """The folders that module files put into the PATH: of environment modules in Tcl, and of Lmod's in Lua."""
    above = [*os.environ.get("MODULEPATH", "").split(":"), *MODULE_PATHS]
    folders: dict[str, None] = {}
    read = 0
    for place in dict.fromkeys(filter(None, above)):
        for path in _files(Path(place)):
            read += 1
            if read > MOST_MODULES:
                return list(folders)
            folders.update(dict.fromkeys(_paths_of(path)))
    return list(folders)


def _files(place: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(place):
        below.sort()
        yield from (Path(folder, name) for name in sorted(names) if not name.startswith("."))


def _paths_of(module: Path) -> list[str]:
    """What one file puts into the PATH, with its own variables filled in; what needs more than that is left out."""
    try:
        with module.open("rb") as file:
            text = file.read(MOST_BYTES).decode(errors="replace")
    except OSError:
        return []
    known = {tcl or lua: value for tcl, lua, value in _SET.findall(text)}
    found = []
    for path in _PATH.findall(text):
        for _ in range(4):  # variables that are made of variables
            path = _VARIABLE.sub(lambda match: known.get(match[1], match[0]), path)  # noqa: PLW2901
        if path.startswith("/") and "$" not in path:
            found.append(path)
    return found
