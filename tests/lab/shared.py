"""Labs that tests share: made once for each worker, held against what they were at first after every test, and made
anew where a test left one changed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from wulf import lab
from wulf.lab import state

SETTLES_S = 20.0
"""How long what a test ended may take to be gone: sessions of sshd end by themselves."""

LOOK = """
exec 2>/dev/null
echo "== links"; ip -o -d link | sed "s/^[0-9]*: //; s/@if[0-9]*:/:/"
echo "== addresses"; ip -br addr | sed "s/@if[0-9]*//; s/fe80:[^ ]*//; s/  */ /g"
echo "== routes"; ip rule; ip route show table all | grep -v -e fe80: -e cache
echo "== queues"; tc qdisc
echo "== firewall"; nft list ruleset
echo "== kernel"; grep -s . /proc/sys/net/core/somaxconn /proc/sys/net/ipv4/tcp_* | grep -v -e fastopen_key -e _mem:
echo "== files"; find "$HOME" /run/tmp -type f -not -path "$HOME/.cache/*" | sort
processes=$(ps -eo args=)
echo "== processes"; printf '%s\n' "$processes" | grep -v -e '^ps -eo' -e '^sh -c'
"""
"""All of a node that a test could leave changed. Its cache of programs and its account of changes are there to be
filled, and its own IPv6 addresses come a second or two after it. ps runs beside nothing else: it shows a program that
is only just starting by another name."""

TCP_REMEMBERS = "ip tcp_metrics flush"
"""Of a network that was cut, how late its answers came: nobody's to inherit."""


def run_on(made: lab.Lab, node: str, script: str) -> str:
    """A script's output on a node, without the node's network."""
    process = made._node(node)["process"]
    words = [sys.executable, "-I", "-S", str(state.INSIDE), "enter", str(process["pid"]), process["start"]]
    done = subprocess.run([*words, "sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout


def look(made: lab.Lab) -> dict[str, str]:
    """Node and topic → what is there."""
    found = {}
    for node in made.nodes:
        alive = made.is_up(node.name)
        found[f"{node.name}: as wulf knows it"] = f"{node}, {'up' if alive else 'down'}"
        for part in run_on(made, node.name, LOOK).split("== ")[1:] if alive else ():
            topic, _, text = part.partition("\n")
            found[f"{node.name}: {topic}"] = text
    return found


def look_at_rest(made: lab.Lab) -> dict[str, str]:
    """What is there once nothing comes and goes: what brought the nodes up has ended."""
    deadline = time.monotonic() + SETTLES_S
    before, found = look(made), look(made)
    while differences(before, found):
        if time.monotonic() > deadline:
            raise AssertionError("a new lab does not come to rest:\n" + "\n".join(differences(before, found)))
        before, found = found, look(made)
    return found


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What came and what went, by node and topic."""
    told = []
    for topic in sorted({*before, *after}):
        was, now = before.get(topic, "").splitlines(), after.get(topic, "").splitlines()
        if sorted(was) != sorted(now):
            told += [f"{topic}: + {line}" for line in now if line not in was]
            told += [f"{topic}: - {line}" for line in was if line not in now]
    return told


class SharedLab:
    """One lab of so many nodes, for test after test."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._lab: lab.Lab | None = None
        self._before: dict[str, str] = {}

    @contextmanager
    def lent(self) -> Iterator[lab.Lab]:
        """The lab, as it was at first. Fails who leaves it changed."""
        if self._lab is None:
            self._lab = lab.up(self._nodes, keep=False)
            self._before = look_at_rest(self._lab)
        made = self._lab
        yield made
        left = self._left()
        if left:
            self.close()
            raise AssertionError("this test changed the lab that it shares with others:\n" + "\n".join(left))
        for node in made.nodes:
            run_on(made, node.name, TCP_REMEMBERS)

    def _left(self) -> list[str]:
        assert self._lab is not None
        deadline = time.monotonic() + SETTLES_S
        while (left := differences(self._before, look(self._lab))) and time.monotonic() < deadline:
            if any("processes: +" not in line for line in left):
                break
            time.sleep(0.2)
        return left

    def close(self) -> None:
        if self._lab is not None:
            self._lab.down()
            self._lab = None
