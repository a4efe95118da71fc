from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from tests.unit.sessions import Answering
from tests.unit.tune.make_exports import SETTINGS, kept
from wulf.cluster.inventory import Inventory
from wulf.core.errors import NodeError, UsageError
from wulf.workflow.tune.verify import nodes_of, verify

KEPT = [kept("nic.mtu", 6000, 1500, "eth0", nodes="n[1-2]"), kept("nic.gro", False, True, "eth0", nodes="n1")]


def node(mtu=6000, gro=False):
    return Answering({"settings": {"nic.mtu": {"eth0": {"value": mtu}}, "nic.gro": {"eth0": {"value": gro}}}})


def looked(nodes, failed=None):
    opened = SimpleNamespace(sessions=nodes, failed=failed or {})
    launcher = SimpleNamespace(open=lambda *_: opened)
    return verify(Inventory.from_nodeset("n[1-2]"), KEPT, SETTINGS, launch=lambda _: nullcontext(launcher))


def test_all_there_is_0():
    nodes = {"n1": node(), "n2": node()}
    found = looked(nodes)
    assert found.exit_code == 0
    assert [(each.node, each.name) for each in found.checked] == [
        ("n1", "nic.mtu"),
        ("n1", "nic.gro"),
        ("n2", "nic.mtu"),
    ]
    ((op, fields),) = nodes["n2"].asked
    assert (op, [one["name"] for one in fields["read"]]) == ("settings", ["nic.mtu", "nic.gro"])


def test_one_that_differs_is_1():
    found = looked({"n1": node(), "n2": node(mtu=1500)})
    assert found.exit_code == 1
    assert [(each.node, each.now) for each in found.checked if each.state == "differs"] == [("n2", 1500)]


def test_only_the_nodes_that_kept_it_must_have_it():
    assert looked({"n1": node(), "n2": node(gro=True)}).exit_code == 0


def test_a_node_that_does_not_answer_is_3_and_the_others_are_told():
    found = looked({"n1": node(), "n2": Answering(NodeError("n2", "gone"))})
    assert found.exit_code == 3
    assert list(found.failed) == ["n2"]
    assert len(found.checked) == 2


def test_a_node_that_cannot_be_reached_is_3():
    assert looked({"n1": node()}, {"n2": NodeError("n2", "no route")}).exit_code == 3


def test_what_differs_outweighs_what_is_missing():
    assert looked({"n1": node(mtu=9000)}, {"n2": NodeError("n2", "no route")}).exit_code == 1


def test_an_unknown_setting_is_refused_before_any_node_is_asked():
    with pytest.raises(UsageError, match=r"no setting nic\.gro, nic\.mtu"):
        verify(Inventory.from_nodeset("n1"), KEPT, {}, launch=lambda _: pytest.fail("asked"))


def test_all_nodes_of_a_campaign():
    assert nodes_of(KEPT) == "n[1-2]"
    assert nodes_of([kept("nic.mtu", 1, 2, "eth0", nodes="")]) == ""
