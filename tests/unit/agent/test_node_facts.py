"""Facts that the node probe's rows hang on: caches, turbo, energy meters, io_uring."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.machines import tree
from wulf.agent import facts, kernel
from wulf.agent.cpulist import CPU, parse
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

LEVELS = ("l1d", "l2", "l3")


def put(root: Path, files: dict[str, str]) -> None:
    for path, contents in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(contents + "\n")


def read(root: Path, *only: str) -> dict[str, dict[str, Any]]:
    with Machine(str(root)) as machine:
        return facts.read(machine, only)


def put_cache(root: Path, cpu: int, **fields: str) -> None:
    here = f"{CPU}/cpu{cpu}/cache/index0"
    usual = {"type": "Data", "level": "1", "size": "32K", "shared_cpu_list": str(cpu), "coherency_line_size": "64"}
    put(root, {f"{here}/{name}": value for name, value in {**usual, **fields}.items()})


@pytest.mark.parametrize("name", [name for name in tree.names() if tree.expected(name)["cpu.online"]["value"]])
@pytest.mark.parametrize("level", LEVELS)
def test_every_cpu_stands_under_one_cache_of_a_level(name: str, level: str) -> None:
    found = tree.expected(name)
    shared, count = found[f"cpu.{level}_shared"]["value"], found[f"cpu.{level}_count"]["value"]
    if shared is None:
        assert (level, count) == ("l3", None)
        return
    caches = shared.split()
    assert len(caches) == count
    assert sorted(cpu for cache in caches for cpu in parse(cache)) == parse(found["cpu.online"]["value"])


@pytest.mark.parametrize("name", [name for name in tree.names() if tree.expected(name)["numa.nodes"]["value"]])
def test_every_cpu_stands_in_one_memory_node_that_has_a_distance_to_all(name: str) -> None:
    found = tree.expected(name)
    nodes = [fact.split(".")[1] for fact in found if fact.endswith(".distances")]
    assert len(nodes) == found["numa.nodes"]["value"]
    lists = [found[f"numa.{node}.cpus"]["value"] for node in nodes]
    assert sorted(cpu for cpus in lists if cpus != "none" for cpu in parse(cpus)) == parse(found["cpu.online"]["value"])
    distances = [[int(word) for word in found[f"numa.{node}.distances"]["value"].split()] for node in nodes]
    assert all(distance[i] == min(distance) for i, distance in enumerate(distances) if len(distance) == len(nodes))


def test_the_caches_of_a_hybrid_laptop_are_told_with_their_cpus() -> None:
    found = tree.expected("laptop-hybrid")
    assert found["cpu.l2_size"]["value"] is None
    assert "2 sizes" in found["cpu.l2_size"]["reason"]
    assert found["cpu.l2_sizes"]["value"] == f"{5 << 18}:0-3 {2 << 20}:12-15"
    assert found["cpu.l2_shared"]["value"] == "0-1 2-3 12-15"
    assert found["cpu.last_level_size"]["value"] == found["cpu.l3_size"]["value"] == 24 << 20


@pytest.mark.parametrize(("size", "value"), [("32K", 32 << 10), ("1M", 1 << 20), ("1G", 1 << 30), ("512", 512)])
def test_sizes_of_sysfs(size: str, value: int, tmp_path: Path) -> None:
    put(tmp_path, {f"{CPU}/online": "0"})
    put_cache(tmp_path, 0, size=size)
    assert read(tmp_path, "cpu.l1d_size")["cpu.l1d_size"]["value"] == value


def test_a_cache_that_lacks_one_file_keeps_its_other_facts(tmp_path: Path) -> None:
    put(tmp_path, {f"{CPU}/online": "0"})
    put_cache(tmp_path, 0, ways_of_associativity="0")
    (tmp_path / f"{CPU}/cpu0/cache/index0/coherency_line_size").unlink()
    found = read(tmp_path, "cpu")
    assert found["cpu.l1d_size"]["value"] == 32 << 10
    assert found["cpu.l1d_line"]["absent"] is True
    assert "does not say" in found["cpu.l1d_ways"]["reason"]
    assert found["cpu.l1i_size"]["reason"] == "no cache for instructions in /sys"
    assert found["cpu.l2_size"]["absent"] is True


POLICIES = {f"{CPU}/cpufreq/policy{i}/affected_cpus": str(i) for i in range(2)}


@pytest.mark.parametrize(
    ("files", "turbo"),
    [
        ({"intel_pstate/no_turbo": "1"}, False),
        ({"intel_pstate/no_turbo": "0"}, True),
        ({"cpufreq/boost": "1"}, True),
        ({"cpufreq/boost": "0", "cpufreq/policy0/boost": "1", "cpufreq/policy1/boost": "1"}, False),
        ({"cpufreq/boost": "1", "cpufreq/policy0/boost": "1", "cpufreq/policy1/boost": "0"}, False),
        ({"cpufreq/policy0/boost": "1", "cpufreq/policy1/boost": "1"}, True),
        ({}, None),
    ],
)
def test_turbo_is_on_where_every_switch_is(files: dict[str, str], turbo: bool | None, tmp_path: Path) -> None:
    put(tmp_path, POLICIES | {f"{CPU}/{name}": value for name, value in files.items()})
    assert read(tmp_path, "cpu.turbo")["cpu.turbo"]["value"] is turbo


ZONE = "sys/class/powercap/intel-rapl:0"


class Forbidden(Machine):
    """A machine whose meters are root's alone: root may read every file of a tree, so that modes would not do."""

    def text(self, path: str) -> str:
        if path.endswith("/energy_uj"):
            raise Unknown(f"no permission to read /{path}")
        return super().text(path)


def test_meters_that_may_not_be_read_are_null_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path, {f"{ZONE}/name": "package-0", f"{ZONE}/energy_uj": "17"})
    assert read(tmp_path, "power.rapl")["power.rapl"]["value"] == "package-0"
    with Forbidden(str(tmp_path)) as machine:
        found = facts.read(machine, ["power.rapl"])["power.rapl"]
    assert found == {"value": None, "reason": f"no permission to read /{ZONE}/energy_uj"}


def test_a_machine_without_meters_says_what_is_missing(tmp_path: Path) -> None:
    assert "virtual machine" in read(tmp_path, "power")["power.rapl"]["reason"]
    (tmp_path / "sys/class/powercap/dtpm").mkdir(parents=True)
    assert "driver is not loaded" in read(tmp_path, "power")["power.rapl"]["reason"]


def _libc(code: int) -> Callable[..., Any]:
    class Libc:
        def syscall(self, number: Any, *_: Any) -> int:
            assert number.value == 425
            ctypes.set_errno(code)
            return -1

    return lambda *_, **__: Libc()


@pytest.mark.parametrize(("code", "allowed"), [(errno.EFAULT, True), (errno.EPERM, False)])
def test_io_uring_is_allowed_where_the_kernel_gets_to_the_parameters(
    code: int, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", _libc(code))
    assert kernel.io_uring_allowed() is allowed


@pytest.mark.parametrize(("code", "absent"), [(errno.ENOSYS, True), (errno.ENOMEM, False)])
def test_a_kernel_without_io_uring_is_told_from_one_that_failed(
    code: int, absent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", _libc(code))
    with pytest.raises(Unknown) as raised:
        kernel.io_uring_allowed()
    assert raised.value.absent is absent
