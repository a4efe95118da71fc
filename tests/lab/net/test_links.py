"""`wulf links` over traffic of real kernels: it names the node that loses frames, and nobody where none does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab.commands import wulf
from tests.lab.conftest import address
from wulf import lab as labs
from wulf.core.findings import Finding, Severity
from wulf.measure.net.traffic import COST, LEAST, RTT, SENT, is_whole
from wulf.store.run import Run, read_run

pytestmark = [pytest.mark.lab]

PORT = 7077

TALKER = """
import socket, sys, threading, time
own, port, *peers = sys.argv[1:]
server = socket.create_server((own, int(port)), backlog=64)
def drain(taken):
    while taken.recv(1 << 16):
        pass
def serve():
    while True:
        threading.Thread(target=drain, args=server.accept()[:1], daemon=True).start()
threading.Thread(target=serve, daemon=True).start()
time.sleep(1)
links = [socket.create_connection((peer, int(port))) for peer in peers]
print("talking", flush=True)
while True:
    for link in links:
        link.sendall(bytes(40_000))
    time.sleep(0.05)
"""
"""Sends 0.8 MB/s to each peer: far below what a lab carries, and 500 segments in a second."""


@contextmanager
def traffic(lab: labs.Lab) -> Iterator[None]:
    """Every node sends to every other one, as long as the block lasts."""
    own = {node.name: address(lab, node.name) for node in lab.nodes}
    talkers = []
    try:
        for node, at in own.items():
            peers = [there for name, there in own.items() if name != node]
            words = [f"exec {sys.executable} -u -c '{TALKER}'", at, str(PORT), *peers]
            ssh = ["ssh", "-tt", "-F", str(lab.ssh_config), node, " ".join(words)]
            talkers.append(subprocess.Popen(ssh, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for talker in talkers:
            assert talker.stdout is not None
            assert talker.stdout.readline().strip() == "talking"
        time.sleep(0.5)
        yield
    finally:
        for talker in talkers:
            talker.kill()
            talker.wait()


def followed(out: Path, *words: str) -> tuple[Run, str]:
    done = wulf("links", "--lab", "--for", "12s", "--every", "1.5", "--out", str(out), *words)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return read_run(out), done.stdout


def blamed(run: Run) -> dict[str, Finding]:
    return {one.subject: one for one in run.findings if one.severity is Severity.BAD}


@pytest.fixture
def lab(netns: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[labs.Lab]:
    with labs.up(nodes=4, link={"delay": "200us"}, keep=False) as made:
        monkeypatch.setenv("WULF_LAB", made.name)
        yield made


@pytest.mark.full
def test_it_names_the_node_behind_losses_and_their_way_and_nobody_without(lab: labs.Lab, tmp_path: Path) -> None:
    with traffic(lab):
        quiet, _ = followed(tmp_path / "quiet")
        lab.set_link("n3", {"loss": "2%"}, direction="in")
        lossy, _ = followed(tmp_path / "lossy", "--by-program")
    assert blamed(quiet) == {}
    pairs = [record for record in quiet.records if is_whole(record)]
    assert len({record.subject for record in pairs}) == 12
    assert all(record.value and 2e5 < record.value < 4e6 for record in pairs if record.metric == SENT)
    least = {one.subject: one.value or 0.0 for one in pairs if one.metric == LEAST}
    smoothed = {one.subject: one.value or 0.0 for one in pairs if one.metric == RTT}
    assert all(8e-4 <= least[pair] <= smoothed[pair] for pair in least)  # four hops of 200 µs
    assert list(blamed(lossy)) == ["n3"]
    assert blamed(lossy)["n3"].evidence[0].way == "receive"
    assert {(one.params["port"], one.params["program"]) for one in lossy.records if "port" in one.params} >= {
        (PORT, "python")
    }
    assert all(0 < (one.value or 0) < 0.05 for one in lossy.records if one.metric == COST)


@pytest.mark.command("links")
def test_json_says_each_poll_at_once_or_the_records(lab: labs.Lab, tmp_path: Path) -> None:
    with traffic(lab):
        _, said = followed(tmp_path / "run", "--live", "--json")
    lines = [json.loads(line) for line in said.splitlines()]
    assert {line["poll"] for line in lines} == set(range(1, 9))
    assert {line["pair"] for line in lines} >= {"n1>n2", "n4>n3"}
