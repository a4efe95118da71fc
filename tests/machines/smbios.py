"""Builds tables of a firmware (SMBIOS), as DSP0134 lays them out, for machines that no test has at hand.

python -m tests.machines.smbios      rewrites the tables in the trees of `SERVERS`
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from pathlib import Path

TABLES = "sys/firmware/dmi/tables"
END = b"\x7f\x04\xff\xfe\0\0"


def structure(kind: int, handle: int, rest: bytes, *strings: str) -> bytes:
    """A structure: header, the rest of its formatted part, its strings."""
    text = b"".join(one.encode() + b"\0" for one in strings) or b"\0"
    return bytes([kind, 4 + len(rest)]) + handle.to_bytes(2, "little") + rest + text + b"\0"


def firmware() -> bytes:
    """Types 0, 1 and 2: BIOS, system and board; the serial number and UUID are those of nobody."""
    bios = structure(
        0, 0, struct.pack("<BBHBBQBBBBBB", 1, 2, 0xF000, 3, 0xFF, 0, 0, 0, 5, 27, 1, 9), "AMI", "2.7", "now"
    )
    system = structure(1, 1, b"\x01\x02\x03\x04" + b"\xee" * 16 + b"\x06\0\0", "Maker", "Model", "1", "SERIAL")
    return bios + system + structure(2, 2, b"\x01\x02\0\x03", "Maker", "Board", "BOARD-SERIAL")


def processor(handle: int, cores: int, enabled: int, threads: int, *, populated: bool = True) -> bytes:
    """Type 4, version 3.0; counts above 254 stand in their later fields."""
    counts = [min(count, 0xFF) for count in (cores, enabled, threads)]
    rest = struct.pack(
        "<BBBBQBBHHHBBHHHBBBBBBHHHHH", 1, 3, 0xFE, 2, 0, 3, 0x80, 100, 4000, 2600, 0x01 | populated << 6, 1,
        0xFFFF, 0xFFFF, 0xFFFF, 0, 0, 0, *counts, 0xFC, 0xFE, cores, enabled, threads,
    )  # fmt: skip
    return structure(4, handle, rest, "CPU1", "Maker", "Model")


def array(handle: int, devices: int, use: int = 3) -> bytes:
    """Type 16: an array of memory slots."""
    return structure(16, handle, struct.pack("<BBBIHHQ", 3, use, 6, 0x80000000, 0xFFFE, devices, 1 << 40))


def module(
    handle: int, place: str, bank: str = "", *, of: int = 0x1000, mebibytes: int = 32768, rated: int = 3200,
    speed: int = 3200, kind: int = 0x1A,
) -> bytes:  # fmt: skip
    """Type 17, version 3.3: a slot, empty where it has 0 MiB. Sizes and speeds too large use later fields."""
    size = min(mebibytes, 0x7FFF)
    rates = [min(rate, 0xFFFF) for rate in (rated, speed)]
    more = [one if short == most else 0 for one, short, most in
            ((mebibytes, size, 0x7FFF), (rated, rates[0], 0xFFFF), (speed, rates[1], 0xFFFF))]  # fmt: skip
    rest = struct.pack(
        "<HHHHHBBBBBHHBBBBBIHHHHBHBHHHHQQQQII", of, 0xFFFE, 72, 64, size, 9, 0, 1, 2 if bank else 0, kind, 0x80,
        rates[0], 0, 0, 0, 0, 2, more[0], rates[1], 1200, 1200, 1200, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, *more[1:],
    )  # fmt: skip
    return structure(17, handle, rest, place, *([bank] if bank else []))


def summed(entry: bytes, at: int, first: int = 0, length: int | None = None) -> bytes:
    """With the checksum at a byte that makes the sum of a part 0."""
    entry = entry[:at] + b"\0" + entry[at + 1 :]
    part = entry[first : len(entry) if length is None else first + length]
    return entry[:at] + bytes([-sum(part) % 256]) + entry[at + 1 :]


def new_entry(table: bytes) -> bytes:
    """The 64-bit entry point, version 3.3."""
    return summed(struct.pack("<5sBBBBBBBIQ", b"_SM3_", 0, 0x18, 3, 3, 0, 1, 0, len(table), 0x7F000000), 5)


def old_entry(table: bytes, count: int) -> bytes:
    """The 32-bit entry point, version 2.8."""
    entry = struct.pack("<4sBBBBHB5s5sBHIHB", b"_SM_", 0, 0x1F, 2, 8, 200, 0, b"", b"_DMI_", 0, len(table), 0xE0000,
                        count, 0x28)  # fmt: skip
    return summed(summed(entry, 0x15, 0x10, 0x0F), 4)


def put(root: Path, table: bytes, entry: bytes | None = None) -> Path:
    """Lay the tables out under a root."""
    folder = root / TABLES
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "DMI").write_bytes(table)
    (folder / "smbios_entry_point").write_bytes(new_entry(table) if entry is None else entry)
    return root


def server(places: Sequence[tuple[str, str, int]], sockets: Sequence[tuple[int, int, int]], **speeds: int) -> bytes:
    """A whole table: (place, bank, MiB) of each slot; cores, those that are on, and threads of each socket."""
    parts = [firmware(), *(processor(0x400 + i, *one) for i, one in enumerate(sockets)), array(0x1000, len(places))]
    parts += [module(0x1100 + i, place, bank, mebibytes=size, **(speeds if size else {"rated": 0, "speed": 0}))
              for i, (place, bank, size) in enumerate(places)]  # fmt: skip
    return b"".join(parts) + END


SERVERS = {
    "xeon-2-sockets": server(
        [(f"{cpu}{slot}", "", 32768 if slot <= 6 else 0) for cpu in "AB" for slot in range(1, 9)], [(24, 24, 48)] * 2,
        rated=2933, speed=2933,
    ),
    "epyc-without-pyroute2": server(
        [(f"DIMM {slot}", f"P0 CHANNEL {channel}", 0 if slot else 16384) for channel in "ABCDEFGH" for slot in (0, 1)],
        [(16, 16, 32)], rated=3200, speed=2933,
    ),
}  # fmt: skip
"""Recorded machine → its table."""


def main() -> int:
    from tests.machines.tree import FOLDER, with_binary

    for name, table in SERVERS.items():
        tree = FOLDER / name / "tree.txt"
        text = tree.read_text(encoding="utf-8")
        for file, content in (("DMI", table), ("smbios_entry_point", new_entry(table))):
            text = with_binary(text, f"{TABLES}/{file}", content)
        tree.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
