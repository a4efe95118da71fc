"""The limit of wake-up latency: held by a process, on a file that stands for the device."""

from __future__ import annotations

import os
import signal
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


def test_a_limit_is_held_until_it_is_let_go(node: Node) -> None:
    assert node.limit() == "none"
    node.write(2e-05)
    holder = pmqos._ours()
    assert holder is not None
    assert node.limit() == 2e-05
    assert mechanism.read(node.machine, HOLDER, "") == f"sleep ({holder}, ours)"
    assert os.getsid(holder) == holder, "it outlives the session that started it"
    node.write("none")
    assert node.limit() == "none"
    assert pmqos._ours() is None
    assert not Path(f"/proc/{holder}").exists()
    assert mechanism.read(node.machine, HOLDER, "") == "none"


def test_another_limit_has_one_holder(node: Node) -> None:
    node.write(1e-05)
    first = pmqos._ours()
    node.write(0)
    second = pmqos._ours()
    assert (node.limit(), first != second) == (0.0, True)
    assert mechanism.read(node.machine, HOLDER, "") == f"sleep ({second}, ours)"
    node.write(None)
    assert node.limit() == "none"


def test_a_limit_that_others_hold_to_needs_no_holder(node: Node) -> None:
    node.settle(others=0)
    before = node.limit()
    assert before == 0.0
    node.write(0.0)
    assert pmqos._ours() is None


def test_the_note_of_a_process_that_is_another_now_counts_for_nothing(node: Node) -> None:
    node.write(0.0)
    holder = pmqos._ours()
    assert holder is not None
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    note = pmqos._note()
    note.write_text(str(os.getpid()))
    assert pmqos._ours() is None
    node.write("none")
    assert not note.exists()


def test_what_is_no_time_is_refused(node: Node) -> None:
    with pytest.raises(Unknown, match="'soon' is no time in seconds"):
        node.write("soon")
    with pytest.raises(Unknown, match="write the limit"):
        mechanism.write(node.machine, HOLDER, "", "none")
    assert mechanism.startup(node.machine, {}, "") == "none"


def test_a_holder_that_could_not_be_noted_is_not_left_behind(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pmqos, "_write_whole", full)
    with pytest.raises(Unknown, match=r"pmqos.pid can't be written: No space left"):
        node.write(0.0)
    assert mechanism.read(node.machine, HOLDER, "") == "none"


def test_without_the_device_it_is_absent(node: Node) -> None:
    node.device.unlink()
    with pytest.raises(Unknown) as caught:
        node.limit()
    assert caught.value.absent
