"""The wheel's hook: what goes in, under which tag, and what is refused."""

from __future__ import annotations

import platform
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling")
import wheel_hook
from provision import elf
from provision.native import PROGRAMS

from tests.unit.tools.elf_program import program
from wulf.codegen.native_source import NAME
from wulf.codegen.profile_source import NAME as PROFILE
from wulf.codegen.trace_source import NAME as TRACE

CHARTS = f"build/sysroot/usr/src/plotly.js-1/{wheel_hook.PLOTLY}"
ARCH = platform.machine()
MACHINE = next(number for number, name in elf.MACHINES.items() if name == ARCH)


def hook(root: Path) -> wheel_hook.ProbesHook:
    return wheel_hook.ProbesHook(str(root), {}, None, None, str(root), "wheel")


def put(root: Path, content: bytes) -> Path:
    """The programs in a package's folder, which is returned."""
    folder = root / "src/wulf/programs" / ARCH
    folder.mkdir(parents=True)
    for name in ("native/mpi/main.cpp", "build/sysroot/usr/include/nlohmann/json.hpp", CHARTS):
        (root / name).parent.mkdir(parents=True)
        (root / name).touch()
    for library, row in (
        ("profile", "Send send cb count type peer tag comm\n"),
        ("trace", "181 File_close plain fhio\n"),
    ):
        (root / "native" / library).mkdir()
        (root / "native" / library / "calls.txt").write_text(row)
    for name in PROGRAMS:
        (folder / name).write_bytes(content)
    return folder


def test_probes_go_in_and_the_tag_names_the_architecture(tmp_path: Path) -> None:
    folder = put(tmp_path, program(MACHINE, 1))
    data = {"force_include": {}, "pure_python": True}
    hook(tmp_path).initialize("standard", data)
    assert data["tag"] == f"py3-none-manylinux_2_17_{ARCH}"
    source, profile, trace = (folder.parent / name for name in (NAME, PROFILE, TRACE))
    assert data["force_include"] == {
        **{str(folder / name): f"wulf/programs/{ARCH}/{name}" for name in PROGRAMS},
        str(tmp_path / CHARTS): f"wulf/programs/{wheel_hook.PLOTLY}",
        str(source): f"wulf/programs/{NAME}",
        str(profile): f"wulf/programs/{PROFILE}",
        str(trace): f"wulf/programs/{TRACE}",
    }
    with zipfile.ZipFile(profile) as archive:
        assert "profile/calls_c.cpp" in archive.namelist()
    with zipfile.ZipFile(trace) as archive:
        assert "trace/calls_c.cpp" in archive.namelist()
    with zipfile.ZipFile(source) as archive:
        assert {"mpi/main.cpp", "nlohmann/json.hpp"} <= set(archive.namelist())
    assert data["pure_python"] is False


def test_probes_of_another_architecture_go_in_beside_them(tmp_path: Path) -> None:
    folder = put(tmp_path, program(MACHINE, 1))
    number, other = next((number, name) for number, name in elf.MACHINES.items() if name != ARCH)
    (folder.parent / other).mkdir()
    for name in PROGRAMS:
        (folder.parent / other / name).write_bytes(program(number, 1))
    data = {"force_include": {}, "pure_python": True}
    hook(tmp_path).initialize("standard", data)
    assert data["tag"] == f"py3-none-manylinux_2_17_{min(ARCH, other)}.manylinux_2_17_{max(ARCH, other)}"
    assert data["force_include"][str(folder.parent / other / "wulf-net")] == f"wulf/programs/{other}/wulf-net"


def test_an_editable_install_needs_no_probes(tmp_path: Path) -> None:
    data = {"force_include": {}}
    hook(tmp_path).initialize("editable", data)
    assert data == {"force_include": {}}


def test_a_wheel_without_probes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="wulf-net is not built"):
        hook(tmp_path).initialize("standard", {"force_include": {}})


def test_a_dynamic_probe_is_refused(tmp_path: Path) -> None:
    put(tmp_path, program(MACHINE, 1, 3))
    with pytest.raises(SystemExit, match=r"dynamically linked[\s\S]*make wheel"):
        hook(tmp_path).initialize("standard", {"force_include": {}})


def test_a_wheel_whose_pages_could_draw_nothing_is_refused(tmp_path: Path) -> None:
    put(tmp_path, program(MACHINE, 1))
    (tmp_path / CHARTS).unlink()
    with pytest.raises(SystemExit, match=r"plotly-cartesian\.min\.js[\s\S]*make wheel"):
        hook(tmp_path).initialize("standard", {"force_include": {}})
