"""Files that come from nodes: whole, or an error of that node."""

import base64
import zlib

import pytest

from wulf.cluster.packed import decoded, unpacked
from wulf.cluster.session import MALFORMED, RequestError


def test_what_was_packed_is_there_again():
    data = bytes(range(256)) * 10
    assert unpacked("n1", "mpi_read", decoded("n1", "mpi_read", base64.b64encode(zlib.compress(data)).decode())) == data
    assert unpacked("n1", "mpi_read", zlib.compress(b""), 0) == b""


@pytest.mark.parametrize("text", ["%%%", "AAA", "\u00e9", "AA AA"])
def test_no_base64_is_an_error_of_its_node(text):
    with pytest.raises(RequestError, match="n1: trace_read: data is no base64") as failed:
        decoded("n1", "trace_read", text)
    assert failed.value.code == MALFORMED


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (b"none", "not compressed by zlib"),
        (b"", "does not end"),
        (zlib.compress(b"x" * 100)[:-4], "does not end"),
        (zlib.compress(b"x") + b"more", "does not end"),
        (zlib.compress(b"x" * 101), "more than 100 bytes"),
        (zlib.compress(bytes(1 << 28), 9), "more than 100 bytes"),
    ],
)
def test_what_is_no_file_or_too_much_is_an_error_and_takes_no_memory(packed, why):
    with pytest.raises(RequestError, match=f"n2: mpi_read: data .*{why}"):
        unpacked("n2", "mpi_read", packed, 100)
