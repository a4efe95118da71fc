"""Exported, applied to nodes, and verified there: `wulf tune export`, the script by ssh, `wulf tune verify`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kept import write_kept
from tests.lab.conftest import ssh
from tests.unit.tune.make_exports import setting
from wulf import lab
from wulf.cli.tune import export as tune_export
from wulf.tune.kept import Kept, KeptSettings

pytestmark = pytest.mark.lab

IDLE = setting("tcp.idle", "sysctl", {"key": "net.ipv4.tcp_slow_start_after_idle", "kind": "bool"}, type="bool")
KEYS = setting("tcp.keepalive", "sysctl", {"key": "net.ipv4.tcp_keepalive_time"}, unit="s")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("wulf.tune.catalogue.catalogue", lambda: {one.name: one for one in (IDLE, KEYS)})
    path = tmp_path / "20261122T010203-tune-ab12"
    path.mkdir()
    (path / "run.json").write_text(json.dumps({"id": path.name, "command": "tune", "started": "2026-11-22T01:02:03Z"}))
    kept = (
        Kept(name="tcp.idle", value=False, before=True, nodes="n[1-2]"),
        Kept(name="tcp.keepalive", value=600, before=7200, nodes="n2"),
    )
    write_kept(path, KeptSettings(campaign=path.name, kept=kept))
    return path


def call(command, *words):
    done = CliRunner().invoke(command, [*map(str, words)], standalone_mode=False)
    assert done.exception is None, done.exception
    return done


def states(run: Path) -> tuple[int, dict[tuple[str, str], str]]:
    done = call(tune_export.verify, run, "--json", "--lab")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return done.return_value, {(each["node"], each["name"]): each["state"] for each in found}


@pytest.mark.command("tune verify")
def test_what_is_exported_is_found_on_the_nodes_once_it_is_applied(two_nodes: lab.Lab, run: Path):
    call(tune_export.export, run, "--format", "shell")
    script = run / "export" / "shell" / "{}" / "wulf-settings.sh"
    on = {("n1", "tcp.idle"), ("n2", "tcp.idle"), ("n2", "tcp.keepalive")}
    assert states(run) == (1, dict.fromkeys(on, "differs"))
    try:
        for node in ("n1", "n2"):
            done = ssh(two_nodes, node, f"sh {str(script).format(node)} apply")
            assert done.returncode == 0, done.stderr
        assert states(run) == (0, dict.fromkeys(on, "there"))
    finally:
        for node in ("n1", "n2"):
            assert ssh(two_nodes, node, f"sh {str(script).format(node)} revert").returncode == 0
    assert states(run)[0] == 1


def test_a_node_that_is_gone_is_not_taken_for_well(two_nodes: lab.Lab, run: Path):
    kept = (Kept(name="tcp.idle", value=True, before=False, nodes="n[1-2]"),)
    write_kept(run, KeptSettings(campaign=run.name, kept=kept))
    assert states(run)[0] == 0
    ssh_config = run / "ssh_config"
    ssh_config.write_text(two_nodes.ssh_config.read_text().replace("n2", "n9"))
    words = [run, "--json", "--ssh-config", ssh_config]
    done = call(tune_export.verify, *words)
    assert done.return_value == 3
    assert "n2" in done.stderr
    assert [json.loads(line)["node"] for line in done.stdout.splitlines()] == ["n1"]
