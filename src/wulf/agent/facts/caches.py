"""The caches, as the kernel reports them: how large, of what build, shared by which CPUs.

Sizes are what firmware or hypervisor say: `wulf node` measures where latency rises, and holds the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.cpulist import CPU, agreed, online, parse
from wulf.agent.fact import Topic
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("cpu")

_SCALES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

Caches = dict[str, str]
"""The caches of one level: where each stands in /sys, by the list of CPUs that share it."""


@shared
def _types(machine: Machine) -> dict[str, str]:
    """Data, Instruction or Unified, by where a cache of a CPU that is on stands in /sys."""
    folders = [f"{CPU}/cpu{cpu}/cache" for cpu in online(machine)]
    caches = [f"{folder}/{name}" for folder in folders for name in machine.names(folder) if name.startswith("index")]
    return {cache: machine.text(f"{cache}/type") for cache in caches}


@shared
def _data(machine: Machine) -> dict[int, Caches]:
    """The caches that hold data, by level."""
    found: dict[int, Caches] = {}
    for cache in (cache for cache, type in _types(machine).items() if type != "Instruction"):
        of_level = found.setdefault(machine.integer(f"{cache}/level"), {})
        of_level.setdefault(machine.text(f"{cache}/shared_cpu_list"), cache)
    return found


def _of_level(machine: Machine, level: int) -> Caches:
    caches = _data(machine)
    if level not in caches:
        raise Unknown(f"no cache of level {level} in /sys", absent=True)
    return caches[level]


def _size(machine: Machine, cache: str) -> int:
    """Bytes of a cache; sysfs writes '32K'."""
    size = machine.text(f"{cache}/size")
    scale = _SCALES.get(size[-1])
    return int(size[:-1]) * scale if scale else int(size)


def _one(values: set[int], words: str, of: str) -> int:
    """The value that all caches share."""
    if len(values) > 1:
        raise Unknown(f"the CPUs have {words}s of {len(values)} {of} (hybrid processor)")
    return values.pop()


def _add_data_cache(level: int, name: str) -> None:
    words = f"level {level} cache" + (" (data)" if level == 1 else "")

    @topic.fact(f"{name}_size", f"Size of one {words}", unit="B")
    def size(machine: Machine) -> int:
        caches = _of_level(machine, level).values()
        return _one({_size(machine, cache) for cache in caches}, words, "sizes")

    @topic.fact(f"{name}_sizes", f"Sizes of the {words}s in bytes; where CPUs differ '49152:0-3 32768:4-7'")
    def sizes(machine: Machine) -> str:
        caches = _of_level(machine, level).items()
        return agreed({cpu: str(_size(machine, cache)) for cpus, cache in caches for cpu in parse(cpus)})

    @topic.fact(f"{name}_count", f"How many {words}s there are: CPUs under one of them share it", unit="1")
    def count(machine: Machine) -> int:
        return len(_of_level(machine, level))

    @topic.fact(f"{name}_line", f"Bytes that a {words} fetches at once", unit="B")
    def line(machine: Machine) -> int:
        caches = _of_level(machine, level).values()
        return _one({machine.integer(f"{cache}/coherency_line_size") for cache in caches}, words, "line sizes")

    @topic.fact(f"{name}_ways", f"Ways of associativity of a {words}", unit="1")
    def ways(machine: Machine) -> int:
        return _one({_ways(machine, cache) for cache in _of_level(machine, level).values()}, words, "builds")

    @topic.fact(f"{name}_shared", f"Lists of the CPUs that share a {words}, a blank between caches: '0-3 4-7'")
    def shared_by(machine: Machine) -> str:
        return " ".join(sorted(_of_level(machine, level), key=parse))


def _ways(machine: Machine, cache: str) -> int:
    ways = machine.integer(f"{cache}/ways_of_associativity")
    if ways == 0:  # so the kernel writes that firmware does not tell (drivers/base/cacheinfo.c)
        raise Unknown("firmware does not say how many ways the cache has")
    return ways


for _level, _name in ((1, "l1d"), (2, "l2"), (3, "l3")):
    _add_data_cache(_level, _name)


@topic.fact("l1i_size", "Size of one level 1 cache for instructions", unit="B")
def l1i_size(machine: Machine) -> int:
    caches = [cache for cache, type in _types(machine).items() if type == "Instruction"]
    if not caches:
        raise Unknown("no cache for instructions in /sys", absent=True)
    return _one({_size(machine, cache) for cache in caches}, "level 1 cache (instruction)", "sizes")


@topic.fact("last_level_size", "Size of one cache of the last level there is, beyond which memory answers", unit="B")
def last_level_size(machine: Machine) -> int:
    caches = _data(machine)
    if not caches:
        raise Unknown("no cache in /sys", absent=True)
    last = caches[max(caches)].values()
    return _one({_size(machine, cache) for cache in last}, "cache", "sizes at the last level")
