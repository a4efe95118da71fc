"""Programs behind a gateway: the agent's relay on this machine, as a real process, and its end here."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.wording import lacking
from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launchers.local import LocalLauncher
from wulf.cluster.programs import agent_program
from wulf.cluster.session import RequestError, Session, SessionLost
from wulf.cluster.ssh.relay import Gateway
from wulf.cluster.ssh.tree import TreeLauncher

HANG = 60.0
"""Seconds that only a hang lasts."""


class Heard:
    """A listener that keeps all it is told."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.cut: list[bytes] = []
        self.stderr: list[str] = []
        self.ends: list[Exit] = []
        self.over = threading.Event()

    def on_line(self, line: bytes, whole: bool = True) -> None:
        (self.lines if whole else self.cut).append(line)

    def on_stderr(self, line: str) -> None:
        self.stderr.append(line)

    def on_close(self, end: Exit) -> None:
        self.ends.append(end)
        self.over.set()


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gateway]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with LocalLauncher(Inventory.from_nodeset("head", launcher="local")) as launcher:
        yield Gateway(launcher.open([Node("head")], agent_program()).sessions["head"])


def run(gateway: Gateway, *argv: str, send: tuple[bytes, ...] = (), stdin: str | None = None) -> Heard:
    heard = Heard()
    channel = gateway.channel(argv, stdin)
    channel.start(heard)
    for line in send:
        channel.send(line)
    channel.close_input()
    assert heard.over.wait(HANG)
    return heard


def test_lines_go_both_ways_in_their_order_with_both_streams_and_the_end(gateway: Gateway) -> None:
    sent = tuple(f"line {i} é".encode() for i in range(500))
    heard = run(gateway, "sh", "-c", "cat; echo to people >&2; printf rest; exit 3", send=sent)
    assert (heard.lines, heard.cut) == (list(sent), [b"rest"])
    assert (heard.stderr, heard.ends) == (["to people"], [Exit(status=3)])


def test_more_than_a_pipe_and_an_answer_hold(gateway: Gateway) -> None:
    long = b"x" * 700_000
    assert run(gateway, "cat", send=(long, b"short", long)).lines == [long, b"short", long]


def test_many_at_once_are_kept_apart(gateway: Gateway) -> None:
    all_heard = [Heard() for _ in range(20)]
    channels = [gateway.channel(["cat"]) for _ in all_heard]
    for channel, heard in zip(channels, all_heard, strict=True):
        channel.start(heard)
    for turn in range(10):
        for i, channel in enumerate(channels):
            channel.send(f"{i} {turn}".encode())
    for channel in channels:
        channel.close_input()
    assert all(heard.over.wait(HANG) for heard in all_heard)
    assert [heard.lines for heard in all_heard] == [[f"{i} {turn}".encode() for turn in range(10)] for i in range(20)]


def test_killed_and_not_found_are_told_as_of_a_process_here(gateway: Gateway) -> None:
    heard = Heard()
    channel = gateway.channel(["sleep", "600"])
    channel.start(heard)
    channel.kill()
    assert heard.over.wait(HANG)
    assert heard.ends == [Exit(signal=9)]
    missing = run(gateway, "/no/such/program")
    assert missing.ends == [Exit(status=127)]
    assert missing.stderr == ["/no/such/program: No such file or directory"]


def test_one_that_closes_its_output_and_lives_on_is_ended(gateway: Gateway) -> None:
    assert run(gateway, "sh", "-c", "exec >&-; exec sleep 600").ends == [Exit(signal=9)]


def test_standard_input_from_the_gateways_cache(gateway: Gateway, tmp_path: Path) -> None:
    (tmp_path / "wulf" / "bin").mkdir(parents=True)
    (tmp_path / "wulf" / "bin" / "wulf-net-abc").write_bytes(b"the program\n")
    assert run(gateway, "cat", stdin="wulf-net-abc").lines == [b"the program"]
    missing = run(gateway, "cat", stdin="../../etc/passwd")
    assert (missing.lines, missing.ends) == ([], [Exit(status=127)])


def test_a_session_over_a_gateway_and_what_is_told_when_that_dies(gateway: Gateway) -> None:
    program = agent_program()
    session = Session(Node("leaf"), "wulf-agent", gateway.channel([sys.executable, str(program.path)]))
    session.greeted.result(HANG)
    assert session.request("ping", HANG) == {"id": 1, "ok": True}
    gateway.session.kill()
    assert session.wait_ended(HANG)
    with pytest.raises(SessionLost, match="its gateway was lost"):
        session.request("ping", HANG)


def test_what_is_no_action_is_refused(gateway: Gateway) -> None:
    for wrong in (None, "spawn", [["dance", 1]], [["spawn"]], ["spawn"]):
        with pytest.raises(RequestError, match="actions must be"):
            gateway.session.request("relay", HANG, actions=wrong)


def test_branches_are_shares_of_the_nodes_in_their_order() -> None:
    with TreeLauncher(Inventory.from_nodeset("n[1-10]", gateways=("n1", "n6"))) as tree:
        assert {head: [n for n, h in tree._head.items() if h == head] for head in ("n1", "n6")} == {
            "n1": ["n2", "n3", "n4", "n5"],
            "n6": ["n7", "n8", "n9", "n10"],
        }


def test_all_of_a_branch_fall_back_when_the_gateway_has_none() -> None:
    with TreeLauncher(Inventory.from_nodeset("n[1-2]", gateways=("n1",))) as tree:
        tree._gateways, tree._without = {}, {"n1": "n1: no answer"}
        seen: list[Any] = [tree._gateway(node) for node in tree.inventory.nodes]
        assert seen == [None, None]
        assert list(tree.notes) == ["n2"]
        assert lacking(tree.notes["n2"], "reached directly", ": n1: no answer") == []
