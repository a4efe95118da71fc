"""Memory: how much, in what pages, and how the kernel moves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("memory")

_HUGE = "sys/kernel/mm/hugepages"
_THP = "sys/kernel/mm/transparent_hugepage"


@shared
def _meminfo(machine: Machine) -> dict[str, str]:
    return machine.table("proc/meminfo")


def _bytes(machine: Machine, field: str) -> int:
    rows = _meminfo(machine)
    if field not in rows:
        raise Unknown(f"/proc/meminfo has no {field}", absent=True)
    return int(rows[field].split()[0]) * 1024  # the file says kB and means KiB


@topic.fact("total", "Memory that the kernel may use (MemTotal)", unit="B", uniform=False)
def total(machine: Machine) -> int:
    return _bytes(machine, "MemTotal")


@topic.fact(
    "size", "MemTotal rounded up to a sixteenth of the power of two below it: equal on equal machines", unit="B"
)
def size(machine: Machine) -> int:
    # Kernels of equal machines reserve by some pages more or less, so that MemTotal never quite agrees; what they
    # reserve in all (1 to 4 %) is less than one step, so that the step above is what is fitted.
    memory = _bytes(machine, "MemTotal")
    step = max(1, (1 << (memory.bit_length() - 1)) // 16)
    return -(-memory // step) * step


@topic.fact("swap", "Size of all swap space", unit="B")
def swap(machine: Machine) -> int:
    return _bytes(machine, "SwapTotal")


@topic.fact("swappiness", "How readily the kernel swaps (vm.swappiness)", unit="1")
def swappiness(machine: Machine) -> int:
    return machine.integer("proc/sys/vm/swappiness")


@topic.fact("overcommit", "Overcommit policy (vm.overcommit_memory): 0 heuristic, 1 always, 2 never", unit="1")
def overcommit(machine: Machine) -> int:
    return machine.integer("proc/sys/vm/overcommit_memory")


@topic.fact(
    "zone_reclaim",
    "Whether a full memory node is reclaimed before another is used (vm.zone_reclaim_mode bits)",
    unit="1",
)
def zone_reclaim(machine: Machine) -> int:
    return machine.integer("proc/sys/vm/zone_reclaim_mode")


@topic.fact("numa_balancing", "Automatic NUMA balancing (kernel.numa_balancing bits): 0 is off", unit="1")
def numa_balancing(machine: Machine) -> int:
    return machine.integer("proc/sys/kernel/numa_balancing")


@topic.fact("thp", "Transparent huge pages: always, madvise, never")
def thp(machine: Machine) -> str:
    return machine.chosen(f"{_THP}/enabled")


@topic.fact("thp_size", "Size of a transparent huge page", unit="B")
def thp_size(machine: Machine) -> int:
    return machine.integer(f"{_THP}/hpage_pmd_size")


@topic.fact("page_size", "Size of a small page", unit="B")
def page_size(machine: Machine) -> int:
    return int(machine.ask("page_size"))


@topic.fact("thp_defrag", "When the kernel makes room for a huge page: always, defer, defer+madvise, madvise, never")
def thp_defrag(machine: Machine) -> str:
    return machine.chosen(f"{_THP}/defrag")


@topic.fact("ksm", "Merging of equal pages (KSM): 0 off, 1 on, 2 off and unmerged", unit="1")
def ksm(machine: Machine) -> int:
    return machine.integer("sys/kernel/mm/ksm/run")


@shared
def _huge_sizes(machine: Machine) -> list[str]:
    names = [name[len("hugepages-") :] for name in machine.names(_HUGE) if name.startswith("hugepages-")]
    return sorted(names, key=lambda name: int(name[:-2]))  # '2048kB'


@topic.fact("hugepage_sizes", "Sizes of huge pages that the kernel knows")
def hugepage_sizes(machine: Machine) -> str:
    return " ".join(_huge_sizes(machine))


@topic.each("hugepages.*", _huge_sizes, "Huge pages of a size that are reserved", unit="1")
def hugepages(machine: Machine, page: str) -> int:
    return machine.integer(f"{_HUGE}/hugepages-{page}/nr_hugepages")


@topic.each(
    "hugepages_free.*", _huge_sizes, "Huge pages of a size that are reserved and not taken", unit="1", uniform=False
)
def hugepages_free(machine: Machine, page: str) -> int:
    return machine.integer(f"{_HUGE}/hugepages-{page}/free_hugepages")
