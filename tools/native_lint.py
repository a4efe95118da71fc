"""clang-format and clang-tidy over the native sources, as part of `make lint`."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from provision import native
from provision.includes import read_by
from provision.packages import Host
from provision.places import Places
from provision.runner import SetupError, Shell
from provision.stamps import Stamps, digest


def sources(places: Places, *endings: str) -> list[Path]:
    return sorted(path for path in (places.repo / "native").rglob("*") if path.suffix in endings)


def format_problems(places: Places) -> list[str]:
    """List what clang-format would change."""
    program = places.venv / "bin/clang-format"
    files = [str(path) for path in sources(places, ".cpp", ".hpp")]
    done = subprocess.run([str(program), "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    return [done.stderr] if done.returncode else []


def tidy_problems(places: Places, host: Host, shell: Shell) -> list[str]:
    """List clang-tidy's complaints; what was clean is checked again when it, or a header that it reads, changes."""
    program = places.venv / "bin/clang-tidy"
    stamps, keys = Stamps(places.build / "stamps/tidy"), tidy_keys(places, program)
    stale = [path for path, key in keys.items() if not stamps.fresh(step(places, path), key)]
    if not stale:
        return []
    folder = places.build / "native-tidy"
    options = [*native.compiler_options(shell, host, places), "-DWULF_TESTS=ON", "-DWULF_UNITY=OFF"]
    native.configure(shell, host, places, folder, options)
    of_mpi = mpi_options(places, host, shell)
    if not of_mpi:
        print("native: no MPI is installed here: clang-tidy leaves wulf-mpi out")

    def check(path: Path) -> str:
        where = of_mpi if needs_mpi(places, path) else ["-p", str(folder)]
        command = [str(program), "--quiet", "--warnings-as-errors=*", *where, str(path), *own_options(places, path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            stamps.set(step(places, path), keys[path])
        return done.stdout + done.stderr if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checked = [path for path in stale if of_mpi or not needs_mpi(places, path)]
        return [text for text in pool.map(check, checked) if text]


def tidy_keys(places: Places, program: Path) -> dict[Path, str]:
    """Digest, for each source, all that decides what clang-tidy says about it: the source and the headers of ours that
    it reads, how it is compiled, which checks there are, and clang-tidy itself.
    """
    root = places.repo / "native"
    version = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True).stdout
    words = [version, os.environ.get("CXX", ""), platform.machine()]
    shared = [*root.rglob(".clang-tidy"), *root.rglob("CMakeLists.txt")]
    return {path: digest([*shared, *read_by(path, root)], words) for path in sources(places, ".cpp")}


def step(places: Places, path: Path) -> str:
    """Name a source's stamp."""
    return "-".join(path.relative_to(places.repo / "native").parts)


def own_options(places: Places, path: Path) -> list[str]:
    """Options of a source that the linted build does not compile: the fuzz targets want a compiler of their own, and
    what clang-tidy guesses for them from other sources it can't always read itself.
    """
    native_folder = places.repo / "native"
    return ["--", "-std=c++20", f"-I{native_folder}"] if path.parent == native_folder / "fuzz" else []


def needs_mpi(places: Places, path: Path) -> bool:
    """Whether a source is compiled with mpi.h: those of mpi/plain and trace/format are not, the fuzz target of wulf-mpi
    is.
    """
    program, *rooms, name = path.relative_to(places.repo / "native").parts
    if program == "fuzz":
        return name == "mpi.cpp"
    return program in ("mpi", "profile", "interpose", "trace") and rooms[:1] not in (["plain"], ["format"])


def mpi_options(places: Places, host: Host, shell: Shell) -> list[str]:
    """Options of clang-tidy for wulf-mpi: commands of its own build, and where mpi.h is, which its compiler's wrapper
    alone knows; none where no MPI is installed.
    """
    for name in ("mpicxx.openmpi", "mpicxx.mpich", "mpicxx"):
        compiler = host.command(name)
        if compiler:
            break
    else:
        return []
    folder = places.build / "native-tidy-mpi"
    options = ["-DWULF_MPI=ON", "-DWULF_TESTS=OFF", "-DWULF_STATIC=OFF", "-DWULF_UNITY=OFF"]
    native.configure(shell, host, places, folder, [*options, f"-DCMAKE_CXX_COMPILER={compiler}"])
    show = subprocess.run([str(compiler), "-show"], capture_output=True, text=True, check=True).stdout
    headers = [f"--extra-arg=-isystem{word[2:]}" for word in shlex.split(show) if word.startswith("-I")]
    return ["-p", str(folder), *headers]


def main() -> int:
    """Status 1 when a source is not as it should be."""
    places = Places(Path(__file__).resolve().parents[1])
    host = Host(extra=(places.sysroot,), venv=places.venv)
    try:
        with (places.build / "native-lint.log").open("w", encoding="utf-8") as log:
            problems = format_problems(places) + tidy_problems(places, host, Shell(log))
    except SetupError as error:
        problems = [str(error)]
    for problem in problems:
        print(problem)
    print(f"native: {len(sources(places, '.cpp', '.hpp'))} sources, " + ("FAILED" if problems else "clean"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
