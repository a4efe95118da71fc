"""What a change writes, in which order, and what it says came of it."""

from __future__ import annotations

import resource

from tests.unit.agent.changes.forked import REFUSED, in_child
from tests.unit.agent.changes.machine import START, FakeNode, setting
from tests.unit.agent.changes.test_apply import ME
from wulf.agent.changes.apply import apply
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.state.journal import NAME, Journal


def test_a_write_that_the_kernel_cuts_short(node: FakeNode) -> None:
    """A limit on the size of files is a disk that is full in the middle of a line."""
    apply(node.host, ME, [setting("mtu", 9000), setting("rings", 4096)])
    size = (node.folder / NAME).stat().st_size
    for room in (1, 30, 200, 400, 700):

        def act(most: int = size + room) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            apply(node.host, ME, [setting("gro", False), setting("mtu", 4000, place="eth1")])

        assert in_child(act) == REFUSED
        assert (node.value("gro"), node.value("mtu", "eth1")) == (True, 1500)
        size = (node.folder / NAME).stat().st_size
        Journal(node.host)
    take_back(node.host)
    assert node.settings.load() == START
