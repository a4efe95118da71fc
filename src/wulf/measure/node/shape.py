"""What of a node's facts the node survey needs: its caches, CPUs and memory nodes; and sizes that are relative to them.

A pure function of the facts. What a fact does not tell, nobody guesses: a size relative to it has a reason instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wulf.agent.cpulist import parse
from wulf.store.run import Facts

BEYOND = 4
"""A working set lies in memory when it is so many times the last cache: STREAM's rule, whose results below it are
partly the cache's (McCalpin, "Run rules")."""

MOST_BYTES = 256 << 20
"""Of a working set: touching and shuffling as much takes about a quarter of a second, in every replicate afresh."""

QUICK_MOST_BYTES = 128 << 20

SHARE_OF_MEMORY = 8
"""At most one part in so many of what there is: the node may have something else to do."""

ARRAYS = 3
"""Of the kernels with most of them, add and triad."""

_SIZE = re.compile(r"(?:(\d+)\*)?(l1|l2|l3|last|memory|array)(?:/(\d+))?")


class NotHereError(Exception):
    """The node does not have what a row is about, or does not tell; the text is the reason."""


@dataclass(frozen=True)
class Shape:
    """A node as the survey sees it.

    Attributes
    ----------
    caches
        Level ("l1", "l2", "l3") → bytes of one data cache, or the reason why it is not known.
    counts
        How many caches there are of a level.
    memory
        Bytes that programs may have: of the machine, or of its control group; None where neither is known.
    cpus
        The CPUs that may be used.
    memory_nodes
        Memory node → its CPUs among those; empty for memory without CPUs.
    distances
        Memory node → its distances to all memory nodes, in order.
    most
        Bytes that no working set is larger than.
    metered
        Whether a meter of the processors' energy can be read.
    """

    caches: Mapping[str, int | str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    memory: int | None = None
    cpus: Sequence[int] = ()
    memory_nodes: Mapping[int, Sequence[int]] = field(default_factory=dict)
    distances: Mapping[int, Sequence[int]] = field(default_factory=dict)
    most: int = MOST_BYTES
    metered: bool = True

    def cache(self, level: str) -> int:
        """Bytes of one cache of a level; NotHereError with the fact's reason where it is not known."""
        size = self.caches.get(level, f"the size of its {level.upper()} is not known")
        if isinstance(size, str):
            raise NotHereError(size)
        return size

    @property
    def last(self) -> str:
        """The last level of cache that there is."""
        known = [level for level in ("l3", "l2", "l1") if isinstance(self.caches.get(level), int)]
        if not known:
            raise NotHereError(str(self.caches.get("l1", "its caches are not known")))
        return known[0]

    def in_memory(self, arrays: int = 1) -> int:
        """Bytes of each of so many arrays that together lie in memory, or as near to it as time and memory allow.

        One array is for one CPU, which fills one last cache; several are for all CPUs, which fill all of them.
        """
        caches = self.cache(self.last) * (1 if arrays == 1 else max(1, self.counts.get(self.last, 1)))
        limits = [self.most] + ([self.memory // SHARE_OF_MEMORY] if self.memory else [])
        return _rounded(min(BEYOND * caches, min(limits) // arrays))

    def size(self, text: str) -> int:
        """Bytes of "l2/2", "4*l3", "memory"; multiples up to what is called memory, parts up to `most`.

        The half of a last cache of 480 MB takes half a second to make ready, and what is smaller lies in it as well.

        Raises
        ------
        NotHereError
            The node does not have such a cache, or does not tell.
        ValueError
            The text is no size.
        """
        match = _SIZE.fullmatch(text)
        if not match:
            raise ValueError(f"{text!r} is no size: write l2/2, 4*l3 or memory")
        times, name, parts = match.groups()
        if name in ("memory", "array"):
            size = self.in_memory(1 if name == "memory" else ARRAYS)
        else:
            size = self.cache(self.last if name == "last" else name)
        whole = size * int(times or 1) // int(parts or 1)
        return min(whole, self.in_memory()) if times else min(whole, self.most) if parts else whole

    def cpu(self, which: str) -> int:
        """The "first" or "last" CPU that may be used."""
        if not self.cpus:
            raise NotHereError("the CPUs that may be used are not known")
        return self.cpus[0] if which == "first" else self.cpus[-1]

    def memory_node(self, which: str) -> int:
        """The "near" or "far" memory node, of the last CPU, which is the one that measures."""
        cpu = self.cpu("last")
        near = next((node for node, cpus in self.memory_nodes.items() if cpu in cpus), None)
        if near is None:
            raise NotHereError("the memory node of its CPUs is not known")
        if which == "near":
            return near
        away = {node: distance for node, distance in enumerate(self.distances.get(near, ())) if node != near}
        if not away:
            raise NotHereError("it has one memory node")
        return max(away, key=lambda node: away[node])


def _rounded(size: int) -> int:
    """Down to whole MiB, or KiB if there is less than one."""
    unit = 1 << 20 if size >= 1 << 20 else 1 << 10
    return max(unit, size // unit * unit)


def shape_of(facts: Facts, *, quick: bool = False) -> Shape:
    """A node's shape from its facts."""
    caches: dict[str, int | str] = {}
    counts = {}
    for level, name in (("l1", "l1d"), ("l2", "l2"), ("l3", "l3")):
        size, count = _fact(facts, f"cpu.{name}_size"), _fact(facts, f"cpu.{name}_count")
        caches[level] = size if isinstance(size, int) and size > 0 else _reason(facts, f"cpu.{name}_size")
        if isinstance(count, int):
            counts[level] = count
    cpus = _cpus(_fact(facts, "limits.cpus")) or _cpus(_fact(facts, "cpu.online"))
    online = _cpus(_fact(facts, "cpu.online"))
    numbers = [int(name.split(".")[1]) for name in facts if re.fullmatch(r"numa\.\d+\.cpus", name)]
    return Shape(
        caches, counts, _memory(facts), [cpu for cpu in cpus if not online or cpu in online],
        {number: [cpu for cpu in _cpus(_fact(facts, f"numa.{number}.cpus")) if cpu in cpus] for number in numbers},
        {number: _numbers(_fact(facts, f"numa.{number}.distances")) for number in numbers},
        QUICK_MOST_BYTES if quick else MOST_BYTES,
        _fact(facts, "power.rapl") is not None,
    )  # fmt: skip


def _fact(facts: Facts, name: str) -> Any:
    return facts.get(name, {}).get("value")


def _reason(facts: Facts, name: str) -> str:
    entry = facts.get(name) or facts.get("agent") or {}
    return str(entry.get("reason") or f"the fact {name} is not known")


def _memory(facts: Facts) -> int | None:
    bounds = [_fact(facts, name) for name in ("memory.total", "limits.memory")]
    return min((bound for bound in bounds if isinstance(bound, int)), default=None)


def _cpus(text: Any) -> list[int]:
    try:
        return parse(str(text))
    except ValueError:
        return []


def _numbers(text: Any) -> list[int]:
    words = str(text or "").split()
    return [int(word) for word in words] if all(word.isdigit() for word in words) else []
