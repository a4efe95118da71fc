"""What users install, on a bare Debian: it goes in without a compiler, measures, and is gone without a trace."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import needs
from tests.packaging.bare import COMPILERS, Bare, bare, tool
from wulf.codegen.native_source import json_folder

REPO = Path(__file__).resolve().parents[2]
PYTHON = "3.11"
"""Of Debian 12, which the machines here have."""
PROGRAMS = ("wulf-net", "wulf-link", "wulf-node", "wulf-replay")
FOUND_OR_NOT = (0, 1)  # a busy host may slow a second node as much as the one that is slowed
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "ld-linux-x86-64.so.2"}
REQUIRED = {"libgcc_s.so.1", "libstdc++.so.6", "libz.so.1"}

pytestmark = [pytest.mark.full, pytest.mark.lab, pytest.mark.timeout(1800)]


def distribute(*words: str) -> Path:
    """What tools/distribute.py made."""
    command = [sys.executable, str(REPO / "tools/distribute.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def wheel() -> Path:
    """As `make wheel` makes it, of the programs that are built."""
    for old in (REPO / "dist").glob("wulf-*.whl"):
        old.unlink()
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(REPO / "dist"), str(REPO)]
    subprocess.run(words, check=True, timeout=300)
    (path,) = (REPO / "dist").glob("wulf-*.whl")
    return path


@pytest.fixture
def machine() -> Iterator[Bare]:
    with bare("bookworm") as machine:
        for name in COMPILERS:
            assert machine.run("sh", "-c", f"command -v {name}").returncode != 0
        yield machine


def measures(machine: Bare) -> None:
    """wulf is whole there, and finds a slow link, or says that it did not."""
    machine.must("wulf", "doctor")
    done = machine.run("sh", "-c", "cd /root && wulf demo --quick --out run")
    assert done.returncode in FOUND_OR_NOT, done.stderr
    assert "demo: n3" in done.stdout
    assert (machine.root / "root/run/report.html").stat().st_size > 0


@needs(tool("nfpm"), "nfpm")
def test_the_deb(wheel: Path, machine: Bare) -> None:
    before = machine.files()
    machine.must(
        "apt-get", "install", "-y", "--no-install-recommends", machine.put(distribute("packages", "debian-12"))
    )
    assert wheel.name.split("-")[1] in machine.must("wulf", "--version")
    for document in ("man/man1/wulf-survey.1.gz", "doc/wulf/rates.md", "bash-completion/completions/wulf"):
        assert (machine.root / "usr/share" / document).is_file()
    assert not list(machine.root.glob("etc/systemd/**/wulf-rates.timer")), "nobody asked for it"
    measures(machine)
    machine.must("apt-get", "purge", "-y", "wulf")
    assert machine.files() == before


@needs(tool("nfpm"), "nfpm")
def test_the_deb_does_not_see_the_modules_of_others(wheel: Path, machine: Bare) -> None:
    machine.must(
        "apt-get", "install", "-y", "--no-install-recommends", machine.put(distribute("packages", "debian-12"))
    )
    (machine.root / "root/click.py").write_text("raise RuntimeError('a module of the site')\n")
    machine.must("env", "PYTHONPATH=/root", "wulf", "--version")


@needs(tool("nfpm"), "nfpm")
@needs(tool("rpm"), "rpm")
def test_the_rpm(wheel: Path, machine: Bare) -> None:
    """In a folder with Debian's files, which rpm knows nothing of: its dependencies are not looked at."""
    before = machine.files()
    machine.rpm("-i", "--nodeps", str(distribute("packages", "opensuse-leap-15")))
    machine.rpm("-V", "--nodeps", "wulf")
    machine.must("wulf", "doctor")
    machine.rpm("-e", "wulf")
    assert machine.files() == before


@needs(tool("nfpm"), "nfpm")
@needs(tool("readelf"), "readelf")
def test_the_packages_require_the_libraries_that_they_lack(wheel: Path) -> None:
    distribute("packages", "debian-12")
    files = (REPO / f"build/package/debian-12-{platform.machine()}").rglob("*.so*")
    libraries = [path for path in files if path.read_bytes().startswith(b"\x7fELF")]
    told = subprocess.run(["readelf", "-d", *libraries], capture_output=True, text=True, check=True).stdout
    wanted = {line.partition("[")[2].rstrip("]") for line in told.splitlines() if "(NEEDED)" in line}
    assert wanted - {path.name for path in libraries} - GLIBC == REQUIRED


@needs(tool("uv"), "uv")
def test_the_wheel_by_uv(wheel: Path, machine: Bare) -> None:
    before = machine.files()
    uv = machine.put(Path(str(tool("uv"))))
    machine.must(uv, "tool", "install", machine.put(wheel), network=True)
    measures(machine)
    machine.must(uv, "tool", "uninstall", "wulf")
    assert machine.files() == before


def test_the_bundle_without_a_network(wheel: Path, machine: Bare) -> None:
    before = machine.files()
    machine.must("tar", "-C", "/root", "-xf", machine.put(distribute("bundle", PYTHON)))
    (folder,) = (machine.root / "root").glob("wulf-*-offline-*/")
    install = f"/root/{folder.name}/install"
    machine.must(install)
    measures(machine)
    assert machine.files() == before, "all that it writes is in its user's home"
    refused = machine.run("env", "PYTHON=perl", install)
    assert (refused.returncode, "take the bundle for its version" in refused.stderr) == (2, True)
    with next(folder.glob("wheels/click-*.whl")).open("ab") as damaged:
        damaged.write(b"x")
    refused = machine.run(install)
    assert (refused.returncode, "damaged" in refused.stderr) == (2, True)


def test_the_steps_of_apptainer(wheel: Path, machine: Bare) -> None:
    """On the same Debian; Apptainer itself would need an image from elsewhere."""
    sections = re.split(r"^%(\w+)\n", (REPO / "packaging/apptainer/wulf.def").read_text(), flags=re.MULTILINE)
    script = dict(zip(sections[1::2], sections[2::2], strict=True))
    (made,) = re.findall(r"dist/(\S+) /opt/bundle.tar", script["files"])
    assert distribute("bundle", PYTHON).name == made
    shutil.copy2(REPO / "dist" / made, machine.root / "opt/bundle.tar")
    machine.must("sh", "-c", script["post"], network=True)
    assert [path.name for path in (machine.root / "opt").iterdir()] == ["wulf"]
    machine.must("sh", "-c", script["test"])
    machine.must("sh", "-c", script["environment"] + script["runscript"].replace('"$@"', "--version"))


@needs(tool("cmake") and tool("ninja"), "CMake or Ninja")
def test_the_sources_build_where_nothing_can_be_fetched(tmp_path: Path) -> None:
    subprocess.run(["tar", "-C", str(tmp_path), "-xf", str(distribute("source"))], check=True)
    (folder,) = tmp_path.iterdir()
    build = [str(folder / "packaging/build-programs"), str(json_folder(REPO))]
    subprocess.run(["unshare", "--net", *build], check=True, timeout=1200)
    words = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(folder)]
    subprocess.run(["unshare", "--net", sys.executable, *words], check=True, timeout=300)
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        assert {f"wulf/programs/{platform.machine()}/{name}" for name in PROGRAMS} <= set(archive.namelist())
