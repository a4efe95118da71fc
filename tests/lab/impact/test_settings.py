"""`wulf impact` on a lab: the change reaches the application and the ping-pong alike, and nothing of it stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.lab.conftest import settings
from wulf import lab
from wulf.cli.main import cli
from wulf.lab.inside.node import SSH_PORT

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(1800)]

CONNECTS = (
    "import socket, time; at = time.monotonic(); "
    f"[socket.create_connection(('10.77.0.2', {SSH_PORT})).close() for _ in range(20)]; "
    "print('each took', (time.monotonic() - at) / 20)"
)
"""An application whose time is the network's: connections from n1 to n2's sshd."""


def impact(tmp_path: Path, *words: str) -> tuple[int, dict[str, Any]]:
    out = tmp_path / "run"
    done = CliRunner().invoke(
        cli, ["impact", "--lab", *words[:1], "--out", str(out), *words[1:]], standalone_mode=False
    )
    assert done.exception is None, done.exception
    return done.return_value, json.loads((out / "impact.json").read_text())


def test_a_shorter_link_is_worth_much_to_what_waits_for_it(two_nodes: lab.Lab, tmp_path: Path) -> None:
    before = settings(two_nodes)
    code, found = impact(
        tmp_path, "running", "--links", "delay=2ms", "delay=0", "--blocks", "6", "--figure", "took (.*)", "--answer",
        "each", "--no-profile", "--domain", "sockets", "--", "python3", "-c", CONNECTS,
    )  # fmt: skip
    assert code == 0 and found["state"] == "complete" and found["claim"] == "faster"
    application, rtt, _ = (row["compared"] for row in found["rows"])
    assert application["judgement"] == rtt["judgement"] == "faster"
    assert application["improvement"] > 0.2 and rtt["improvement"] > 0.2
    assert found["same_answers"] and not found["leftovers"] and settings(two_nodes) == before
    done = CliRunner().invoke(cli, ["impacts", str(tmp_path / "run"), "--json"], standalone_mode=False)
    (read,) = json.loads(done.stdout)["runs"]
    assert (read["domain"], read["change"], read["network"], read["counts"]) == ("sockets", "links", "a lab's", True)
    assert read["saved"]["value"] == pytest.approx(application["improvement"])


def test_a_setting_is_changed_for_its_arm_alone(two_nodes: lab.Lab, tmp_path: Path) -> None:
    """The application prints what the setting is: it differs between the arms, so that nothing is claimed."""
    code, found = impact(
        tmp_path, "running", "--settings", "net.somaxconn=1234", "--blocks", "6", "--answer", r"is (\d+)",
        "--no-profile", "--", "sh", "-c", "echo is $(cat /proc/sys/net/core/somaxconn)",
    )  # fmt: skip
    assert found["answers"]["after"] == ["1234"] and "1234" not in found["answers"]["before"]
    assert found["claim"] == "void" and code == 1
    assert found["same"] is True and not found["leftovers"]
