"""How a command of this machine is made to trace: its launcher's MPI found, the library built with it, words added."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wulf.agent.mpi.profile import mpi_of
from wulf.cluster.access import Access
from wulf.cluster.mpi.building import WULF_TRACE
from wulf.cluster.mpi.installed import Installed, agree, look, prefixes_of
from wulf.cluster.session import Session
from wulf.core.errors import UsageError
from wulf.workflow.mpi.preloading import handed_on, library_on

DIRECTORY, SITES = "WULF_TRACE_DIR", "WULF_TRACE_SITES"
"""Variables that libwulf-trace reads."""

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun")
"""Programs that start ranks, whatever follows their name: mpirun.openmpi, mpiexec.hydra."""


def variables(library: str, folder: Path | str, *, sites: bool) -> dict[str, str]:
    """What the ranks' environment needs."""
    return {"LD_PRELOAD": library, DIRECTORY: str(folder), **({SITES: "1"} if sites else {})}


def launcher_at(words: Sequence[str]) -> int | None:
    """The place of the word that starts the ranks; None: a script or srun does, somehow."""
    for at, word in enumerate(words):
        if Path(word).name.partition(".")[0] in LAUNCHERS and shutil.which(word) is not None:
            return at
    return None


def launched(
    access: Access, words: Sequence[str], wanted: str | None, say: Callable[[str], None]
) -> tuple[Installed, str]:
    """The MPI that a command starts its ranks with, and the tracer built with it.

    Raises
    ------
    UsageError
        There is no MPI; a program among the words is linked with another one.
    """
    with access.every_agent() as agents:
        mpi = _chosen(agents, words, wanted)
        library = library_on(agents, mpi, say, WULF_TRACE)
        for path in machine_code(words):
            used, ours = mpi_of(path), mpi_of(library)
            if used and not used & ours:
                raise UsageError(
                    f"{path} is linked with {', '.join(sorted(used))}; {mpi.title}, which is to start it, is "
                    f"{', '.join(sorted(ours))}",
                    "start it by its own MPI's launcher; or name its MPI with --mpi where a script starts it",
                )
        return mpi, library


def _chosen(agents: Mapping[str, Session], words: Sequence[str], wanted: str | None) -> Installed:
    """What the user wants, or the one whose launcher is among the words, or the machine's own."""
    at = launcher_at(words)
    path = shutil.which(words[at]) if at is not None else None
    prefixes = (*prefixes_of(wanted), *(prefixes_of(path) if path else ()))
    views = look(agents, prefixes)
    if wanted is None and path is not None:
        real = os.path.realpath(path)
        for mpi in next(iter(views.values())).mpis:
            if os.path.realpath(mpi.mpirun) == real or _sibling(mpi, path):
                return mpi
    return agree(views, wanted)


def _sibling(mpi: Installed, path: str) -> bool:
    """Whether a launcher lies beside an MPI's mpirun, under the same ending: mpiexec.mpich, mpirun.mpich."""
    ours, given = Path(mpi.mpirun), Path(path)
    same = os.path.realpath(ours.parent) == os.path.realpath(given.parent)
    return same and ours.name.partition(".")[2] == given.name.partition(".")[2]


def machine_code(words: Sequence[str]) -> list[str]:
    """Words that name a program of machine code by its path, but no launcher: what may be linked with an MPI."""
    found = []
    for word in words:
        path = Path(word)
        if "/" in word and path.is_file() and os.access(path, os.X_OK):
            with path.open("rb") as file:
                found += [word] if file.read(4) == b"\x7fELF" else []
    return [word for word in found if Path(word).name.partition(".")[0] not in LAUNCHERS]


def traced_words(
    words: Sequence[str], mpi: Installed, library: str, folder: Path, *, sites: bool = False
) -> tuple[list[str], dict[str, str]]:
    """The command with what makes its launcher hand the variables to all ranks, and the environment for it.

    Open MPI's mpirun gives remote ranks only what -x names; Hydra's gives all, but its own programs need not load the
    library. Where a script starts the launcher, the variables stand in the environment, as Open MPI has it there, too.
    """
    needed = variables(library, folder, sites=sites)
    at = launcher_at(words)
    if at is None:
        return list(words), handed_on(needed)
    if mpi.kind == "openmpi":
        own = [word for name, value in needed.items() for word in ("-x", f"{name}={value}")]
        # -x is for the program that follows: of several, between colons, each has its own
        rest = [more for word in words[at + 1 :] for more in ([word, *own] if word == ":" else [word])]
    else:
        own = [word for name, value in needed.items() for word in ("-genv", name, value)]
        rest = list(words[at + 1 :])
    return [*words[: at + 1], *own, *rest], {}
