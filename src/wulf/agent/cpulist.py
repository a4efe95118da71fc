"""Lists of CPUs as the kernel writes them, and the CPUs of a machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wulf.agent.machine import Machine

CPU = "sys/devices/system/cpu"

Value = TypeVar("Value")

MOST = 1 << 16
"""CPUs: eight times as many as Linux can be built for. What numbers one beyond is no list of CPUs."""


def parse(text: str) -> list[int]:
    """CPUs of a list such as '0-3,8' (also '0-15:2/4', groups: cpuset(7)), sorted. ValueError if it is none."""
    cpus: set[int] = set()
    for part in text.split(","):
        span, _, group = part.strip().partition(":")
        first, dash, last = span.partition("-")
        used, _, stride = group.partition("/")
        start, end, step = int(first), int(last if dash else first), int(stride or 1)
        if end >= MOST or step < 1:
            raise ValueError(f"{part!r} is no list of CPUs")
        cpus.update(cpu for cpu in range(start, end + 1) if (cpu - start) % step < int(used or 1))
    return sorted(cpus)


def fold(cpus: Iterable[int]) -> str:
    """The shortest list of the given CPUs: '0-3,8'."""
    spans: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def agreed(by_cpu: dict[int, str]) -> str:
    """The value that all CPUs share, or where they differ each with its CPUs: 'performance:0-7 powersave:8-15'."""
    values = sorted(set(by_cpu.values()))
    if len(values) == 1:
        return values[0]
    return " ".join(f"{value}:{fold(cpu for cpu in by_cpu if by_cpu[cpu] == value)}" for value in values)


@shared
def present(machine: Machine) -> list[int]:
    """The CPUs that the kernel has a folder of, on or off, in order."""
    return sorted(int(name[3:]) for name in machine.names(CPU) if name[:3] == "cpu" and name[3:].isdigit())


@shared
def online(machine: Machine) -> list[int]:
    """The CPUs that are on."""
    return parse(machine.text(f"{CPU}/online"))


@shared
def cpuinfo(machine: Machine) -> list[dict[str, str]]:
    """Stanzas of /proc/cpuinfo, one a CPU; a trailing stanza of the whole machine (ARM's, POWER's) is one more."""
    stanzas = re.split(r"\n\s*\n", machine.text("proc/cpuinfo"))
    return [
        {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in stanza.splitlines())}
        for stanza in stanzas
    ]


def cpuinfo_field(machine: Machine, *names: str) -> str:
    """The first of the named fields that a stanza has, from the first stanza that has one."""
    for stanza in cpuinfo(machine):
        for name in names:
            if stanza.get(name):
                return stanza[name]
    raise Unknown(f"/proc/cpuinfo has no '{names[0]}'", absent=True)
