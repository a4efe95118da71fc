"""A node's part of a trace: what its ranks left, in parts."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import pytest

from wulf.agent.mpi import trace
from wulf.agent.session import Refused


def test_files_are_listed_and_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "PART", 4)
    (tmp_path / "rank-000001.wtr").write_bytes(b"0123456789")
    (tmp_path / "other").write_bytes(b"x")
    found = trace.trace_look(str(tmp_path))
    assert found["files"] == [{"name": "rank-000001.wtr", "bytes": 10}] and found["free"] > 0
    parts = [trace.trace_read(str(tmp_path), "rank-000001.wtr", at) for at in (0, 4, 8, 10)]
    assert [zlib.decompress(base64.b64decode(part["data"])) for part in parts] == [b"0123", b"4567", b"89", b""]
    assert [part["bytes"] for part in parts] == [4, 4, 2, 0]


def test_an_answer_fits_into_a_line_whatever_the_file_holds() -> None:
    assert len(base64.b64encode(zlib.compress(bytes(range(256)) * (trace.PART // 256), 0))) < 1 << 20


@pytest.mark.parametrize("name", ["../rank-000000.wtr", "/etc/passwd", "passwd", "rank-000000.wtr/../x"])
def test_nothing_but_ranks_files_is_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused):
        trace.trace_read(str(tmp_path), name)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="can't be read"):
        trace.trace_look(str(tmp_path / "file/none"))
    with pytest.raises(Refused, match="can't be read"):
        trace.trace_read(str(tmp_path), "rank-000000.wtr")
