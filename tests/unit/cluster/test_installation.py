"""What an installation can do: asked of machines that lack this and that."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial

import pytest
from rich.console import Console

from tests.wording import lacking
from wulf import __version__
from wulf.cluster.installation import Answer, Host, abilities, examined
from wulf.core.errors import UsageError
from wulf.report.installation import installation_object, installation_view
from wulf.report.kit.terminal import print_view

EVERYTHING = ("ssh", "srun", "mpiexec", "mpicxx.mpich", "gcc", "make")
MAY = {"root": ("root", ""), "lab": ("namespaces, by root", "")}


def machine(
    *programs: str, versions: Mapping[str, str] | None = None, tries: Mapping[str, tuple[str, str]] = MAY
) -> list[Answer]:
    """What is told of one with these programs, and wulf's own in these versions [all, of this one]."""

    def version(name: str) -> str:
        if versions is not None and name not in versions:
            raise UsageError(f"{name} is missing")
        return __version__ if versions is None else versions[name]

    found = examined(
        Host(lambda name: name if name in programs else None, version,
             {name: partial(tries.__getitem__, name) for name in tries})
    )  # fmt: skip
    assert [one.ability for one in found] == abilities()
    return found


def told(found: list[Answer]) -> str:
    out = io.StringIO()
    print_view(installation_view(found), Console(file=out, width=80))
    return " ".join(out.getvalue().split())


def test_where_nothing_is_missing() -> None:
    found = machine(*EVERYTHING)
    assert [one.lacks for one in found] == [""] * len(found)
    assert lacking(told(found), f"wulf {__version__} can do everything here", "mpiexec, mpicxx.mpich") == []


def test_what_is_missing_is_named_with_advice() -> None:
    found = machine("ssh", "mpiexec", "cc", "make", tries=MAY | {"lab": ("", "sshd not installed")})
    assert lacking(
        told(found), "works here; 3 things of 8 it can't do", "It can't use the nodes of a Slurm job", "no srun",
        "It can't measure MPI, trace programs (mpi, trace, impact) no mpicxx.", "`wulf mpi install mpich`",
        "sshd not installed",
    ) == []  # fmt: skip
    assert not any(one.broken for one in found)


@pytest.mark.parametrize(
    ("versions", "why"),
    [
        ({"wulf-net": __version__, "wulf-link": __version__, "wulf-replay": __version__}, "wulf-node is missing"),
        (
            dict.fromkeys(("wulf-net", "wulf-node", "wulf-link", "wulf-replay"), "0.0.1"),
            f"wulf-net is of version 0.0.1, and wulf of {__version__}",
        ),
    ],
)
def test_wulf_without_its_own_programs_is_not_whole(versions: Mapping[str, str], why: str) -> None:
    found = machine(*EVERYTHING, versions=versions)
    assert lacking(told(found), "is not whole: it can't measure this machine", why, "make build") == []
    assert found[0].broken


def test_json() -> None:
    found = installation_object(machine("ssh"))
    assert found["whole"] is True
    by_name = {one["name"]: one for one in found["abilities"]}
    assert by_name["reach other nodes"] == {
        "name": "reach other nodes", "commands": "--nodes, --inventory, --hostfile", "able": True, "with": "ssh",
        "lacks": None, "advice": None,
    }  # fmt: skip
    assert by_name["build applications"]["lacks"] == "no cc; no make"
