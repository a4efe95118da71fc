"""A file is replaced whole, or is what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.core.files import replace_file


def test_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    replace_file(path, "new µ\n")
    assert path.read_bytes() == "new µ\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
