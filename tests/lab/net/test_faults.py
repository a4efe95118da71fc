"""Faults that need a network of their own: a peer whose address or link goes in the middle, a queue that is short.

Whatever happens to one run, the sessions live on and the other runs are unharmed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import start
from tests.lab.conftest import address, ssh
from tests.process.native.raw import IDLE_THREADS
from tests.process.native.session import KEY, Session
from tests.processes import wait_until
from tests.running.tiers import first_of
from wulf import lab as labs
from wulf.lab import state
from wulf.store.run import read_run

pytestmark = pytest.mark.lab

PATTERNS = ("pingpong", "stream")
TIMEOUT_S = 2.0
"""Of the runs that are to end; what hangs instead goes on for half an hour."""
PROMPT_S = 20.0
"""For an end after that: the server's grace is 3 s; a busy machine gets the rest."""


@pytest.fixture(scope="module")
def lab(netns: None) -> Iterator[labs.Lab]:
    """Four nodes; tests put back what they take away."""
    with labs.up(4, keep=False) as made:
        yield made


def entering(lab: labs.Lab, node: str) -> list[str]:
    """A command that starts another on the node, without its network."""
    process = lab._node(node)["process"]
    return [sys.executable, "-I", "-S", str(state.INSIDE), "enter", str(process["pid"]), process["start"]]


def ip(lab: labs.Lab, node: str, *words: str) -> None:
    status = lab.exec(node, ["ip", *words])
    assert status == 0, f"ip {' '.join(words)} on {node}: status {status}"


class Ends:
    """A server on one node and a client on another."""

    def __init__(self, lab: labs.Lab, server: str, client: str, transport: str) -> None:
        served_at = address(lab, server)
        self.server = Session(*entering(lab, server))
        self.client = Session(*entering(lab, client))
        served = self.server.ask("serve", transport=transport, address=served_at, key=KEY)
        assert served["ok"], served
        self.target = {"transport": transport, "address": served_at, "port": served["port"], "key": KEY}

    def start(self, pattern: str, **params: Any) -> int:
        return self.client.send("run", pattern=pattern, **self.target, params=params)

    def run(self, pattern: str, **params: Any) -> dict[str, Any]:
        return self.client.wait(self.start(pattern, **params))

    def at_rest(self) -> bool:
        """Whether nothing of a client is left in the server, which is the child of what entered the node."""
        children = Path(f"/proc/{self.server.process.pid}/task/{self.server.process.pid}/children").read_text()
        threads = len(os.listdir(f"/proc/{children.split()[0]}/task"))  # noqa: PTH208
        return threads <= IDLE_THREADS[str(self.target["transport"])]

    def __enter__(self) -> Ends:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.__exit__()
        self.server.__exit__()


