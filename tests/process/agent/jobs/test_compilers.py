"""Which compilers a node has: programs of the test that say what they are, and wrappers that call them, or don't."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.agent.jobs import compilers
from wulf.agent.jobs.compilers import compiler_find


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the PATH of compilers: none but those of the test are found."""
    monkeypatch.setattr(compilers, "FOLDERS", ())
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'absent'}")
    return tmp_path


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def says(path: Path, title: str) -> str:
    return script(path, f'echo "{title}"; echo more')


def test_each_compiler_is_there_once_with_the_others_of_its_family(path: Path) -> None:
    says(path / "gcc", "gcc (Distribution 12.2.0-14) 12.2.0")
    says(path / "gcc-12", "gcc-12 (Distribution 12.2.0-14) 12.2.0")
    says(path / "gcc-13", "gcc-13 (Distribution 13.1.0) 13.1.0")
    says(path / "g++-13", "g++-13")
    says(path / "gcc-ar", "GNU ar 2.40")
    says(path / "clang", "Some clang version 14.0.6")
    script(path / "icx", "exit 1")
    found = compiler_find()["compilers"]
    assert [(one["name"], one["version"], one["cc"], one["cxx"]) for one in found] == [
        ("gcc", "12.2.0", str(path / "gcc"), None),
        ("gcc", "13.1.0", str(path / "gcc-13"), str(path / "g++-13")),
        ("clang", "14.0.6", str(path / "clang"), None),
    ]
    assert found[2]["choose"] == {
        name: str(path / "clang") for name in ("CC", "OMPI_CC", "MPICH_CC", "I_MPI_CC")
    }  # fmt: skip


def test_a_wrapper_that_does_not_call_what_it_is_told_to_is_told_apart(path: Path) -> None:
    gcc = says(path / "gcc", "gcc 12.2.0")
    says(path / "clang", "clang version 14.0.6")
    obeys = script(path / "mpicc", f'exec "${{OMPI_CC:-{gcc}}}" "$@"')
    stubborn = script(path / "other-mpicc", f'exec {gcc} "$@"')
    answer = compiler_find(wrappers=[obeys, stubborn])
    assert answer["usual"] == {obeys: "gcc 12.2.0", stubborn: "gcc 12.2.0"}
    assert {one["name"]: one["wrappers"] for one in answer["compilers"]} == {"gcc": [obeys, stubborn], "clang": [obeys]}


def test_a_node_without_compilers_has_none(path: Path) -> None:
    assert compiler_find(wrappers=["/nowhere/mpicc"]) == {"compilers": [], "usual": {"/nowhere/mpicc": ""}}
