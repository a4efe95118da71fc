"""A file is replaced whole, or is what it was."""

from __future__ import annotations

import os
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


def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """As root, `--html /dev/null` once left a regular file there, which nobody else could write."""
    device, other = os.openpty()
    try:
        named = Path(os.ttyname(other))
        before = named.stat()
        replace_file(named, "new")
        assert (named.stat().st_rdev, named.stat().st_mode) == (before.st_rdev, before.st_mode)
        assert os.read(device, 10) == b"new"
    finally:
        os.close(device)
        os.close(other)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a pipe", "link to a device"])
def test_what_is_no_file_is_never_replaced_by_one(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "link to a device":
        path.symlink_to("/dev/null")
    else:
        os.mkfifo(tmp_path / "pipe" if "link" in kind else path)
        if "link" in kind:
            path.symlink_to("pipe")
    before = path.lstat().st_mode
    with pytest.raises(FileExistsError, match="it is no file"):
        replace_file(path, "new")
    assert path.lstat().st_mode == before
    assert not list(tmp_path.glob(".a.json*"))


def test_a_link_is_replaced_and_what_it_leads_to_is_not(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    for name, target in (("a.json", "target"), ("b.json", "gone")):
        (tmp_path / name).symlink_to(target)
        replace_file(tmp_path / name, "new")
        assert not (tmp_path / name).is_symlink()
    assert (tmp_path / "target").read_text() == "old"
