"""The simulated cluster answers as the programs would, by the session contract."""

from pathlib import Path

import pytest

from wulf.cluster.addresses import data_addresses
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program
from wulf.cluster.session import RequestError, SessionLost
from wulf.cluster.simulated.cluster import Fault, SimulatedCluster

INVENTORY = Inventory.from_nodeset("n[1-3]", launcher="null")
KEY = "00112233445566778899aabbccddeeff"


def sessions(program="wulf-net", **how):
    launcher = NullLauncher(INVENTORY, SimulatedCluster(INVENTORY.names, **how))
    return launcher.open(INVENTORY.nodes, Program(program, Path("simulated"), "")).sessions


def run(opened, client="n1", server="n2", pattern="pingpong", key=KEY, **params):
    address = f"10.0.0.{server[1:]}"
    at = opened[server].request("serve", transport="tcp", address=address, key=KEY)
    where = {"address": at["address"], "port": at["port"]}
    return opened[client].request("run", pattern=pattern, transport="tcp", key=key, params=params, **where)


def test_values_come_from_a_function_of_client_server_and_parameters():
    seen = []

    def value(client, server, params):
        seen.append((client, server, params["pattern"], params["transport"], params["bytes"]))
        return 1e-5 if params["pattern"] == "pingpong" else None

    opened = sessions(value=value)
    answer = run(opened, bytes=8)
    assert answer["metrics"]["rtt"]["value"] == 1e-5
    assert answer["metrics"]["rtt"]["unit"] == "s"
    assert run(opened, "n3", "n1", "stream")["metrics"]["throughput"] == {
        "unit": "B/s", "value": None, "reason": "nothing came back",
    }  # fmt: skip
    assert seen == [("n1", "n2", "pingpong", "tcp", 8), ("n3", "n1", "stream", "tcp", None)]


def test_the_same_seed_gives_the_same_values():
    values = [[run(opened)["metrics"]["rtt"]["value"] for _ in range(5)] for opened in (sessions(), sessions())]
    assert values[0] == values[1]
    assert len(set(values[0])) == 5
    assert run(sessions(seed=1))["metrics"]["rtt"]["value"] != values[0][0]


@pytest.mark.parametrize(
    ("how", "code", "field"),
    [
        ({"bytes": 0}, "bad-parameter", "bytes"),
        ({"colour": "red"}, "bad-parameter", "colour"),
        ({"pattern": "conga"}, "bad-parameter", "pattern"),
        ({"key": "f" * 32}, "refused", "key"),
    ],
)
def test_refusals(how, code, field):
    with pytest.raises(RequestError) as caught:
        run(sessions(), **how)
    assert (caught.value.code, caught.value.field) == (code, field)


def test_a_server_is_there_from_serve_to_stop():
    opened = sessions()
    with pytest.raises(RequestError) as caught:
        opened["n1"].request("serve", transport="tcp", address="10.0.0.2", key=KEY)
    assert caught.value.code == "address"
    at = opened["n2"].request("serve", transport="tcp", address="10.0.0.2", key=KEY)
    request = {"pattern": "pingpong", "transport": "tcp", "address": at["address"], "port": at["port"], "key": KEY}
    assert opened["n1"].request("run", **request)["ok"]
    with pytest.raises(RequestError, match="there is no server"):
        opened["n1"].request("stop", server=at["server"])
    assert opened["n2"].request("stop", server=at["server"])["ok"]
    with pytest.raises(RequestError) as caught:
        opened["n1"].request("run", **request)
    assert caught.value.code == "connect"


def test_faults_happen_at_the_call_they_are_for():
    faults = [Fault("n1", "ping", 2, message="out of paper"), Fault("n2", "ping", 2, "die")]
    opened = sessions(faults=[*faults, Fault("n3", "ping", 1, "silence")])
    assert opened["n1"].request("ping")["ok"]
    with pytest.raises(RequestError, match="out of paper"):
        opened["n1"].request("ping")
    assert opened["n1"].request("ping")["ok"]
    opened["n2"].request("ping")
    with pytest.raises(SessionLost, match="SIGKILL"):
        opened["n2"].request("ping")
    with pytest.raises(RequestError) as caught:
        opened["n3"].request("ping", timeout=0.01)
    assert caught.value.code == "no-answer"


def test_the_agent():
    opened = sessions("wulf-agent")
    facts = opened["n1"].request("facts")["facts"]
    assert facts["cpu.model"] == {"value": "Simulated CPU", "provenance": "reported"}
    described = opened["n1"].request("describe")["describe"]
    assert {fact["name"] for fact in described["facts"]} == set(facts)
    assert data_addresses(INVENTORY, opened) == {"n1": "10.0.0.1", "n2": "10.0.0.2", "n3": "10.0.0.3"}


def test_an_answer_may_lead_to_the_next_request_at_once():
    opened = sessions()
    counted = []

    def again(future):
        counted.append(future.result()["id"])
        if len(counted) < 20:
            opened["n1"].call("ping").add_done_callback(again)

    opened["n1"].call("ping").add_done_callback(again)
    assert len(counted) == 20
