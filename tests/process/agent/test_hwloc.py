"""The facts of this machine's topology, held against hwloc's."""

import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from wulf.agent import facts
from wulf.agent.machine import Machine

LSTOPO = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")

pytestmark = pytest.mark.skipif(LSTOPO is None, reason="hwloc is not installed: its lstopo gives the second opinion")


@pytest.fixture(scope="module")
def objects():
    words = [LSTOPO, "--of", "xml", "--whole-system"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    return list(ElementTree.fromstring(done.stdout).iter("object"))


@pytest.fixture(scope="module")
def known():
    with Machine("/") as machine:
        return {name: fact["value"] for name, fact in facts.read(machine, ["cpu", "numa"]).items()}


def of(objects, kind):
    return [each.attrib for each in objects if each.attrib["type"] == kind]


@pytest.mark.parametrize(
    ("fact", "kind"), [("cpu.l1d_size", "L1Cache"), ("cpu.l2_size", "L2Cache"), ("cpu.l3_size", "L3Cache")]
)
def test_sizes_of_caches(objects, known, fact, kind):
    sizes = {int(each["cache_size"]) for each in of(objects, kind)}
    if not sizes:
        pytest.skip(f"hwloc knows no {kind} here")
    assert {known[fact]} == sizes


def test_numbers_of_cpus_and_cores(objects, known):
    assert known["cpu.threads"] == len(of(objects, "PU"))
    assert known["cpu.cores"] == len(of(objects, "Core"))


def test_memory_nodes(objects, known):
    memory = {int(each["os_index"]): int(each["local_memory"]) for each in of(objects, "NUMANode")}
    assert known["numa.nodes"] == len(memory)
    assert {node: known[f"numa.{node}.memory"] for node in memory} == memory
