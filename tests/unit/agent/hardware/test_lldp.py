"""Neighbours as lldpctl prints them: one or many, named or not, and what is no such answer."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.agent.hardware.lldp import MOST_NEIGHBOURS, Neighbour, parsed
from wulf.agent.unknown import Unknown

PORT = {"id": {"type": "ifname", "value": "Ethernet17"}, "descr": "compute 17", "mfs": "9236",
        "auto-negotiation": {"supported": True, "current": "1000BaseTFD - Four-pair Category 5 UTP"}}  # fmt: skip
BRIDGE, STATION = {"type": "Bridge", "enabled": True}, {"type": "Station", "enabled": True}


def chassis(name: str, *roles: dict[str, Any]) -> dict[str, Any]:
    own: dict[str, Any] = {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}
    own |= {"capability": list(roles) if len(roles) != 1 else roles[0]} if roles else {}
    return {name: own} if name else own


def said(*entries: tuple[str, dict[str, Any]]) -> str:
    each = [{nic: {"chassis": own, "port": PORT}} for nic, own in entries]
    return json.dumps({"lldp": {"interface": each if len(each) != 1 else each[0]}})


def test_one_neighbour_and_many() -> None:
    one = Neighbour("leaf-3", True, "Ethernet17", 9236, "1000BaseTFD")
    assert parsed(said(("eth0", chassis("leaf-3", BRIDGE)))) == {"eth0": one}
    assert list(parsed(said(("eth0", chassis("leaf-3", BRIDGE)), ("eth1", chassis("leaf-4", BRIDGE, STATION))))) == [
        "eth0", "eth1"
    ]  # fmt: skip


def test_of_several_behind_one_port_the_bridge_counts() -> None:
    every = [("eth0", chassis("phone", STATION)), ("eth0", chassis("leaf-3", BRIDGE)), ("eth0", chassis("x", BRIDGE))]
    assert parsed(said(*every))["eth0"].system == "leaf-3"


def test_who_has_no_name_is_not_called_by_an_address() -> None:
    found = parsed(said(("eth0", chassis("", BRIDGE))))["eth0"]
    assert (found.system, found.bridge) == ("", True)
    by_address = {"id": {"type": "mac", "value": "02:00:00:00:00:02"}}
    text = json.dumps({"lldp": {"interface": {"eth0": {"chassis": chassis("s"), "port": by_address}}}})
    assert parsed(text)["eth0"] == Neighbour("s", False, "", None, "")


def test_a_warning_before_it_and_nobody_at_all() -> None:
    assert parsed("[WARN/lldpctl] old\n" + said(("eth0", chassis("leaf-3", BRIDGE))))["eth0"].frame == 9236
    assert parsed('{"lldp": {}}') == parsed('{"lldp": {"interface": []}}') == {}


def test_a_name_is_cut_and_drives_no_terminal() -> None:
    name = parsed(said(("eth0", chassis("leaf\x1b[2J" + "x" * 500, BRIDGE))))["eth0"].system
    assert (len(name), name[:9]) == (64, "leaf [2Jx")


@pytest.mark.parametrize(
    "text",
    ["", "unable to connect", "[]", '{"lldp": 1}', '{"lldp": {"interface": "eth0"}}', '{"a":' * 100_000,
     '{"lldp": {"interface": {"eth0": []}}}', '{"lldp": {"interface": {"eth0": {"port": 3}}}}',
     json.dumps({"lldp": {"interface": [{}] * (MOST_NEIGHBOURS + 1)}})],
)  # fmt: skip
def test_what_is_no_such_answer_is_unknown(text: str) -> None:
    with pytest.raises(Unknown, match="not as expected"):
        parsed(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["chassis", "port", "id", "capability", "mfs", "descr", "eth0", "type"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_neighbours_or_unknown(content: Any) -> None:
    for text in (json.dumps({"lldp": {"interface": content}}), json.dumps({"lldp": {"interface": {"eth0": content}}})):
        with suppress(Unknown):
            assert all(isinstance(one, Neighbour) for one in parsed(text).values())
