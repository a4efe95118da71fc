"""The real programs behind the launchers, and the simulated one beside the real one."""

import json
import subprocess

import pytest

from wulf.agent.operations import description
from wulf.cluster.addresses import data_addresses
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.programs import agent_program, find_program
from wulf.cluster.session import RequestError
from wulf.cluster.simulated.cluster import WULF_NET
from wulf.cluster.simulated.node import WULF_NODE
from wulf.core.errors import UsageError
from wulf.measure.engine.probes import Probe
from wulf.measure.node.cells import TableRequest, drafts_of
from wulf.measure.node.rows import table
from wulf.measure.node.shape import Shape


def wulf_net():
    try:
        return find_program("wulf-net")
    except UsageError as error:
        pytest.skip(str(error))


def wulf_link():
    try:
        return find_program("wulf-link")
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["local", "ssh"])
def inventory(request):
    if request.param == "local":
        return Inventory.from_nodeset("p[1-2]", launcher="local")
    sshd = request.getfixturevalue("sshd")
    for name in ("p1", "p2"):
        sshd.host(name)
    return Inventory.from_nodeset("p[1-2]", ssh_config=sshd.config)


@pytest.mark.parametrize("which", [wulf_net, wulf_link, agent_program])
def test_the_programs_keep_the_session_contract(inventory, which):
    program = which()
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, program)
        assert opened.failed == {}
        for session in opened.sessions.values():
            assert session.greeting["hello"] == program.name
            assert session.request("ping") == {"id": 1, "ok": True}
            described = session.request("describe")["describe"]
            assert described["program"] == program.name
            assert {"ping", "describe"} <= set(described["ops"])
            with pytest.raises(RequestError) as caught:
                session.request("conjure")
            assert caught.value.code == "unknown-op"
    assert not any(session.alive for session in opened.sessions.values())


def test_one_replicate_over_a_launcher(inventory):
    program = wulf_net()
    with make_launcher(inventory) as launcher:
        sessions = launcher.open(inventory.nodes, program).sessions
        key = "00112233445566778899aabbccddeeff"
        at = sessions["p2"].request("serve", transport="tcp", address="127.0.0.1", key=key)
        answer = sessions["p1"].request(
            "run",
            pattern="pingpong", transport="tcp", address=at["address"], port=at["port"], key=key,
            params={"bytes": 1, "seconds": 0.02},
        )  # fmt: skip
        assert answer["metrics"]["rtt"]["unit"] == "s"
        assert 0 < answer["metrics"]["rtt"]["value"] <= answer["seconds"]  # however busy the machine
        assert sessions["p2"].request("stop", server=at["server"])["accepted"] >= 1


def test_the_agent_tells_facts_and_addresses(inventory):
    with make_launcher(inventory) as launcher:
        sessions = launcher.open(inventory.nodes, agent_program()).sessions
        facts = sessions["p1"].request("facts", only=["kernel"])["facts"]
        assert any(name.startswith("kernel.") for name in facts)
        if inventory.launcher == "local":
            assert data_addresses(inventory, sessions) == {"p1": "127.0.0.1", "p2": "127.0.0.1"}


def _specs(described):
    """What a plan can depend on: names, types, units, limits, defaults; not the help."""
    keys = ("name", "type", "unit", "default", "min", "max")
    return {
        pattern["name"]: {
            "params": {spec["name"]: {key: spec.get(key) for key in keys} for spec in pattern["params"]},
            "metrics": {metric["name"]: (metric["unit"], metric["better"]) for metric in pattern["metrics"]},
        }
        for pattern in described["patterns"]
    }


def test_what_the_simulated_program_offers_is_the_real_ones():
    """It may leave things out, but what it has must be as the real one has it."""
    text = subprocess.run([wulf_net().path, "--describe"], capture_output=True, check=True, timeout=10).stdout
    real = json.loads(text)
    assert set(WULF_NET["ops"]) == set(real["ops"])
    sizes = {transport["name"]: transport["max_bytes"] for transport in real["transports"]}
    assert {t["name"]: t["max_bytes"] for t in WULF_NET["transports"]}.items() <= sizes.items()
    for name, pattern in _specs(WULF_NET).items():
        for part in ("params", "metrics"):
            assert pattern[part].items() <= _specs(real)[name][part].items()


def _described(name):
    path = wulf_net().path.with_name(name)
    return json.loads(subprocess.run([path, "--describe"], capture_output=True, check=True, timeout=10).stdout)


def _wulf_node():
    """What the built wulf-node says of itself; skipped where it lacks probes of the table, as an older build does."""
    real = _described("wulf-node")
    probes = {entry["name"]: entry for entry in real["probes"]}
    lacking = sorted({entry["name"] for entry in WULF_NODE["probes"]} - set(probes))
    if lacking:
        pytest.skip(f"the wulf-node that is built has no {', '.join(lacking)}")
    return real, probes


def test_what_the_simulated_node_program_offers_is_the_real_ones():
    _, probes = _wulf_node()
    for entry in WULF_NODE["probes"]:
        real = probes[entry["name"]]
        assert entry["group"] == real["group"]
        params = {spec["name"]: spec for spec in real["params"]}
        for spec in entry["params"]:
            found = params[spec["name"]]
            assert (spec["type"], set(spec.get("choices", ()))) == (found["type"], set(found.get("choices", ())))
        metrics = [(metric["name"], metric["unit"], metric["better"]) for metric in entry["metrics"]]
        assert metrics == [(m["name"], m["unit"], m["better"]) for m in real["metrics"]][: len(metrics)]


def test_every_row_and_curve_of_the_node_survey_is_offered_in_its_unit():
    real, probes = _wulf_node()
    units = {(name, m["name"]): m["unit"] for name, entry in probes.items() for m in entry["metrics"]}
    for row in table().rows:
        if not row.derived and row.program == "node":
            assert units[row.probe, row.metric] == row.unit, row.name
    shape = Shape({"l1": 1 << 15, "l2": 1 << 20, "l3": 1 << 25}, {}, 1 << 34, [0, 1], {0: [0], 1: [1]},
                  {0: [10, 20], 1: [20, 10]})  # fmt: skip
    node, net = Probe.from_describe(real), Probe.from_describe(_described("wulf-net"))
    agent = Probe.from_describe(description())
    drafts, lacks = drafts_of(table(), shape, {"node": node, "net": net, "agent": agent}, TableRequest())
    assert {name for name in lacks if not name.startswith("net.")} == set()
    names = {draft.name.partition("#")[0] for draft in drafts}
    assert {part.name for part in (*table().curves, *table().grids)} <= names
