"""A node for the mechanisms' contract: network and mount namespaces of its own, in which everything may be changed.

Run as a program under `unshare --net --mount`: requests as JSON Lines on stdin, [what, ...arguments]; answers as JSON
Lines on stdout: {"value": …}, {"unknown": reason, "absent": bool}. It ends with its stdin, and all it made with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
from typing import Any

from wulf.agent import settings
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

TUNSETIFF, IFF_TAP_NO_PI = 0x400454CA, 0x1002

NOBODY = 65534

SETUP = (
    "mount -t sysfs sysfs /sys",
    "ip link set lo up",
    "ip link add eth0 numtxqueues 4 numrxqueues 4 type veth peer name peer0 numtxqueues 4 numrxqueues 4",
    "ip link set peer0 up",
    "ip link set eth0 up",
    "ip addr add 10.77.0.1/24 dev eth0",
)


class Node:
    """Started with the context, ended with it."""

    def __init__(self) -> None:
        command = ["unshare", "--net", "--mount", "--", sys.executable, "-m", "tests.contract.mechanism_node"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
        self._expect("ready")

    def _expect(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        line = self._process.stdout.readline().strip()
        if line != word:
            self._process.wait()
            raise RuntimeError(f"{line} {self._process.stderr.read().strip()}")

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.communicate(timeout=60)

    def ask(self, what: str, *arguments: Any) -> Any:
        """The answer's value; raises Unknown where the node did."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([what, *arguments]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "unknown" in answer:
            raise Unknown(answer["unknown"], answer["absent"])
        return answer["value"]

    def run(self, *command: str) -> str:
        """What a command says that runs inside; it has to succeed."""
        status, out, err = self.ask("run", *command)
        assert status == 0, f"{' '.join(command)}: {err}"
        return str(out)


def _answer(what: str, *arguments: Any) -> Any:
    if what == "run":
        said = subprocess.run(arguments, capture_output=True, text=True, check=False)
        return said.returncode, said.stdout, said.stderr
    if what == "read_all":
        with Machine() as machine:
            return settings.read_all(machine, arguments[0])
    if what == "unprivileged":
        reason = _as_nobody(*arguments)
        if reason is not None:
            raise Unknown(reason)
        return None
    mechanism = settings.mechanisms()[arguments[0]]
    with Machine() as machine:
        if what == "identity":
            return mechanism.identity(machine, arguments[1])
        return getattr(mechanism, what)(machine, *arguments[1:])


def _as_nobody(name: str, *arguments: Any) -> str | None:
    """Write as a user without rights, in a child process; the reason that was given."""
    said, word = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            with Machine() as machine:
                settings.mechanisms()[name].write(machine, *arguments)
        except Unknown as unknown:
            os.write(word, unknown.reason.encode())
        finally:
            os._exit(0)
    os.close(word)
    os.waitpid(child, 0)
    with os.fdopen(said) as reasons:
        return reasons.read() or None


def main() -> None:
    for command in SETUP:
        subprocess.run(command.split(), check=True)
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)  # an interface of its own is up for as long as it is held
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"tap0", IFF_TAP_NO_PI))
    subprocess.run(["ip", "link", "set", "tap0", "up"], check=True)
    with Machine() as machine:  # veth polls, and so can be threaded, with GRO alone
        settings.mechanisms()["ethtool"].write(machine, {"topic": "features", "field": "rx-gro"}, "eth0", True)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        try:
            answer = {"value": _answer(*json.loads(line))}
        except Unknown as unknown:
            answer = {"unknown": unknown.reason, "absent": unknown.absent}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
