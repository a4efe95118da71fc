"""Every format against its golden files, and against the parser of whoever reads it, where that is here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.tune.make_exports import files

SCRIPTS = [
    ("shell", "wulf-settings.sh"), ("shell", "environment.sh"), ("tuned", "wulf/script.sh"),
    ("sysctl", "etc/profile.d/wulf.sh"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "path"), SCRIPTS)
def test_a_shell_can_read_scripts(form, path):
    checked = subprocess.run(["sh", "-n"], input=files(form)[path], text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_script_without_a_word_says_how_it_is_used():
    text = files("shell")["wulf-settings.sh"]
    done = subprocess.run(["sh", "-s"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert "apply|revert|status" in done.stderr


def test_units_are_read_by_systemd(tmp_path: Path):
    if not Path("/usr/bin/systemd-analyze").exists():
        pytest.skip("no systemd-analyze here")
    for name, text in files("sysctl").items():
        if name.startswith("etc/systemd/system/"):
            (tmp_path / Path(name).name).write_text(text)
    words = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(tmp_path / "wulf-latency.service")]
    checked = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
