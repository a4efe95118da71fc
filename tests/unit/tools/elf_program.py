"""A file that looks like a program, as far as its ELF head goes."""

from __future__ import annotations

import struct


def program(machine: int = 62, *kinds: int) -> bytes:
    """Make the head of a 64-bit little-endian ELF file with program headers of these kinds."""
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, len(kinds), 0, 0, 0
    )
    return head + b"".join(struct.pack("<I", kind).ljust(56, b"\0") for kind in kinds)
