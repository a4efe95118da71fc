""""""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.lab.test_login import NODES
from wulf.lab import login, tools


@pytest.mark.skipif(tools.find("ssh") is None, reason="ssh is not installed")
@pytest.mark.parametrize("folder", ["plain", "with space", "per%cent"])
def test_ssh_understands_the_configuration(tmp_path: Path, folder: str) -> None:
    state = tmp_path / folder
    state.mkdir()
    login.write_client_config(state, NODES, own_user=False, init={"pid": 4711, "start": "99"})
    words = ["ssh", "-G", "-F", str(state / "ssh_config"), "n2"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    options = dict(line.split(" ", 1) for line in shown if " " in line)
    assert options["hostname"] == "10.77.0.2"
    assert options["hostkeyalias"] == "n2"
    assert options["port"] == "2222"
    assert options["proxyusefdpass"] == "yes"
    assert options["proxycommand"].endswith("/inside connect 4711 99 %h %p")
    assert options["stricthostkeychecking"] in ("true", "yes")
    assert options["identityfile"].strip('"').replace("%%", "%") == str(state / "id")
