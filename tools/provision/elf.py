"""The little of ELF (elf(5)) that tells a static program from one that needs a loader and libraries."""

from __future__ import annotations

import struct
from pathlib import Path

MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le"}
PT_INTERP = 3


def problem(path: Path, arch: str) -> str | None:
    """Say why a file can't serve as a static program of an architecture; None when it can."""
    data = path.read_bytes()
    if len(data) < 64 or data[:4] != b"\x7fELF":
        return "is not an ELF program"
    if data[4] != 2:
        return "is not a 64-bit program"
    order = "<" if data[5] == 1 else ">"
    (machine,) = struct.unpack_from(order + "H", data, 18)
    if MACHINES.get(machine) != arch:
        return f"is for {MACHINES.get(machine, f'machine {machine}')}, not for {arch}"
    (table,) = struct.unpack_from(order + "Q", data, 32)
    size, count = struct.unpack_from(order + "HH", data, 54)
    kinds = {struct.unpack_from(order + "I", data, table + index * size)[0] for index in range(count)}
    return "is dynamically linked: it asks for a loader (PT_INTERP)" if PT_INTERP in kinds else None
