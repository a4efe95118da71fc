"""Files that come from nodes, compressed and as text: neither may stand for more than is wanted."""

from __future__ import annotations

import base64
import binascii
import zlib

from wulf.cluster.session import MALFORMED, RequestError

MOST = 1 << 30
"""Bytes of a program."""


def decoded(node: str, op: str, text: str) -> bytes:
    """What base64 stands for. Raises RequestError, of the node, where it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RequestError(node, op, MALFORMED, f"data is no base64: {error}") from error


def unpacked(node: str, op: str, packed: bytes, most: int = MOST) -> bytes:
    """What zlib had compressed. Raises RequestError, of the node, where it is none, or more than `most` bytes."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, most + 1)
    except zlib.error as error:
        raise RequestError(node, op, MALFORMED, f"data is not compressed by zlib: {error}") from error
    if len(data) > most:
        raise RequestError(node, op, MALFORMED, f"data stands for more than {most:,} bytes")
    if not stream.eof or stream.unused_data:
        raise RequestError(node, op, MALFORMED, "data does not end where zlib's stream ends")
    return data
