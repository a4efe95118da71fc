"""The firmware's tables (SMBIOS): structures of memory slots and processors, from /sys/firmware/dmi/tables.

Layout: DMTF DSP0134, System Management BIOS Reference Specification, 5.2 (entry points), 6.1 (structures), 7.5, 7.17
and 7.18 (processor, memory array, memory device). Whatever breaks that layout makes the whole table unknown: a table
that is read in part would report slots as missing. Serial numbers, asset tags and the system's UUID are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wulf.agent.hardware import printable
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

FOLDER = "sys/firmware/dmi/tables"

MOST_BYTES = 1 << 20
"""Of a table: tens of KiB are usual on large servers."""

PROCESSOR, MEMORY_ARRAY, MEMORY_DEVICE, END = 4, 16, 17, 127
_SYSTEM_MEMORY = 3  # use of an array, 7.17.2

_OLD, _NEW = b"_SM_", b"_SM3_"  # 32-bit and 64-bit entry points

_BROKEN, _BROKEN_ENTRY = "the firmware's table is broken", "the firmware's entry point is broken"


@dataclass(frozen=True)
class Structure:
    """One entry of the table: its formatted part, header included, and its strings."""

    kind: int
    body: bytes
    strings: Sequence[str]

    @property
    def handle(self) -> int:
        return int.from_bytes(self.body[2:4], "little")

    def number(self, at: int, size: int) -> int | None:
        """The little-endian number there; None where this version of the structure ends before it."""
        part = self.body[at : at + size]
        return int.from_bytes(part, "little") if len(part) == size else None

    def string(self, at: int) -> str:
        """The string that the byte there counts to; '' where there is none.

        Raises Unknown where there are fewer strings.
        """
        index = self.number(at, 1) or 0
        if index > len(self.strings):
            raise Unknown(f"{_BROKEN}: string {index} of {len(self.strings)} in {self}")
        return self.strings[index - 1] if index else ""

    def __str__(self) -> str:
        return f"structure {self.handle:#06x} of type {self.kind}"


@shared
def structures(machine: Machine) -> list[Structure]:
    """All structures of the machine's table. Raises Unknown where it can't be read, or breaks its own layout."""
    length, count = entry_point(machine.binary(f"{FOLDER}/smbios_entry_point"))
    table = machine.binary(f"{FOLDER}/DMI")
    if len(table) > MOST_BYTES:
        raise Unknown(f"/{FOLDER}/DMI has {len(table)} bytes: no firmware's table is that long")
    return list(parsed(table[:length], count))


def entry_point(content: bytes) -> tuple[int, int | None]:
    """Length of the table [B], at most, and how many structures it has (None: as many as there are up to the end mark).

    Raises Unknown for what is no entry point.
    """
    if content.startswith(_NEW):
        _check(content, 6, 0x18)
        return int.from_bytes(content[0x0C:0x10], "little"), None
    if content.startswith(_OLD):
        length = _check(content, 5, 0x1E)  # version 2.1 says 0x1E by mistake
        if content[0x10:0x15] != b"_DMI_" or (length > 0x1E and sum(content[0x10:0x1F]) % 256):
            raise Unknown(f"{_BROKEN_ENTRY}: its second half has a wrong mark or checksum")
        return int.from_bytes(content[0x16:0x18], "little"), int.from_bytes(content[0x1C:0x1E], "little")
    raise Unknown(f"{_BROKEN_ENTRY}: it begins with {content[:5].hex() or 'nothing'}")


def _check(content: bytes, at: int, least: int) -> int:
    """The length that stands at that byte, if it and the sum of all bytes are right."""
    length = content[at] if at < len(content) else 0
    if not least <= length <= len(content):
        raise Unknown(f"{_BROKEN_ENTRY}: it claims {length} bytes of {len(content)}")
    if sum(content[:length]) % 256:
        raise Unknown(f"{_BROKEN_ENTRY}: its checksum is wrong")
    return length


def parsed(table: bytes, count: int | None = None) -> Iterator[Structure]:
    """The structures of a table, one after the other, each behind the last: there are no links, and no loops.

    Parameters
    ----------
    count
        How many there are; None: up to the end mark.
    """
    at = found = 0
    while at < len(table) and (count is None or found < count):
        kind, length = table[at], table[at + 1] if at + 1 < len(table) else 0
        if length < 4 or at + length > len(table):
            raise Unknown(f"{_BROKEN}: a structure of {length} bytes at {at} of {len(table)}")
        end = table.find(b"\0\0", at + length)
        if end < 0:
            raise Unknown(f"{_BROKEN}: it is cut off within the strings of a structure at {at}")
        strings = table[at + length : end].split(b"\0") if end > at + length else []
        yield Structure(kind, table[at : at + length], [printable(text.decode("latin-1")) for text in strings])
        if kind == END:
            return
        at, found = end + 2, found + 1
    if count is None or found < count:
        raise Unknown(f"{_BROKEN}: it ends after {found} structures, without the end mark")


@dataclass(frozen=True)
class Slot:
    """A memory slot of the board.

    Attributes
    ----------
    place
        As the board calls it: 'CPU1_DIMM_A1'; with its bank where several have one name.
    channel
        What the firmware calls the channel it is on; '' where it names none.
    size
        Bytes of the module in it; 0: it is empty. None: there is one, and the firmware does not know its size.
    speed, rated
        Transfers a second that the module is set to, and is made for; None where the firmware does not say.
    kind
        'DDR4'; '' where the firmware has no word for it.
    """

    place: str
    channel: str
    size: int | None
    speed: int | None
    rated: int | None
    kind: str


KINDS = {
    0x01: "", 0x02: "", 0x0F: "SDRAM", 0x12: "DDR", 0x13: "DDR2", 0x18: "DDR3", 0x1A: "DDR4", 0x1B: "LPDDR",
    0x1C: "LPDDR2", 0x1D: "LPDDR3", 0x1E: "LPDDR4", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5",
    0x24: "HBM3",
}  # fmt: skip
"""Type of a memory device: 7.18.2. 'Other' and 'unknown' are none; of the rest people have no more than the number."""


@shared
def slots(machine: Machine) -> list[Slot]:
    """The slots of the system's own memory, in the table's order: not those of flash, caches or video memory."""
    every = structures(machine)
    others = {one.handle for one in every if one.kind == MEMORY_ARRAY and one.number(5, 1) != _SYSTEM_MEMORY}
    devices = [one for one in every if one.kind == MEMORY_DEVICE and one.number(4, 2) not in others]
    if not devices:
        raise Unknown("the firmware's table lists no memory slots", absent=True)
    names = Counter(one.string(0x10) for one in devices)
    return [_slot(one, names[one.string(0x10)] > 1) for one in devices]


def _slot(one: Structure, alike: bool) -> Slot:
    place, bank = one.string(0x10), one.string(0x11)
    kind = one.number(0x12, 1) or 0x02
    return Slot(
        f"{bank}/{place}" if alike and bank else place or bank or f"{one.handle:#06x}", channel_of(bank, place),
        _size(one), _speed(one, 0x20, 0x58), _speed(one, 0x15, 0x54), KINDS.get(kind, f"type {kind:#x}"),
    )  # fmt: skip


def _size(one: Structure) -> int | None:
    size = one.number(0x0C, 2)
    if size == 0x7FFF:  # too large for the field: MiB in another
        return ((one.number(0x1C, 4) or 0) & 0x7FFFFFFF) << 20 or None
    if size is None or size == 0xFFFF:
        return None
    return (size & 0x7FFF) << 10 if size & 0x8000 else size << 20


def _speed(one: Structure, at: int, extended: int) -> int | None:
    """Transfers a second; MT/s in the table, 0 for unknown."""
    speed = one.number(at, 2)
    if speed == 0xFFFF:
        speed = (one.number(extended, 4) or 0) & 0x7FFFFFFF
    return speed * 1_000_000 if speed else None


def channel_of(bank: str, place: str) -> str:
    """The channel in a slot's names, with what stands before it: 'P0 CHANNEL A' of bank 'P0 CHANNEL A', 'ChannelA' of
    'ChannelA-DIMM0'. A letter alone ('DIMM_A1') may be a channel or a socket, and is none.
    """
    for name in (bank, place):
        at = name.lower().find("channel")
        if at >= 0:
            word = name[at + len("channel") :].lstrip(" _-")
            own = word[:1] if word[:1].isalpha() else word[: len(word) - len(word.lstrip("0123456789"))]
            if own:
                return name[:at] + "channel " + own.upper()
    return ""


@dataclass(frozen=True)
class Socket:
    """A socket with a processor in it: cores that it has, that the firmware left on, and hardware threads."""

    cores: int | None
    enabled: int | None
    threads: int | None


@shared
def sockets(machine: Machine) -> list[Socket]:
    """Sockets with a processor, in the table's order."""
    found = [
        Socket(_count(one, 0x23, 0x2A), _count(one, 0x24, 0x2C), _count(one, 0x25, 0x2E))
        for one in structures(machine)
        if one.kind == PROCESSOR and (one.number(0x18, 1) or 0) & 0x40  # bit 6 of the status: populated
    ]
    if not found:
        raise Unknown("the firmware's table lists no processor", absent=True)
    return found


def _count(one: Structure, at: int, large: int) -> int | None:
    """A count of cores or threads: 0 is unknown, 255 and more stand in a later field of two bytes."""
    count = one.number(at, 1)
    return (one.number(large, 2) if count == 0xFF else count) or None
