"""Brings a lab of namespaces up: starts its first process, wires it, and keeps it once every node is ready."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wulf.core.errors import LabError

from . import login, rates, tools
from .state import INSIDE, alive, identify, identity, kill

_CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): pid, uid, gid
_START_DEADLINE_S, _START_DEADLINE_PER_NODE_S = 20.0, 0.5


class Wire:
    """The session of `wulf.lab.wire`. Started early, it loads pyroute2 while other things are prepared."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "wulf.lab.wire", str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
            start_new_session=True,  # Ctrl-C is for us alone; this ends when we close its stdin
            env=os.environ | {"PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)},
        )  # fmt: skip

    def request(self, **request: Any) -> dict[str, Any]:
        """Raises LabError with what the kernel refused."""
        assert self._process.stdin and self._process.stdout  # noqa: S101
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # then there is no answer either
        line = self._process.stdout.readline()
        if not line:
            raise LabError("the maker of the lab's network ended without an answer", "Its message stands above.")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise LabError(str(answer["error"]))
        return answer

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout  # noqa: S101
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Nursery:
    """A lab's first process and its nodes while they come up: an error, or our end, is the end of them all.

    `sshd` is what the nodes run; without `names` it isn't used.

    Without `keep`, that stays so: the lab lives as long as this object does, at most as long as this process.
    """

    def __init__(self, state: Path, names: Sequence[str], *, own_user: bool, keep: bool, sshd: Path | str) -> None:
        self._names = set(names)
        self.init: dict[str, Any] | None = None
        self.pids: dict[str, int] = {}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.control = ours
        go_read, self._go = os.pipe()
        owner = _own_pidfd()
        fds = [theirs.fileno(), go_read] + ([owner] if owner >= 0 else [])
        words = [
            sys.executable,
            "-I",
            "-S",
            INSIDE,
            "init",
            state,
            identity(state.parent),
            theirs.fileno(),
            owner,
            go_read,
        ]
        words += ["keep" if keep else "remove", "user" if own_user else "host", sshd, *names]
        self._log = state / "init.log"
        with self._log.open("wb") as log:
            starter = subprocess.Popen(
                [str(word) for word in words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", umask=0o022,
                env=tools.environment(Path(sshd)), pass_fds=fds, start_new_session=True,
            )  # fmt: skip
        for fd in fds[1:]:
            os.close(fd)
        theirs.close()
        self._deadline = time.monotonic() + _START_DEADLINE_S + len(names) * _START_DEADLINE_PER_NODE_S
        starter.wait()  # it forks the first process of the new PID namespace, and ends

    def await_init(self) -> None:
        """Until the lab's first process has its namespaces; LabError with the reason why it can't."""
        self._await({"-"}, "init")

    def await_nodes(self, word: str) -> None:
        """Until every node has reported `word`; LabError with the reason of the first that failed."""
        self._await(set(self._names), word)

    def _await(self, missing: set[str], word: str) -> None:
        while missing:
            kind, node, reason, pid = self._next_report(missing, word)
            if kind == "failed":
                subject = "the lab's first process" if node == "-" else f"node {node}"
                raise LabError(f"{subject} can't start: {reason}", f"{self._details(node)}")
            if kind == "init":
                self.init = identify(pid)
            if kind == word:
                missing.discard(node)
                self.pids[node] = pid

    def _next_report(self, missing: set[str], word: str) -> tuple[str, str, str, int]:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0 or not select.select([self.control], [], [], seconds)[0]:
            raise LabError(
                f"{len(missing)} of the lab's nodes are not {word} in time, {min(missing)} among them",
                "This machine may be overloaded; try fewer nodes.",
            )
        data, ancillary, _, _ = self.control.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not data:
            raise LabError("the lab's first process ended while it started", self._details("-"))
        # The kernel translates the sender's pid into our namespace: no other way is free of races.
        pid = _CREDENTIALS.unpack(ancillary[0][2][: _CREDENTIALS.size])[0]
        kind, node, *reason = data.decode(errors="replace").split(" ", 2)
        return kind, node, " ".join(reason), pid

    def _details(self, node: str) -> str:
        """The last lines that the node's sshd or the lab's first process left."""
        lines: list[str] = []
        for log in (self._log.parent / "nodes" / node / "sshd.log", self._log):
            with contextlib.suppress(OSError):
                lines += log.read_text(errors="replace").splitlines()[-3:]
        return " / ".join(lines)

    def release(self) -> None:
        """Let the nodes go on: the network is there."""
        os.close(self._go)
        self._go = -1

    def keep(self) -> None:
        """From now on the lab outlives this process."""
        self.control.send(b"keep")
        self.control.close()

    def abandon(self) -> None:
        """Kill what has started."""
        if self._go >= 0:
            self.release()
        self.control.close()
        if self.init:
            kill(self.init)


def _own_pidfd() -> int:
    """A file descriptor that tells of this process's end, whatever its children inherited; -1 before Linux 5.3."""
    try:
        return os.pidfd_open(os.getpid())
    except OSError:
        return -1


@contextlib.contextmanager
def abandoned_on_error(nursery: Nursery) -> Iterator[None]:
    try:
        yield
    except BaseException:
        nursery.abandon()
        raise


def bring_up(
    state: Path,
    nodes: Sequence[login.Node],
    controller: Sequence[str],
    shaped: dict[str, int],
    *,
    own_user: bool,
    keep: bool,
    wire: Wire,
) -> Nursery:
    """Start, wire and shape the lab; every node's sshd listens when this returns. Nothing runs when it raises."""
    login.prepare(state, nodes, own_user)
    nursery = Nursery(state, [node.name for node in nodes], own_user=own_user, keep=keep, sshd=tools.require("sshd"))
    with abandoned_on_error(nursery):
        nursery.await_nodes("made")
        assert nursery.init  # noqa: S101  (it reports before it starts nodes)
        init = nursery.init["pid"]
        cables = [
            {
                "name": node.name,
                "pid": nursery.pids[node.name],
                "addresses": [address for address in (node.address, node.address6) if address],
            }
            for node in nodes
        ]
        wire.request(op="build", init=init, network=0, controller=list(controller), nodes=cables)
        for name, rate in shaped.items():
            shape(wire, init, {"name": name, "pid": nursery.pids[name]}, rate, before=None)
        nursery.release()
        login.write_client_config(state, nodes, own_user, nursery.init)
        nursery.await_nodes("ready")
    return nursery


def shape(
    wire: Wire, init: int, node: dict[str, Any], rate: int | None, *, before: int | None, network: int = 0
) -> None:
    """Shape the link of `node` (name, pid) in both directions, in bit/s; `before` is what it has now.

    `network` counts as `wulf.lab.wire.NETWORKS` does.

    LabError names the node, the rate and the limits; then nothing has changed.
    """
    try:
        wire.request(op="shape", init=init, network=network, node=node, rate=rate, before=before)
    except LabError as error:
        text = "none" if rate is None else rates.show(rate)
        limits = f"{rates.show(rates.LOWEST)} to {rates.show(rates.HIGHEST)}"
        raise LabError(
            f"{node['name']}: tc refused the rate {text} (limits: {limits}): {error.what}",
            "The link is as it was; `wulf lab exec NODE -- tc qdisc` shows it.",
        ) from error


def pull_plug(init: int, name: str, node: dict[str, Any]) -> None:
    """Power cut: the link goes first, so that no farewell of TCP leaves the node."""
    if alive(node):
        with Wire() as wire:
            wire.request(op="cut", init=init, node={"name": name})
        kill(node)
