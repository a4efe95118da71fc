"""Memory modules, as the firmware's tables list them: how many, on which channels, how fast. Needs root."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.hardware.smbios import slots
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.hardware.smbios import Slot
    from wulf.agent.machine import Machine

topic = Topic("memory")


def _filled(machine: Machine) -> list[Slot]:
    return [slot for slot in slots(machine) if slot.size != 0]


@topic.fact("slots", "Slots for memory modules on the board", unit="1")
def count(machine: Machine) -> int:
    return len(slots(machine))


@topic.fact("modules", "Slots with a memory module", unit="1")
def modules(machine: Machine) -> int:
    return len(_filled(machine))


@topic.fact("module_sizes", "Sizes of the memory modules, and how many have each: '8 x 32 GiB'")
def module_sizes(machine: Machine) -> str:
    sizes = Counter(slot.size for slot in _filled(machine))
    if None in sizes:
        raise Unknown("the firmware does not know the size of a module")
    return ", ".join(
        f"{number} x {_size(size)}" for size, number in sorted(sizes.items(), key=lambda one: -(one[0] or 0))
    )


def _size(size: int | None) -> str:
    mebibytes = (size or 0) / 2**20
    return f"{mebibytes / 1024:g} GiB" if mebibytes >= 1024 else f"{mebibytes:g} MiB"


@topic.fact("empty_slots", "Slots without a memory module, as the board calls them; 'none' where all have one")
def empty_slots(machine: Machine) -> str:
    return " ".join(slot.place.replace(" ", "_") for slot in slots(machine) if slot.size == 0) or "none"


@topic.fact("channels", "Memory channels with a module", unit="1")
def channels(machine: Machine) -> int:
    named = {slot.channel for slot in _filled(machine)}
    if "" in named:
        raise Unknown("the firmware's names of the slots do not say which channel each is on")
    return len(named)


@topic.fact("module_kind", "Kind of the memory modules: 'DDR4'")
def module_kind(machine: Machine) -> str:
    kinds = sorted({slot.kind for slot in _filled(machine)})
    if "" in kinds:
        raise Unknown("the firmware does not know the kind of a module")
    return " ".join(kinds)


@topic.fact("speed", "Speed that the memory is set to, of the slowest module: DDR4-3200 is 3.2 GT/s", unit="T/s")
def speed(machine: Machine) -> int:
    return _slowest([slot.speed for slot in _filled(machine)])


@topic.fact("speed_rated", "Speed that the memory modules are made for, of the slowest one", unit="T/s")
def speed_rated(machine: Machine) -> int:
    return _slowest([slot.rated for slot in _filled(machine)])


def _slowest(speeds: list[int | None]) -> int:
    known = [speed for speed in speeds if speed is not None]
    if len(known) < len(speeds) or not known:
        raise Unknown("the firmware does not know the speed of every module")
    return min(known)
