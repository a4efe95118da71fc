"""Facts as such: none is silently missing, each is described, none is 0 or "" for want of an answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.machines import tree
from wulf.agent import facts
from wulf.agent.fact import Fact, Topic
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown


def read(root: Path, *only: str) -> dict[str, dict[str, Any]]:
    with Machine(str(root)) as machine:
        return facts.read(machine, only or None)


def put(root: Path, path: str, contents: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(contents)


def test_on_a_machine_without_anything_every_fact_is_null_with_a_reason(tmp_path: Path) -> None:
    found = read(tmp_path)
    single = {fact.name for fact in facts.all_facts() if "*" not in fact.name}
    assert set(found) == single
    known = {name for name, fact in found.items() if fact["value"] is not None}
    assert known == set(), "a value from nowhere"
    assert all(fact["reason"] for fact in found.values())


@pytest.mark.parametrize("name", tree.names())
def test_a_fact_has_value_and_provenance_or_a_reason(name: str) -> None:
    for fact, reading in tree.expected(name).items():
        if reading["value"] is None:
            assert reading["reason"], fact
            assert "provenance" not in reading
        else:
            assert reading["provenance"] == "reported"
            assert "reason" not in reading
            assert reading["value"] != "", fact


def test_every_fact_but_those_of_other_hardware_is_read_from_some_recorded_machine() -> None:
    read_somewhere = {
        found.name
        for machine in tree.names()
        for name, reading in tree.expected(machine).items()
        if reading["value"] is not None and (found := facts.find(name)) is not None
    }
    assert {fact.name for fact in facts.all_facts()} - read_somewhere == set()


def test_facts_are_described_in_si_units() -> None:
    described = [fact.describe() for fact in facts.all_facts()]
    names = [fact["name"] for fact in described]
    assert len(names) == len(set(names))
    for fact in described:
        assert re.fullmatch(r"[a-z][a-z0-9_]*(\.([a-z0-9_]+|\*))+", fact["name"]), fact["name"]
        assert fact["help"], fact["name"]
        assert fact["unit"] in (None, "1", "s", "B", "B/s", "Hz", "T/s"), fact["name"]
        assert isinstance(fact["uniform"], bool)


@pytest.mark.parametrize("name", ["kernel.release", "cpu.model", "nic.eth0.mtu", "nic.eth0.qdisc", "mitigations.mds"])
def test_settings_should_agree_between_nodes(name: str) -> None:
    assert facts.is_uniform(name)


@pytest.mark.parametrize(
    "name",
    [
        "kernel.boot_id",
        "kernel.uptime",
        "kernel.cmdline",
        "memory.total",
        "numa.0.memory",
        "clock.offset",
        "nic.eth0.carrier_changes",
        "agent",
        "no.such.fact",
    ],
)
def test_what_differs_by_nature_need_not_agree(name: str) -> None:
    assert not facts.is_uniform(name)


def test_an_instance_may_hold_dots() -> None:
    found = facts.find("nic.eth0.100.mtu")
    assert found is not None
    assert found.name == "nic.*.mtu"
    assert not Fact("nic.*.mtu", "").matches("nic..mtu"[:-4] + "mtu")


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (["kernel.release"], {"kernel.release"}),
        (["kernel.rel"], set()),
        (["clock."], {name for name in tree.expected("arm-neoverse") if name.startswith("clock.")}),
        (
            ["nic.bond0.pause", "numa.nodes"],
            {f"nic.bond0.pause.{x}" for x in ("rx", "tx", "autonegotiation")} | {"numa.nodes"},
        ),
    ],
)
def test_only_chooses_whole_parts_of_names(only: list[str], expected: set[str], tmp_path: Path) -> None:
    assert set(read(tree.unpack("arm-neoverse", tmp_path), *only)) == expected


def test_misspelt_prefixes_are_found() -> None:
    right = ["cpu", "cpu.model", "nic", "nic.eth0", "nic.eth0.offload", "nic.eth0.offload.gro", "numa.0", "nic."]
    assert facts.unmatched(right) == []
    assert facts.unmatched(["cpus", "cpu.modell", "kernel.release.x", ""]) == [
        "cpus",
        "cpu.modell",
        "kernel.release.x",
        "",
    ]


def test_odd_contents_cost_one_fact_not_all(tmp_path: Path) -> None:
    put(tmp_path, "proc/uptime", "soon")
    put(tmp_path, "proc/meminfo", "MemTotal: lots\nSwapTotal: 4 kB\n")
    put(tmp_path, "proc/sys/vm/swappiness", "sixty")
    found = read(tmp_path)
    assert "unexpected contents" in found["kernel.uptime"]["reason"]
    assert "unexpected contents" in found["memory.total"]["reason"]
    assert found["memory.swappiness"]["reason"] == "/proc/sys/vm/swappiness holds 'sixty', not a number"
    assert found["memory.swap"]["value"] == 4096


def test_absent_is_told_from_unreadable(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cmdline").mkdir()  # reading it fails, though it is there
    found = read(tmp_path, "kernel")
    assert found["kernel.release"]["absent"] is True
    assert "absent" not in found["kernel.cmdline"]
    assert found["kernel.cmdline"]["reason"] == "/proc/cmdline: Is a directory"


def test_a_false_or_zero_is_a_value(tmp_path: Path) -> None:
    put(tmp_path, "proc/sys/vm/swappiness", "0")
    put(tmp_path, "proc/sys/kernel/osrelease", "6.1.0")
    found = read(tmp_path)
    assert found["memory.swappiness"]["value"] == 0
    assert found["virtualisation.wsl"]["value"] is False


def test_an_empty_answer_is_null(tmp_path: Path) -> None:
    topic = Topic("t")
    topic.fact("empty", "")(lambda _: "")
    topic.fact("none", "")(lambda _: None)
    with Machine(str(tmp_path)) as machine:
        found = topic.read(machine, lambda _: True)
    assert [reading["value"] for reading in found.values()] == [None, None]
    assert all(reading["reason"] for reading in found.values())


def test_secrets_on_the_command_line_are_masked(tmp_path: Path) -> None:
    put(tmp_path, "proc/cmdline", "a=b wifi.password=xyzzy API_TOKEN=xyzzy x=https://me:xyzzy@host/f key=xyzzy")
    value = read(tmp_path, "kernel.cmdline")["kernel.cmdline"]["value"]
    assert value == "a=b wifi.password=*** API_TOKEN=*** x=https://***@host/f key=***"


@pytest.mark.parametrize(
    ("kibibytes", "gibibytes"),
    [
        (24_684_084, 24),
        (131_072_000, 128),
        (65_523_712, 64),
        (63_900_000, 62),
        (196_666_666, 192),
        (1_056_000_000, 1024),
    ],
)
def test_memory_size_hides_what_kernels_reserve(kibibytes: int, gibibytes: int, tmp_path: Path) -> None:
    put(tmp_path, "proc/meminfo", f"MemTotal: {kibibytes} kB\n")
    assert read(tmp_path, "memory.size")["memory.size"]["value"] == gibibytes << 30


def test_readings_shared_by_facts_are_made_once(tmp_path: Path) -> None:
    calls = []

    def count(_: Machine) -> int:
        calls.append(1)
        raise Unknown("no")

    with Machine(str(tmp_path)) as machine:
        for _ in range(2):
            with pytest.raises(Unknown):
                machine.once("key", count)
    assert len(calls) == 1
