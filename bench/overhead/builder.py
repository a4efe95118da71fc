"""Builds a checkout of wulf by that checkout's own code: `probes TREE`, or `mpi TREE PLACE MPICXX MPIRUN`.

It runs as a program of its own, since two commits' modules have the same names; it asks of them only what both have.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def probes(tree: Path) -> None:
    """What `make build` does once the environment is there: configure, compile, check, put into the package."""
    sys.path.insert(0, str(tree / "tools"))
    from provision import native
    from provision.packages import Host
    from provision.places import Places
    from provision.runner import SetupError, Shell
    from provision.stamps import Stamps

    places = Places(tree)
    host = Host(extra=(places.sysroot,), venv=places.venv)
    try:
        native.build(Shell(sys.stdout), host, places, Stamps(places.build / "stamps"), tests=False)
    except SetupError as error:
        sys.exit(str(error))


def mpi(tree: Path, place: Path, mpicxx: str, mpirun: str) -> None:
    """What a node does that is asked for wulf-mpi the first time, the packing of the sources included."""
    sys.path.insert(0, str(tree / "src"))
    from wulf import __version__
    from wulf.agent.mpi.build import mpi_build
    from wulf.agent.session import Refused

    room = "codegen" if (tree / "src/wulf/codegen").is_dir() else "core"  # the older commit's
    data, digest = import_module(f"wulf.{room}.native_source").source()
    packed = place / "source.zip"
    packed.write_bytes(data)
    compilers = {"mpicxx": mpicxx, "mpirun": mpirun}
    try:
        mpi_build(mpi=compilers, source=str(packed), place=str(place), version=__version__, digest=digest)
    except Refused as error:
        sys.exit(str(error))


def main(arguments: list[str]) -> None:
    """What is built stands first."""
    what, tree, *rest = arguments
    if what == "probes":
        probes(Path(tree))
    else:
        place, mpicxx, mpirun = rest
        mpi(Path(tree), Path(place), mpicxx, mpirun)


if __name__ == "__main__":
    main(sys.argv[1:])
