"""Programs from a source tree that the user names on the first node, brought to all others: xhpl is one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from wulf.apps.linpack import make as hpl_make
from wulf.cluster.applications import Applications
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError, UsageError

BUILD_TIMEOUT = 1200.0
"""Seconds until a command counts as hung: HPL has 150 small files."""

FIND_TIMEOUT = 120.0
FAILED = ("compile", "timeout")
"""Faults of a recipe, in the agent's words."""

DROP_IN = "libblas.so.3"
"""The name that a program should be linked with, so that any BLAS can be chosen for it afterwards."""


@dataclass(frozen=True)
class Source:
    """HPL's source tree on the first node, and the BLAS to link; None: the first that is found there."""

    folder: str
    blas: str | None = None


class NotBuiltError(NodeError):
    """A command of a build fails, or never ends: of this recipe, while the node is well.

    Attributes
    ----------
    said
        Its last words.
    """

    def __init__(self, node: str, name: str, said: str) -> None:
        super().__init__(node, f"{name} was not built: {said}", "see its words above")
        self.said = said


@dataclass(frozen=True)
class Tree:
    """A source tree on the first node, and what makes a program of it: see `wulf.agent.jobs.build_tree`."""

    source: str
    commands: Sequence[Sequence[str]]
    product: str
    files: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    uses: Sequence[str] = ()


def hpl_tree(source: str, mpicc: str, blas: str) -> Tree:
    """HPL's."""
    files = {f"Make.{hpl_make.ARCH}": hpl_make.make_file(mpicc, blas)}
    return Tree(source, hpl_make.COMMANDS, hpl_make.PRODUCT, files, hpl_make.NEEDS)


def build_tree(apps: Applications, tree: Tree) -> dict[str, Any]:
    """Build on the first node, unless that was done before, and bring it to all others; what the agent answered.

    Raises
    ------
    UsageError
        The folder is no such tree.
    NotBuiltError
        A command fails: with its last words.
    NodeError
        A node has no room, or is lost.
    """
    first = apps.nodes[0]
    places = apps.ask("mpi_find", FIND_TIMEOUT, nodes=[first])[first]["places"]
    if not places:
        raise NodeError(first, "neither ~/.cache nor /tmp can hold programs there", "make room, without noexec")
    name = PurePath(tree.product).name
    try:
        built: dict[str, Any] = apps.ask(
            "tree_build", BUILD_TIMEOUT, nodes=[first], place=places[0], timeout=BUILD_TIMEOUT, source=tree.source,
            commands=[list(words) for words in tree.commands], product=tree.product, files=dict(tree.files),
            needs=list(tree.needs), environment=dict(tree.environment), uses=list(tree.uses),
        )[first]  # fmt: skip
    except RequestError as error:
        if error.code == "bad-parameter":
            raise UsageError(error.message, f"name the folder that the source of {name} is in") from error
        if error.code in FAILED:
            raise NotBuiltError(first, name, error.message) from error
        raise
    apps.bring(first, str(built["path"]), str(built["digest"]))
    return built


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
    blas = source.blas or linkable(apps, first)
    say(f"building xhpl from {source.folder} with {mpi.title} and {PurePath(blas).name}")
    return str(build_tree(apps, hpl_tree(source.folder, hpl_make.c_compiler(mpi.mpicxx), blas))["path"])


def linkable(apps: Applications, node: str) -> str:
    """A BLAS that programs can be linked with: one of the usual name, or else any that is no wheel's own."""
    found = [library["path"] for library in apps.ask("blas_find", FIND_TIMEOUT, nodes=[node])[node]["libraries"]]
    drop_in = [path for path in found if PurePath(path).name.startswith(DROP_IN)]
    others = [path for path in found if "scipy_openblas" not in path]
    if not drop_in and not others:
        raise UsageError(f"{node} has no BLAS to link with", "install one (Debian: libopenblas0), or name it by --blas")
    return str((drop_in or others)[0])
