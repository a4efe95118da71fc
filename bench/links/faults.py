"""What is planted in a lab under load, and whether what `wulf links` found names it."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from bench.engine.errors import BenchError
from wulf import lab as labs
from wulf.core.findings import Finding, Severity
from wulf.stats.cluster.parties import LEAST_PARTNERS

HEALTHY = {"delay": "200us", "rate": "20mbit", "queue": "200"}
"""What every link does, both ways: a switch's port."""

LOSS = (0.005, 0.03)
DELAY_S = (0.0006, 0.003)
"""On top of the others' 0.2 ms."""
RATE_SHARE = (0.15, 0.35)
"""Of the others' rate."""
RATE = 20e6

UNDIRECTED = ("delay", "rate")
"""Kinds of which the way need not be told, but not a wrong one. Without clocks that agree only the sum of both ways'
delays is seen; and acknowledgements wait at a slow port as data does, so that both ways look alike where a program
sends as much either way."""

KINDS = ("loss", "link-loss", "delay", "rate")
"""Kinds of faults of the network."""

HOG = "hog"
"""A host whose CPUs something else takes: nobody is to be accused."""

HOGS = 1
"""Process that never sleeps."""


@dataclass(frozen=True)
class Fault:
    """What is planted.

    Attributes
    ----------
    kind
        Of `KINDS`, or `HOG`.
    subject
        A node, or of a link "sender>receiver".
    way
        `send`: what leaves the node suffers; `receive`: what reaches it.
    amount
        Share of frames that are lost, seconds, or bit/s.
    """

    kind: str
    subject: str
    way: str
    amount: float

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)


def drawn(kind: str, pairs: Sequence[tuple[str, str]], random: random.Random) -> Fault:
    """A fault of one kind.

    Parameters
    ----------
    pairs
        Sender and receiver of whatever has traffic: what nothing meets can't be seen.
    """
    if kind == "link-loss":
        sender, receiver = random.choice(pairs)
        return Fault(kind, f"{sender}>{receiver}", "send", round(random.uniform(*LOSS), 4))
    way, place = random.choice((("send", 0), ("receive", 1)))
    partners = Counter(pair[place] for pair in pairs)
    node = random.choice([node for node, many in partners.items() if many >= LEAST_PARTNERS])
    if kind == HOG:
        return Fault(kind, node, "", HOGS)
    amount = {
        "loss": round(random.uniform(*LOSS), 4),
        "delay": round(random.uniform(*DELAY_S), 5),
        "rate": round(RATE * random.uniform(*RATE_SHARE)),
    }[kind]
    return Fault(kind, node, way, amount)


@contextmanager
def planted(lab: labs.Lab, fault: Fault | None) -> Iterator[None]:
    """The fault is there as long as the block lasts."""
    if fault is None:
        yield
    elif fault.kind == HOG:
        with _hogs(lab, fault):
            yield
    elif fault.kind == "link-loss":
        with _lossy_pair(lab, fault):
            yield
    else:
        name, value = {
            "loss": ("loss", f"{fault.amount:.2%}"),
            "delay": ("delay", f"{(fault.amount + 0.0002) * 1e6:.0f}us"),
            "rate": ("rate", f"{fault.amount / 1e3:.0f}kbit"),
        }[fault.kind]
        lab.set_link(fault.subject, {name: value}, direction="out" if fault.way == "send" else "in")
        try:
            yield
        finally:
            lab.set_link(fault.subject, HEALTHY | {"loss": "none"})


@contextmanager
def _lossy_pair(lab: labs.Lab, fault: Fault) -> Iterator[None]:
    """The receiver's firewall drops some of what one sender sends."""
    sender, receiver = fault.subject.split(">")
    address = next(node.address for node in lab.nodes if node.name == sender)
    rule = f"ip saddr {address} numgen random mod 10000 < {fault.amount * 1e4:.0f} drop"
    chain = "{ type filter hook input priority 0; }"
    on(lab, receiver, f"nft 'add table ip fault; add chain ip fault in {chain}; add rule ip fault in {rule}'")
    try:
        yield
    finally:
        on(lab, receiver, "nft delete table ip fault")


@contextmanager
def _hogs(lab: labs.Lab, fault: Fault) -> Iterator[None]:
    spin = "i=0; while :; do i=$((i+1)); done"
    words = ["ssh", "-tt", "-F", str(lab.ssh_config), fault.subject, spin]
    running = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(int(fault.amount))
    ]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def on(lab: labs.Lab, node: str, command: str) -> None:
    """Run a command on a node. BenchError where it fails."""
    done = subprocess.run(
        ["ssh", "-F", str(lab.ssh_config), node, command], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise BenchError(f"{node}: {command}: {done.stderr.strip()}")


Accused = tuple[str, str]
"""Whom a finding accuses, and which way: `send`, `receive`, `both`."""


def accused(findings: Sequence[Finding]) -> list[Accused]:
    """Who stands out (severity bad), and whose host is said to be what is late."""
    return [(one.subject, _way(one)) for one in findings if one.severity is Severity.BAD or one.kind == "host-noise"]


def _way(finding: Finding) -> str:
    """The one way that its evidence tells, if it does."""
    ways = {one.way for one in finding.evidence if one.way} - {"both"}
    return ways.pop() if len(ways) == 1 else "both"


def outcome(fault: Fault | None, found: Sequence[Accused]) -> str:
    """`named`: it and nothing else, and the way where one can be told; `nobody`, or `wrong`."""
    if not found:
        return "nobody"
    if fault is None or fault.kind == HOG:
        return "wrong"
    return "named" if all(_fits(fault, *one) for one in found) else "wrong"


def _fits(fault: Fault, subject: str, way: str) -> bool:
    return subject == fault.subject and (way == fault.way or (way == "both" and fault.kind in UNDIRECTED))
