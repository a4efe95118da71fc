"""Builds wulf-mpi, libwulf-profile and libwulf-trace from their sources with an MPI's compiler, once for each."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from wulf.agent.mpi.files import digest_of, missing_libraries, put
from wulf.agent.mpi.find import identify, library_folders, output_of
from wulf.agent.processes import children
from wulf.agent.session import Refused

FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", "-pthread", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-I.")
"""As native/CMakeLists.txt has them, without the warnings."""


class Kind(NamedTuple):
    """What is built: its file's name, and how it is compiled and linked."""

    name: str
    compile: tuple[str, ...]
    link: tuple[str, ...]
    together: int = 1


PROGRAM = Kind("wulf-mpi", FLAGS, ("-O2", "-pthread", "-s"), together=12)
"""So many sources are compiled as one, which reads the headers once: half the time of one by one. The same ones on
every node, whatever its CPUs, since what is compiled together can't have names in common (native/CMakeLists.txt)."""

# an application may bring a C++ library of its own: the profile needs none, and none is loaded for it
PROFILE = Kind(
    "libwulf-profile.so",
    (*FLAGS, "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"),
    ("-O2", "-shared", "-s", "-Wl,--as-needed"),
)

# its own functions call each other without a look for another library's of the same name
TRACE = Kind("libwulf-trace.so", PROFILE.compile, (*PROFILE.link, "-Wl,-Bsymbolic-functions"))

KINDS = {kind.name: kind for kind in (PROGRAM, PROFILE, TRACE)}

WORDS = 12
"""Lines of a failed compiler's output that the error quotes."""

_progress = {"done": 0, "of": 0}
_one_build = threading.Lock()


def key_of(show: str, compiler: str, launcher: str, flags: list[str], source: str) -> str:
    """Names a build: the same MPI, compiler, flags, source and architecture give the same name."""
    words = json.dumps([show, compiler, launcher, flags, source, platform.machine()])
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def mpi_progress() -> dict[str, Any]:
    """{"op": "mpi_progress"}: how many files of the build under way are compiled, and of how many."""
    return dict(_progress)


def mpi_key(*, mpi: Any, place: Any, version: Any, digest: Any, name: Any = PROGRAM.name) -> dict[str, Any]:
    """{"op": "mpi_key", …}: where in `place` wulf-mpi of this source and MPI belongs, and its digest if it is there.

    `mpi` has the paths "mpicxx" and "mpirun"; `digest` is the source's; `name` what is built.
    """
    kind = _kind(name)
    show, launcher = output_of(mpi["mpicxx"], "-show"), output_of(mpi["mpirun"], "--version")
    compiler = output_of(mpi["mpicxx"], "--version").partition("\n")[0]
    key = key_of(show, compiler, launcher, _flags(kind, version), digest)
    target = Path(place, key, kind.name)
    usable = _runs(target) if kind is PROGRAM else not missing_libraries(target)
    return {"key": key, "path": str(target), "digest": digest_of(target) if usable else None}


def mpi_build(
    *, mpi: Any, source: Any, place: Any, version: Any, digest: Any, name: Any = PROGRAM.name
) -> dict[str, Any]:
    """{"op": "mpi_build", …}: wulf-mpi in `place`, from the zip `source` of this digest, unless it is there already."""
    start = time.monotonic()
    with _one_build:
        known = mpi_key(mpi=mpi, place=place, version=version, digest=digest, name=name)
        if known["digest"] is None:
            target, kind = Path(known["path"]), _kind(name)
            _build(target, Path(source), mpi["mpicxx"], kind, _flags(kind, version))
            if kind is PROGRAM:
                _check_kind(target, mpi["mpicxx"], mpi["mpirun"])
            known["digest"] = digest_of(target)
    return {**known, "seconds": time.monotonic() - start}


def _kind(name: Any) -> Kind:
    if name not in KINDS:
        raise Refused("bad-parameter", f"{name!r} is not built here; there are {', '.join(KINDS)}", "name")
    return KINDS[name]


def _flags(kind: Kind, version: str) -> list[str]:
    return [*kind.compile, f'-DWULF_VERSION="{version}"']


def _runs(program: Path) -> bool:
    """Whether a program that was built earlier still finds its libraries."""
    return bool(output_of(str(program), "--version"))


def _check_kind(program: Path, mpicxx: str, mpirun: str) -> None:
    """Debian's alternatives can pair one MPI's compiler with another's launcher: every rank would be alone."""
    kind = identify(output_of(mpirun, "--version"))[0]
    said = output_of(str(program), "--describe")
    try:
        library = str(json.loads(said)["mpi"])
    except (ValueError, KeyError):
        program.unlink()
        raise Refused("internal", f"the wulf-mpi that {mpicxx} built does not run on this node") from None
    # MPICH's relatives use its name in their own
    made = "openmpi" if library.startswith("Open MPI") else "intel" if library.startswith("Intel") else "mpich"
    if kind in ("openmpi", "intel", "mpich") and made != kind:
        program.unlink()
        name = library.partition(",")[0]
        raise Refused("bad-parameter", f"{mpicxx} builds for {name}, to which {mpirun} does not belong", "mpi")


def _build(target: Path, source: Path, mpicxx: str, kind: Kind, flags: list[str]) -> None:
    folder = Path(tempfile.mkdtemp(prefix=".build-", dir=source.parent))
    try:
        with zipfile.ZipFile(source) as archive:
            archive.extractall(folder)
        # relative names, so that the folder's own is nowhere in the program and equal builds are equal bytes
        sources = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.cpp"))
        sources = _together(folder, sources, kind.together)
        _progress.update(done=0, of=len(sources) + 1)
        objects = _compile_all(folder, sources, mpicxx, flags)
        paths = [
            f"-Wl,-rpath,{path}"
            for path in library_folders(output_of(mpicxx, "-show"))
            if not path.startswith("/usr/lib")
        ]
        _run([mpicxx, *kind.link, "-o", kind.name, *objects, *paths, "-ldl"], folder)
        put(target, (folder / kind.name).read_bytes())
        _progress["done"] += 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""  # a compiler that is not there, or a full disk
        raise Refused("limit", f"{kind.name} can't be built in {folder}: {where}{error.strerror}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _together(folder: Path, sources: list[str], number: int) -> list[str]:
    """Writes sources that include so many of these each; json.cpp stays alone, which takes as long as twelve others."""
    if number == 1:
        return sources
    alone = [name for name in sources if name == "core/json/json.cpp"]
    rest = [name for name in sources if name not in alone]
    for start in range(0, len(rest), number):
        name = f"together-{start // number}.cpp"
        (folder / name).write_text("".join(f'#include "{each}"\n' for each in rest[start : start + number]))
        alone.append(name)
    return alone


def _compile_all(folder: Path, sources: list[str], mpicxx: str, flags: list[str]) -> list[str]:
    """As many at a time as there are CPUs; the first failure is the error."""
    objects = [f"{number}.o" for number in range(len(sources))]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [
            pool.submit(_run, [mpicxx, *flags, "-c", name, "-o", made], folder) for name, made in zip(sources, objects)
        ]
        try:
            for job in as_completed(jobs):
                job.result()
                _progress["done"] += 1
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
    return objects


def _run(command: list[str], folder: Path) -> None:
    done = children.run(command, folder=folder, joined=True)
    if done.returncode != 0:
        lines = done.stdout.strip().splitlines()
        said = [line for line in lines if "error" in line.lower()] or lines
        raise Refused("compile", "\n".join(said[:WORDS]) or f"{command[0]} failed with status {done.returncode}")
