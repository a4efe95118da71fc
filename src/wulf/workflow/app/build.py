"""xhpl from a source tree that the user names on the first node, brought to all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from wulf.apps.linpack import make as hpl_make
from wulf.cluster.applications import Applications
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError, UsageError

BUILD_TIMEOUT = 1200.0
"""Seconds until make counts as hung: HPL has 150 small files."""

FIND_TIMEOUT = 120.0
DROP_IN = "libblas.so.3"
"""The name that a program should be linked with, so that any BLAS can be chosen for it afterwards."""


@dataclass(frozen=True)
class Source:
    """HPL's source tree on the first node, and the BLAS to link; None: the first that is found there."""

    folder: str
    blas: str | None = None


def build_hpl(apps: Applications, source: Source, spec: WorldSpec, say: Callable[[str], None]) -> str:
    """Build xhpl with the nodes' MPI and a BLAS, unless that was done before; its path on all nodes.

    Raises
    ------
    UsageError
        The folder is no source tree of HPL; there is no compiler of the MPI, or no BLAS.
    NodeError
        make fails: with its last words.
    """
    first = apps.nodes[0]
    mpi = apps.mpi_for(None, spec)
    if mpi.mpicxx is None:
        raise UsageError(f"{mpi.title} has no compiler on {first}", "install its development package, or name xhpl")
    mpicc = hpl_make.c_compiler(mpi.mpicxx)
    places = apps.ask("mpi_find", FIND_TIMEOUT, nodes=[first])[first]["places"]
    if not places:
        raise NodeError(first, "neither ~/.cache nor /tmp can hold programs there", "make room, without noexec")
    blas = source.blas or _linkable(apps, first)
    say(f"building xhpl from {source.folder} with {mpi.title} and {PurePath(blas).name}")
    try:
        built = apps.ask(
            "tree_build", BUILD_TIMEOUT, nodes=[first], source=source.folder, needs=list(hpl_make.NEEDS),
            files={f"Make.{hpl_make.ARCH}": hpl_make.make_file(mpicc, blas)},
            commands=[list(words) for words in hpl_make.COMMANDS], product=hpl_make.PRODUCT, place=places[0],
            timeout=BUILD_TIMEOUT,
        )[first]  # fmt: skip
    except RequestError as error:
        if error.code == "bad-parameter":
            raise UsageError(f"--source: {error.message}", "name the folder that HPL was unpacked to") from error
        raise NodeError(first, f"xhpl was not built: {error.message}", "see its words above") from error
    apps.bring(first, str(built["path"]), str(built["digest"]))
    return str(built["path"])


def _linkable(apps: Applications, node: str) -> str:
    """A BLAS that programs can be linked with: one of the usual name, or else any that is no wheel's own."""
    found = [library["path"] for library in apps.ask("blas_find", FIND_TIMEOUT, nodes=[node])[node]["libraries"]]
    drop_in = [path for path in found if PurePath(path).name.startswith(DROP_IN)]
    others = [path for path in found if "scipy_openblas" not in path]
    if not drop_in and not others:
        raise UsageError(f"{node} has no BLAS to link with", "install one (Debian: libopenblas0), or name it by --blas")
    return str((drop_in or others)[0])
