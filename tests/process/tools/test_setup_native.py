"""The native build: which compiler, when anew, and no probe that would not run everywhere."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from provision import elf


@pytest.mark.parametrize(("flags", "static"), [(["-static"], True), ([], False)])
def test_real_programs_are_judged_right(tmp_path: Path, flags: list[str], static: bool) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    path = tmp_path / "program"
    subprocess.run([compiler, "-xc++", "-", *flags, "-o", str(path)], input=b"int main() {}", check=True)
    assert (elf.problem(path, platform.machine()) is None) is static
