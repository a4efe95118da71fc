"""The play that installs wulf: run on this machine, into a folder of the test's, with wheels that say their version."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.process.operations.peers import peer
from tests.process.operations.templates import FOLDER

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]  # Ansible may have to be installed
PLAY = FOLDER / "ansible" / "install.yml"
SOURCE = """import sys
def main():
    print("wulf, version {version}")
"""


def wheel(where: Path, version: str, says: str = "") -> None:
    """The smallest wheel that installs a program `wulf`, which `says` its version; the real one: tests/packaging."""
    info, tag = f"wulf-{version}.dist-info", f"py3-none-manylinux_2_17_{platform.machine()}"
    files = {
        "wulf.py": SOURCE.format(version=says or version),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: wulf\nVersion: {version}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": "[console_scripts]\nwulf = wulf:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    path = where / f"wulf-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def play(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A run of the play on this machine, without another account, whose files lie in `where`."""
    (where / PLAY.name).write_text(PLAY.read_text())
    variables = {
        "wulf_prefix": where / "opt", "wulf_link": where / "wulf", "wulf_python": sys.executable,
        "wulf_pip_options": "--no-index", "wulf_become": "false", "ansible_python_interpreter": sys.executable,
    }  # fmt: skip
    command = [peer("ansible-playbook"), "-i", "localhost,", "-c", "local"]
    command += [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    own = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(where), "ANSIBLE_HOME": str(where / "ansible")}
    own["ANSIBLE_REMOTE_TEMP"] = str(where / "ansible" / "remote")
    return subprocess.run(
        [*command, *words, where / PLAY.name],
        env=own,
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def recap(done: subprocess.CompletedProcess[str]) -> tuple[int, int]:
    """How many tasks changed something, and failed."""
    found = re.search(r"changed=(\d+) .*failed=(\d+)", done.stdout)
    assert found is not None, done.stdout + done.stderr
    return int(found[1]), int(found[2])


def installed(where: Path) -> str:
    words = [where / "wulf", "--version"]
    return subprocess.run(words, env={}, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_its_syntax(tmp_path: Path) -> None:
    done = play(tmp_path, "--syntax-check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_installs_once_and_another_version_takes_its_place(tmp_path: Path) -> None:
    for version in ("0.1.0", "0.2.0"):
        wheel(tmp_path, version)
    done = play(tmp_path)
    assert recap(done) == (4, 0), done.stdout
    assert installed(tmp_path) == "wulf, version 0.1.0"
    assert recap(play(tmp_path)) == (0, 0)
    assert recap(play(tmp_path, "-e", "wulf_version=0.2.0")) == (2, 0)
    assert installed(tmp_path) == "wulf, version 0.2.0"
    assert recap(play(tmp_path)) == (1, 0), "pip puts the older version back"
    assert installed(tmp_path) == "wulf, version 0.1.0"


def test_a_wheel_that_is_another_version_fails_before_it_is_on_the_path(tmp_path: Path) -> None:
    wheel(tmp_path, "0.1.0", says="0.0.9")
    done = play(tmp_path)
    assert recap(done)[1] == 1
    assert "wulf, version 0.0.9" in done.stdout
    assert not (tmp_path / "wulf").exists()


def test_without_a_wheel_it_says_which_is_missing(tmp_path: Path) -> None:
    done = play(tmp_path, "-e", "wulf_version=0.3.0")
    assert recap(done)[1] == 1
    assert "wulf-0.3.0-py3-none-manylinux" in done.stdout
