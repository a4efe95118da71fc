"""Checkouts to build for the part `build`: where they come from, and how each is built by its own means."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engine.errors import BenchError
from bench.engine.places import ROOT
from wulf.agent.jobs.job import START
from wulf.cluster.mpi.installed import Installed

CHILD = (sys.executable, "-P", str(Path(__file__).with_name("builder.py")))
"""Without its own folder among those of modules: some of the bench's are called as Python's are."""

BASE = "d3827f1"
"""The last commit before builds were made fast: JSON's templates stood in most objects, each source compiled alone."""

PARTS = ("native", "tools", "src", "pyproject.toml")
"""All that either build reads of a checkout."""

TOUCHED = {
    "node/probes/syscall.cpp": "wulf-node",
    "net/transports/null.cpp": "wulf-net",
    "replay/collectives/allreduce_doubling.cpp": "wulf-replay",
}
"""Source → the program that it is part of: those that CONTRIBUTING.md has an addition start from, in both commits.
They are not chosen by what they cost, which in the older commit depends on whether a source has JSON's templates."""

PATIENCE = 1800.0
"""Seconds after which a build counts as hung."""

ENVIRONMENT = {"CCACHE_DISABLE": "1", "CI": ""}
"""No compiler's cache; and no -Werror, since a compiler of today may warn of what the older commit has."""

Run = Callable[[Sequence[str]], float]
"""A command to its end: its seconds, or BenchError with its last words."""

Git = Callable[..., bytes]
"""git's words → what it printed, or BenchError."""


@dataclass(frozen=True)
class Tree:
    """A checkout that is built in place; each build gives its seconds, what it clears away before not counted.

    Parameters
    ----------
    folder
        Has `PARTS`, and is ours to write.
    run
        Carries a build out.
    """

    folder: Path
    run: Run

    def probes(self) -> float:
        """The native probes, from nothing."""
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        shared(self.folder)
        return self.run([*CHILD, "probes", str(self.folder)])

    def mpi(self, mpi: Installed) -> float:
        """wulf-mpi with this MPI, from an empty cache."""
        place = self._place(mpi)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return self.run([*CHILD, "mpi", str(self.folder), str(place), str(mpi.mpicxx), mpi.mpirun])

    def touch(self, name: str) -> float:
        """The probes, all built, after a change of one source: a comment more, which no compiler's cache knows."""
        built, source = self.program(TOUCHED[name]), self.folder / "native" / name
        if not built.exists():
            raise BenchError(f"{built.name} was not built, so that it can't be built again")
        before = built.stat().st_mtime_ns
        source.write_text(source.read_text() + "// touched\n")
        seconds = self.run([ninja_of((built.parent / "CMakeCache.txt").read_text()), "-C", str(built.parent)])
        if built.stat().st_mtime_ns == before:
            raise BenchError(f"{name} has changed, yet {built.name} was not built again")
        return seconds

    def program(self, name: str) -> Path:
        """Where the build of the probes leaves a program."""
        return self.folder / "build/native" / name

    def mpi_program(self, mpi: Installed) -> Path:
        """Where wulf-mpi with this MPI is; its key, which the checkout makes, is the folder's name."""
        place = self._place(mpi)
        return next(place.glob("*/wulf-mpi"), place / "wulf-mpi")

    def _place(self, mpi: Installed) -> Path:
        return self.folder / "mpi" / mpi.title.replace(" ", "-")


def shared(folder: Path, root: Path = ROOT) -> None:
    """What set-up put into this clone serves the checkout, too: unpacked packages, CMake and Ninja from wheels."""
    (folder / "build").mkdir(parents=True, exist_ok=True)
    for link, target in ((folder / "build/sysroot", root / "build/sysroot"), (folder / ".venv", Path(sys.prefix))):
        if target.is_dir() and not link.is_symlink():
            link.symlink_to(target)


def ninja_of(cache: str) -> str:
    """The Ninja that a build folder was configured for, from its CMakeCache.txt."""
    found = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.+)$", cache, re.MULTILINE)
    if not found:
        raise BenchError("CMakeCache.txt names no CMAKE_MAKE_PROGRAM")
    return found[1]


def copy_ours(folder: Path, root: Path = ROOT) -> None:
    """This clone as it is, what is not committed included; what was built in it is left out."""
    folder.mkdir(parents=True)
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "programs"))
        else:
            shutil.copy2(root / part, folder / part)
    shared(folder, root)


def git(*words: str) -> bytes:
    """Run git in this clone. BenchError with its words where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise BenchError("git is not installed") from error
    if done.returncode != 0:
        raise BenchError(f"git {words[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def unpack_base(folder: Path, ask: Git = git, root: Path = ROOT) -> None:
    """The commit `BASE` of this clone.

    Raises
    ------
    BenchError
        The clone does not have it: shallow, or none of git.
    """
    try:
        packed = ask("archive", "--format=zip", BASE, "--", *PARTS)
    except BenchError as error:
        if ask("rev-parse", "--is-shallow-repository").strip() == b"true":
            raise BenchError("this clone is shallow and lacks it: git fetch --unshallow") from error
        raise
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)
    shared(folder, root)


def run(words: Sequence[str]) -> float:
    """A command under a supervisor, which ends it with all that it started: compilers write into folders that go.

    Raises
    ------
    BenchError
        It failed or hung: with its last words.
    """
    told, tell = os.pipe()
    with tempfile.TemporaryFile() as said, os.fdopen(told) as report:
        try:
            job = subprocess.Popen(
                [sys.executable, "-S", "-c", START, str(ROOT / "src"), str(tell), *words], pass_fds=(tell,),
                env=os.environ | ENVIRONMENT, stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(tell)
        assert job.stdin
        try:
            job.wait(PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise BenchError(f"{' '.join(words)} did not end within {PATIENCE:g} s") from error
        finally:
            job.stdin.close()
            job.wait()
        ended = json.loads(report.read() or '{"error": "its supervisor was killed"}')
        said.seek(0)
        output = said.read().decode(errors="replace").strip()
    if "error" in ended:
        raise BenchError(f"{words[0]} did not run: {ended['error']}")
    if ended["status"] != 0:
        raise BenchError(f"{' '.join(words)} ended with {ended['signal'] or ended['status']}: {output[-500:]}")
    return float(ended["seconds"])
