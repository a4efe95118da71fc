"""The ends of measurements: what each is asked, what it serves, and why a cell can't be measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.measure.fakes import FakeSession, cell
from wulf.core.errors import NodeError
from wulf.measure.engine.ends import Ends, Servers, no_second_session
from wulf.measure.engine.plan import SharedSet
from wulf.measure.engine.probes import NET, NODE


def ends(*sessions: FakeSession, servers: Servers | None = None) -> Ends:
    addresses = {session.node: f"10.0.0.{i}" for i, session in enumerate(sessions, 1)}
    programs = {NET: {session.node: session for session in sessions}}
    return Ends(programs, addresses, no_second_session, {} if servers is None else servers)


def test_a_server_is_started_once_and_by_its_own_node() -> None:
    client, server = FakeSession("n1"), FakeSession("n2")
    servers: Servers = {}
    both = ends(client, server, servers=servers)
    assert both.lacking(cell(0, "n1", "n2")) == both.lacking(cell(1, "n1", "n2")) == ""
    assert [op for op, _ in server.calls] == ["serve"]
    assert client.calls == []
    assert list(servers) == [("n2", "tcp", False, "10.0.0.2")]


def test_what_is_served_already_is_not_served_again() -> None:
    client, server = FakeSession("n1"), FakeSession("n2")
    served: Servers = {("n2", "tcp", False, "10.0.0.2"): {"address": "10.0.0.2", "port": 9, "key": "k"}}
    both = ends(client, server, servers=served)
    assert both.lacking(cell(0, "n1", "n2")) == ""
    assert server.calls == []
    both.begin(cell(0, "n1", "n2"))
    assert [(fields["port"], fields["key"]) for _, fields in client.calls] == [(9, "k")]


def test_a_cell_that_shares_a_working_set_names_it() -> None:
    node = FakeSession("n1")
    own = Ends({NODE: {"n1": node}}, {}, no_second_session, {})
    alone = replace(cell(0, "n1", "n1"), program=NODE, transport="")
    for one in (alone, replace(alone, shares=SharedSet("huge pages", 4096, spoils=True))):
        own.begin(one)
    assert [fields.get("set") for _, fields in node.calls] == [None, {"name": "huge pages", "bytes": 4096}]


def test_an_end_that_is_gone_is_named_with_how_it_ended() -> None:
    client, server = FakeSession("n1"), FakeSession("n2")
    server.alive = False
    both = ends(client, server)
    assert both.gone(cell(0, "n1", "n2")) == "n2: the connection was lost"
    assert both.lost == {"n2": "the connection was lost"}
    assert both.lacking(cell(0, "n1", "n2")) == "n2: the connection was lost"


def test_a_node_without_a_session_is_gone() -> None:
    assert ends(FakeSession("n1")).gone(cell(0, "n1", "n2")) == "n2: it has no session"


def test_a_node_measured_with_itself_needs_a_second_session() -> None:
    alone = ends(FakeSession("n1"))
    assert alone.gone(cell(0, "n1", "n1")).startswith("n1: no second session")
    assert alone.lost == {}, "the node itself is there"


def test_there_is_no_second_session_where_none_is_offered() -> None:
    with pytest.raises(NodeError, match="no second session"):
        no_second_session("n1")


def test_a_cell_with_an_address_of_its_own_has_a_server_there() -> None:
    client, server = FakeSession("n1"), FakeSession("n2")
    servers: Servers = {}
    both = ends(client, server, servers=servers)
    other = replace(cell(1, "n1", "n2"), address="10.1.0.2")
    assert both.lacking(cell(0, "n1", "n2")) == both.lacking(other) == ""
    assert [fields["address"] for _, fields in server.calls] == ["10.0.0.2", "10.1.0.2"]
    both.begin(other)
    assert client.calls[-1][1]["address"] == "10.1.0.2"
