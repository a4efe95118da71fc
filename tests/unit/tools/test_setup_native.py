"""The native build: which compiler, when anew, and no probe that would not run everywhere."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from provision import elf, native
from provision.places import Places
from provision.runner import SetupError
from provision.stamps import Stamps

from tests.unit.tools.elf_program import program


@pytest.mark.parametrize(
    ("content", "arch", "trouble"),
    [
        (program(62, 1, 6), "x86_64", None),
        (program(183, 1), "aarch64", None),
        (program(62, 1, 3), "x86_64", "PT_INTERP"),
        (program(183, 1), "x86_64", "is for aarch64, not for x86_64"),
        (b"#!/bin/sh\n", "x86_64", "is not an ELF program"),
        (b"\x7fELF\x01".ljust(64, b"\0"), "x86_64", "is not a 64-bit program"),
    ],
)
def test_a_static_program_is_told_from_others(tmp_path: Path, content: bytes, arch: str, trouble: str | None) -> None:
    path = tmp_path / "wulf-net"
    path.write_bytes(content)
    found = elf.problem(path, arch)
    assert found is None if trouble is None else trouble in str(found)


def test_the_first_compiler_that_links_statically_is_taken(script, make_host, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    host = make_host(programs=["g++", "clang++"])
    script.on(str(host.command("g++")), status=1)
    assert native.compiler_options(script, host, Places(tmp_path)) == [
        f"-DCMAKE_CXX_COMPILER={host.command('clang++')}"
    ]


def test_zig_serves_where_no_compiler_does(script, make_host, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    (tmp_path / "venv/lib/python3.11/site-packages/ziglang-0.15.2.dist-info").mkdir(parents=True)
    options = native.compiler_options(script, make_host(), Places(tmp_path))
    assert [option.partition("=")[0] for option in options] == ["-DCMAKE_CXX_COMPILER", "-DCMAKE_AR", "-DCMAKE_RANLIB"]
    wrapper = Path(options[0].partition("=")[2])
    assert f"-m ziglang c++ -target {platform.machine()}-linux-musl" in wrapper.read_text()
    assert wrapper.stat().st_mode & 0o111


def test_no_compiler_at_all_is_said(script, make_host, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(SetupError, match="no C\\+\\+ compiler"):
        native.compiler_options(script, make_host(), Places(tmp_path))


@pytest.fixture
def clone(tmp_path: Path, script, monkeypatch) -> Places:
    """A clone whose build, as scripted, makes a static program."""
    monkeypatch.setenv("CXX", "g++")
    places = Places(tmp_path / "clone")
    (places.repo / "native").mkdir(parents=True)
    (places.repo / "native/main.cpp").write_text("int main() {}")
    (places.repo / "pyproject.toml").write_text('version = "0.1.0"\n')
    machine = next(number for number, name in elf.MACHINES.items() if name == platform.machine())
    places.native.mkdir(parents=True)
    for name in native.PROGRAMS:
        (places.native / name).write_bytes(program(machine, 1))
    (places.native / "wulf-compiler.txt").write_text("-DCMAKE_CXX_COMPILER=g++")
    return places


def test_probes_are_built_once_and_again_when_a_source_changes(script, make_host, clone: Places) -> None:
    host, stamps = make_host(programs=["cmake", "ninja"]), Stamps(clone.build / "stamps")
    native.build(script, host, clone, stamps, tests=False)
    assert (clone.programs / "wulf-net").exists()
    first = len(script.commands)
    native.build(script, host, clone, stamps, tests=False)
    assert len(script.commands) == first
    (clone.repo / "native/main.cpp").write_text("int main() { return 0; }")
    native.build(script, host, clone, stamps, tests=False)
    assert len(script.commands) == 2 * first


def test_a_dynamic_probe_is_refused_and_the_old_one_stays(script, make_host, clone: Places) -> None:
    host, stamps = make_host(programs=["cmake", "ninja"]), Stamps(clone.build / "stamps")
    native.build(script, host, clone, stamps, tests=False)
    before = (clone.programs / "wulf-net").read_bytes()
    (clone.native / "wulf-net").write_bytes(program(62 if platform.machine() == "x86_64" else 183, 1, 3))
    (clone.repo / "native/main.cpp").write_text("int main() { return 1; }")
    with pytest.raises(SetupError, match="PT_INTERP"):
        native.build(script, host, clone, stamps, tests=False)
    assert (clone.programs / "wulf-net").read_bytes() == before


def test_another_compiler_starts_the_build_folder_over(script, make_host, clone: Places) -> None:
    (clone.native / "old.o").touch()
    native.configure(
        script, make_host(programs=["cmake", "ninja"]), clone, clone.native, ["-DCMAKE_CXX_COMPILER=clang++"]
    )
    assert not (clone.native / "old.o").exists()