@contextlib.contextmanager
def without_address(lab: labs.Lab, node: str) -> Iterator[None]:
    own = address(lab, node)
    words = [*entering(lab, node), "ip", "-o", "-4", "addr", "show"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    line = next(line.split() for line in listed.splitlines() if f" {own}/" in line)
    ip(lab, node, "addr", "del", line[3], "dev", line[1])
    try:
        yield
    finally:
        ip(lab, node, "addr", "add", line[3], "dev", line[1])


@contextlib.contextmanager
def without_link(lab: labs.Lab, node: str) -> Iterator[None]:
    ip(lab, node, "link", "set", "eth0", "down")
    try:
        yield
    finally:
        ip(lab, node, "link", "set", "eth0", "up")


@pytest.mark.parametrize("gone", first_of([without_address, without_link]), ids=["address", "link"])
@pytest.mark.parametrize("end", first_of(["server", "client"]))
def test_a_peer_that_vanishes(lab: labs.Lab, end: str, gone: Callable[[labs.Lab, str], Any]) -> None:
    """n1 measures n2, and n3 n4, by every pattern and transport; then n1's or n2's address, or link, is no more."""
    with contextlib.ExitStack() as stack:
        harmed = [stack.enter_context(Ends(lab, "n2", "n1", transport)) for transport in ("tcp", "udp")]
        others = [stack.enter_context(Ends(lab, "n4", "n3", transport)) for transport in ("tcp", "udp")]
        ending = [
            (each, each.start(pattern, seconds=1800, timeout=TIMEOUT_S)) for each in harmed for pattern in PATTERNS
        ]
        going_on = [(each, each.start(pattern, seconds=5, timeout=20)) for each in others for pattern in PATTERNS]
        assert wait_until(lambda: not any(each.at_rest() for each in harmed), 10), "the runs are on"
        time.sleep(0.5)
        with gone(lab, "n2" if end == "server" else "n1"):
            began = time.monotonic()
            for each, number in ending:
                error = each.client.wait(number, timeout=120)["error"]
                assert error["code"] in ("timeout", "peer-lost"), error
            assert time.monotonic() - began < PROMPT_S
            for each in harmed:
                assert wait_until(each.at_rest, PROMPT_S), "the server's side of a run goes on"
                assert each.client.ask("ping")["ok"]
                assert each.server.ask("ping")["ok"]
        for each, number in going_on:
            answer = each.client.wait(number)
            assert answer["ok"], answer
        for each in harmed:
            again = each.run("pingpong", seconds=0.01, timeout=20)
            assert again["ok"], again


def test_datagrams_over_a_queue_of_one_packet_go_on(lab: labs.Lab) -> None:
    """A slow link whose queue is full nearly always, and a send buffer that holds a few datagrams."""
    lab.set_rate("n1", "10mbit")
    try:
        ip(lab, "n1", "link", "set", "eth0", "txqueuelen", "1")
        with Ends(lab, "n2", "n1", "udp") as ends:
            answer = ends.run("stream", seconds=0.5, streams=4, sndbuf=4608, timeout=10)
            assert answer["ok"], answer
            assert 0 < answer["metrics"]["throughput"]["value"] < 1.5 * 10e6 / 8
            assert ends.run("pingpong", bytes=1472, seconds=0.1, timeout=10)["ok"]
    finally:
        lab.set_rate("n1", None)
        ip(lab, "n1", "link", "set", "eth0", "txqueuelen", "1000")


def probes(lab: labs.Lab) -> dict[str, str]:
    """The probes that run on each node that has any."""
    found = {node.name: ssh(lab, node.name, "pgrep wulf-net").stdout for node in lab.nodes}
    return {name: pids for name, pids in found.items() if pids}


@pytest.mark.full
def test_a_killed_controller_leaves_no_probe_on_any_node(lab_name: str, netns: None, tmp_path: Path) -> None:
    """Of a lab that stays up, as a cluster does."""
    with labs.up(3, keep=True, name=lab_name) as lab:
        process = start("survey", "--lab", out=tmp_path / "run", env=os.environ | {"WULF_LAB": lab.name})
        assert set(probes(lab)) == {"n1", "n2", "n3"}
        process.kill()
        process.communicate(timeout=30)
        assert wait_until(lambda: probes(lab) == {}, PROMPT_S), probes(lab)


@pytest.mark.full
def test_a_node_whose_address_goes_in_the_middle_harms_no_other_cell(
    lab_name: str, netns: None, tmp_path: Path
) -> None:
    with labs.up(3, keep=True, name=lab_name) as lab:
        process = start("survey", "--lab", "--quick", out=tmp_path / "run", env=os.environ | {"WULF_LAB": lab.name})
        with without_address(lab, "n2"):
            out, err = process.communicate(timeout=240)
    assert process.returncode == 3, out + err
    run = read_run(tmp_path / "run")
    failed = [record for record in run.records if record.verdict == "failed"]
    assert failed
    assert all("n2" in record.nodes for record in failed)
    others = [record for record in run.records if "n2" not in record.nodes and record.metric == "rtt"]
    assert others
    assert all(record.verdict in ("ok", "noisy") for record in others)
    assert "n2" in {finding.subject for finding in run.findings if finding.kind == "failed"}
