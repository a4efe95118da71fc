"""The tools that read templates: this machine's, or installed apart, once, for the tests alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import caches

PACKAGES = {
    "check-jsonschema": "check-jsonschema>=0.29,<1",
    "ansible-playbook": "ansible-core>=2.15,<3",
    "reframe": "ReFrame-HPC>=4.6,<5",
}
"""A program, and the package of PyPI that has it."""


def peer(program: str) -> Path:
    """The program; skips the test, with the reason, where it is not installed and can't be."""
    if found := shutil.which(program):
        return Path(found)
    folder = caches.CACHE / "peers" / program
    whole = folder / "whole"
    with caches.one_at_a_time(f"peer-{program}"):
        if not whole.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, timeout=120)
            words = [folder / "bin" / "python", "-m", "pip", "install", "-q", PACKAGES[program]]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240)
            if done.returncode != 0:
                pytest.skip(f"{program} is not installed, and pip can't install it: {done.stderr.strip()[-300:]}")
            whole.touch()
    return folder / "bin" / program
