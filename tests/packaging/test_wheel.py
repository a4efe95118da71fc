"""The wheel serves whom it is for: `pip install` into an empty environment, no compiler, no root, and it measures."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pip
import pytest

REPO = Path(__file__).resolve().parents[2]
NOBODY = 65534
FOUND_OR_NOT = (0, 1)  # two nodes of one machine may well differ enough for a finding
LAB_PROGRAMS = ("env", "id", "ip", "mount", "nsenter", "setpriv", "sh", "ssh", "ssh-keygen", "sshd", "tc", "unshare")
PROBE = f"wulf/programs/{platform.machine()}/wulf-net"

pytestmark = [pytest.mark.full, pytest.mark.lab, pytest.mark.timeout(600)]  # it ends with a lab of two nodes


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (REPO / "src" / PROBE).exists():
        pytest.skip("the probes are not built; `make build` builds them")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(REPO)], check=True, timeout=300
    )
    (path,) = folder.glob("*.whl")
    return path


class Newcomer:
    """An unprivileged account with a home of its own, an empty environment, and no compiler on the PATH."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.venv = home / "venv"
        self.python = self.venv / "bin/python"
        # setpriv keeps root's capabilities until it starts a program; env, started so, has none of them.
        self._become = [
            "/usr/bin/setpriv",
            "--reuid",
            str(NOBODY),
            "--regid",
            str(NOBODY),
            "--clear-groups",
            "/usr/bin/env",
        ]

    def run(self, *argv: str | Path, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        become: Sequence[str] = self._become if os.geteuid() == 0 else []
        kept = {
            name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_")) or name == "LANG"
        }
        return subprocess.run(
            [*become, *(str(word) for word in argv)],
            env={**kept, "HOME": str(self.home), "TMPDIR": str(self.home), "PATH": str(self.home / "bin")},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def python_for_all() -> str:
    """Find a Python that the unprivileged account may run: one under /root is not for everyone."""
    names = [getattr(sys, "_base_executable", sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"]
    for name in names:
        if (
            Newcomer(Path("/")).run(name, "-c", "import sys, venv; sys.exit(sys.version_info < (3, 11))").returncode
            == 0
        ):
            return name
    pytest.skip(f"an unprivileged account can run none of {', '.join(names)}")


@pytest.fixture(scope="module")
def newcomer(wheel: Path) -> Iterator[Newcomer]:
    """Install the wheel with what it depends on; programs that a lab needs are on the PATH, compilers are not."""
    python = python_for_all()
    with tempfile.TemporaryDirectory(prefix="wulf-newcomer-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        (home / "bin").mkdir()
        for name in LAB_PROGRAMS:
            if path := shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
                (home / "bin" / name).symlink_to(path)
        shutil.copy(wheel, home)
        shutil.copytree(Path(pip.__file__).parent, home / "pip/pip")
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(home)], check=True)
        newcomer = Newcomer(home)
        made = newcomer.run(python, "-m", "venv", "--without-pip", newcomer.venv)
        assert made.returncode == 0, made.stderr
        pip_of_ours = ("/usr/bin/env", f"PYTHONPATH={home}/pip", newcomer.python, "-m", "pip")
        done = newcomer.run(*pip_of_ours, "install", "-q", "--no-compile", home / wheel.name)
        assert done.returncode == 0, done.stderr
        yield newcomer


def test_the_wheel_carries_the_probe_and_says_for_which_machines(wheel: Path) -> None:
    built = sorted(path.name for path in (REPO / "src/wulf/programs").iterdir() if path.is_dir())
    tags = re.escape(".".join(f"manylinux_2_17_{arch}" for arch in built))
    assert re.fullmatch(rf"wulf-[\d.]+-py3-none-{tags}\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        probe = archive.getinfo(PROBE)
        assert {"wulf/include/wulf_rates.h", "wulf/programs/plotly-cartesian.min.js"} <= set(archive.namelist())
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/WHEEL"))).decode()
    assert (probe.external_attr >> 16) & 0o111 == 0o111
    assert "Root-Is-Purelib: false" in metadata


def test_the_newcomer_has_no_compiler_and_no_root(newcomer: Newcomer) -> None:
    assert newcomer.run("id", "-u").stdout.strip() == str(NOBODY if os.geteuid() == 0 else os.geteuid())
    for name in ("cc", "c++", "gcc", "g++", "clang++", "cmake"):
        assert shutil.which(name, path=str(newcomer.home / "bin")) is None


def test_the_installed_probe_runs(newcomer: Newcomer) -> None:
    (probe,) = newcomer.home.glob(f"venv/lib/python*/site-packages/{PROBE}")
    done = newcomer.run(probe, "--describe")
    assert done.returncode == 0, done.stderr
    described = json.loads(done.stdout)
    assert described["program"] == "wulf-net"
    assert {"tcp", "udp"} <= {transport["name"] for transport in described["transports"]}


def test_wulf_says_its_version(newcomer: Newcomer, wheel: Path) -> None:
    done = newcomer.run(newcomer.venv / "bin/wulf", "--version")
    assert done.returncode == 0, done.stderr
    assert wheel.name.split("-")[1] in done.stdout


@pytest.mark.lab
def test_a_survey_is_whole(newcomer: Newcomer) -> None:
    out = newcomer.home / "run"
    done = newcomer.run(newcomer.venv / "bin/wulf", "survey", "--lab", "2", "--quick", "--json", "--out", out)
    assert done.returncode in FOUND_OR_NOT, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    measured = {record["metric"] for record in records if record["value"] is not None}
    assert {"rtt", "throughput"} <= measured
    assert (out / "report.html").stat().st_size > 0
    assert json.loads((out / "run.json").read_text())["state"] == "complete"
