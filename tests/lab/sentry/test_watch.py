"""A watch over a lab: an ill node is found, told once, acknowledged, and closed when it is mended."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import ssh
from tests.lab.sentry.watching import COMMON, WULF, differences, incidents, is_sound, rows, sentry
from tests.processes import wait_until
from wulf import lab as labs

pytestmark = pytest.mark.lab

TABLE = """
[[check]]
name = "scratch"
kind = "writable"
seconds = 10
paths = ["/run/tmp/scratch"]
"""


@pytest.fixture
def told() -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """A webhook's URL, and what it was sent: the key and the message."""
    said: list[tuple[str, dict[str, Any]]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            said.append((self.headers["Idempotency-Key"], json.loads(body)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook", said
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.command("check", "sentry once", "sentry plan")
def test_an_ill_node_is_told_once_acknowledged_and_closed_when_mended(
    two_nodes: labs.Lab, tmp_path: Path, told: tuple[str, list[tuple[str, dict[str, Any]]]]
) -> None:
    url, said = told
    table, plan, state = tmp_path / "checks.toml", tmp_path / "plan.toml", tmp_path / "s" / "sentry.db"
    table.write_text(TABLE)
    command = json.dumps(["check", "--program", f"{sys.executable} -m wulf.cli.main", "--checks", str(table)])
    measure = (
        f'[[measure]]\nname = "check"\ncommand = {command}\nevery = 1\nseconds = 1\nnodes_at_once = 2\non = "any"\n'
    )
    plan.write_text(f'{measure}{COMMON}[tell]\nwebhook = "{url}"\n')
    over = ["--lab", two_nodes.name, "--state", state]
    ssh(two_nodes, "n1", "mkdir /run/tmp/scratch")
    try:
        shown = sentry("plan", plan, *over)
        assert shown.returncode == 0, shown.stderr
        done = sentry("once", plan, *over, "--for", "1")
        assert done.returncode == 1, done.stderr
        (one,) = incidents(state)
        assert (one["kind"], one["node"], one["metric"], one["state"]) == ("ill", "n2", "scratch", "open"), done.stderr
        assert sentry("ack", "1", "--note", "being mended", "--by", "ada", "--state", state).returncode == 0
        assert sentry("once", plan, *over, "--for", "1", "--now").returncode == 1
        ssh(two_nodes, "n2", "mkdir /run/tmp/scratch")
        assert sentry("once", plan, *over, "--for", "1", "--now").returncode == 0
    finally:
        for node in ("n1", "n2"):
            ssh(two_nodes, node, "rmdir /run/tmp/scratch")
    (one,) = incidents(state)
    assert (one["state"], one["by"], one["note"]) == ("closed", "ada", "being mended")
    assert [(message["what"], message["incident"]["node"]) for _, message in said] == [
        ("opened", "n2"),
        ("closed", "n2"),
    ]
    assert len({key for key, _ in said}) == 2
    assert rows(state, "SELECT COUNT(*) FROM delivery") == [(0,)]
    assert is_sound(state)


@pytest.mark.command("sentry run")
def test_a_sentry_measures_until_it_is_ended_and_keeps_its_state_to_itself(two_nodes: labs.Lab, tmp_path: Path) -> None:
    import signal
    import subprocess

    plan, state = tmp_path / "plan.toml", tmp_path / "sentry.db"
    command = '["node", "--probe", "syscall", "--quick"]'
    plan.write_text(f'[[measure]]\nname = "syscall"\ncommand = {command}\nevery = "1h"\nseconds = 3\n{COMMON}')
    over = ["--lab", two_nodes.name, "--state", str(state)]
    with subprocess.Popen([*WULF, "sentry", "run", str(plan), *over], stderr=subprocess.PIPE, text=True) as running:
        try:
            assert wait_until(lambda: state.exists() and len(_running(state)) == 2, 30), "both at once"
            other = sentry("once", plan, *over)
            assert other.returncode == 2
            assert f"process {running.pid}" in other.stderr
            assert wait_until(lambda: _measured(state) == ["n1", "n2"], 60)
            status = sentry("status", "--state", state)
        finally:
            running.send_signal(signal.SIGTERM)
            _, said = running.communicate(timeout=60)
    assert (running.returncode, status.returncode) == (0, 0), said
    assert status.stdout.startswith("2 nodes watched, nothing is wrong")
    assert differences(state, plan, at_rest=True) == []
    assert rows(state, "SELECT * FROM claim") == []


def _measured(state: Path) -> list[str]:
    return sorted(node for (node,) in rows(state, "SELECT node FROM measured"))


def _running(state: Path) -> list[Any]:
    try:
        return rows(state, "SELECT id FROM measurement WHERE state = 'running'")
    except Exception:  # noqa: BLE001 - it is being made
        return []
