"""The limit of wake-up latency: held by a process, on a file that stands for the device."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.unit.agent.settings.test_pmqos import HOLDER, Node
from tests.unit.agent.settings.test_pmqos import node as node
from wulf.agent.settings import pmqos
from wulf.agent.settings.pmqos import mechanism
from wulf.agent.unknown import Unknown


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


def test_a_holder_that_could_not_be_noted_is_not_left_behind(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pmqos, "replace", full)
    with pytest.raises(Unknown, match=r"pmqos.pid can't be written: No space left"):
        node.write(0.0)
    assert mechanism.read(node.machine, HOLDER, "") == "none"
