"""The limit of wake-up latency: held by a process, on a file that stands for the device."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from wulf.agent.machine import Machine
from wulf.agent.settings import pmqos
from wulf.agent.settings.pmqos import mechanism
from wulf.agent.unknown import Unknown

HOLDER = {"what": "holder"}


class Node:
    """A device file, in which a test plays the kernel: what was written last holds while its writer lives."""

    def __init__(self, device: Path) -> None:
        self.device = device
        self.machine = Machine()

    def settle(self, others: int = 2_000_000_000) -> None:
        """The kernel's part: without a holder the limit is what others ask for."""
        if pmqos._ours() is None:
            self.device.write_bytes(struct.pack("=i", others))

    def limit(self) -> object:
        return mechanism.read(self.machine, {}, "")

    def write(self, value: object) -> None:
        mechanism.write(self.machine, {}, "", value)
        self.settle()


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    monkeypatch.setattr(pmqos, "DEVICE", str(tmp_path / "cpu_dma_latency"))
    monkeypatch.setenv("WULF_STATE", str(tmp_path / "state"))
    made = Node(tmp_path / "cpu_dma_latency")
    made.settle()
    yield made
    pmqos._let_go()


def test_a_limit_that_others_hold_to_needs_no_holder(node: Node) -> None:
    node.settle(others=0)
    before = node.limit()
    assert before == 0.0
    node.write(0.0)
    assert pmqos._ours() is None


def test_what_is_no_time_is_refused(node: Node) -> None:
    with pytest.raises(Unknown, match="'soon' is no time in seconds"):
        node.write("soon")
    with pytest.raises(Unknown, match="write the limit"):
        mechanism.write(node.machine, HOLDER, "", "none")
    assert mechanism.startup(node.machine, {}, "") == "none"


def test_without_the_device_it_is_absent(node: Node) -> None:
    node.device.unlink()
    with pytest.raises(Unknown) as caught:
        node.limit()
    assert caught.value.absent
