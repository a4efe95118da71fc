"""Without root: packages are fetched with what they need, and unpacked into the clone."""

from __future__ import annotations

from pathlib import Path

from provision import unprivileged
from provision.packages import Need
from provision.places import Places
from provision.runner import Done

CLI11 = Need("CLI11", "build", "w", "c", ("file:/usr/include/CLI/CLI.hpp",), {"debian": ("libcli11-dev",)}, unpack=True)
CLANG = Need("clang", "lint", "w", "c", ("command:clang++",), {"debian": ("clang",)})
SIMULATED = """Reading package lists...
Inst libwrap0 (7.6.q-32 Debian:12.1/stable [amd64])
Inst openssh-client [1:9.2p1-1] (1:9.2p1-2+deb12u6 Debian:12.11/stable [amd64]) []
Conf libwrap0 (7.6.q-32 Debian:12.1/stable [amd64])
"""


def test_a_simulation_names_what_is_to_be_fetched() -> None:
    assert unprivileged.planned(SIMULATED) == [("libwrap0", "7.6.q-32"), ("openssh-client", "1:9.2p1-2+deb12u6")]


def scripted(script, *, lists: bool) -> None:
    def simulate(argv):
        private = any("Dir::State::lists" in word for word in argv)
        return Done(0, "Inst libcli11-dev (2.1.2+ds-1 Debian [all])") if lists or private else Done(100)

    def apt(argv):
        return simulate(argv) if "--simulate" in argv else Done(0)

    script.call(["apt-get"], apt)


def test_the_systems_lists_serve_where_they_are(script, make_host, tmp_path: Path) -> None:
    scripted(script, lists=True)
    unprivileged.unpack(script, make_host(programs=["apt-get"]), Places(tmp_path), [CLI11])
    assert script.ran("download", "libcli11-dev=2.1.2+ds-1")
    assert not script.ran("update")


def test_lists_of_the_clones_own_where_the_system_has_none(script, make_host, tmp_path: Path) -> None:
    scripted(script, lists=False)
    unprivileged.unpack(script, make_host(programs=["apt-get"]), Places(tmp_path), [CLI11])
    (update,) = [command for command in script.commands if command[-1] == "update"]
    (download,) = script.ran("download", "libcli11-dev=2.1.2+ds-1")
    setting = f"Dir::State::lists={tmp_path}/build/apt/lists"
    assert setting in update
    assert setting in download


def test_what_must_be_installed_properly_is_not_unpacked(script, make_host, tmp_path: Path) -> None:
    unprivileged.unpack(script, make_host(programs=["apt-get"]), Places(tmp_path), [CLANG])
    unprivileged.unpack(script, make_host("ID=fedora\n", programs=["apt-get"]), Places(tmp_path), [CLI11])
    assert script.commands == []


def test_unpacked_programs_find_unpacked_libraries(script, tmp_path: Path) -> None:
    places = Places(tmp_path)
    for name, content in {
        "usr/sbin/sshd": b"\x7fELF",
        "usr/sbin/script": b"#!/bin/sh",
        "usr/lib/x86_64-linux-gnu/l": b"",
    }.items():
        (places.sysroot / name).parent.mkdir(parents=True, exist_ok=True)
        (places.sysroot / name).write_bytes(content)
    unprivileged.point_at_libraries(script, places)
    (command,) = script.ran("--set-rpath", f"{places.sysroot}/usr/lib/x86_64-linux-gnu")
    assert command[-1] == f"{places.sysroot}/usr/sbin/sshd"
