"""A file is replaced whole, or is what it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from wulf.core.files import appending, emptied, folder, replace_file

Opener = Callable[[Path], IO[bytes]]


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


def test_a_link_into_a_process_stays(tmp_path: Path) -> None:
    """As /dev/stdout, with the output sent into a file: as root, `--html /dev/stdout` took it away from all."""
    (tmp_path / "said").write_text("old")
    with (tmp_path / "said").open() as said:
        (tmp_path / "stdout").symlink_to(f"/proc/self/fd/{said.fileno()}")
        with pytest.raises(FileExistsError, match="it is no file"):
            replace_file(tmp_path / "stdout", "new")
    assert (tmp_path / "stdout").is_symlink()


class TestBelowAFolder:
    """That somebody else owns, who puts links there."""

    def test_its_folders_are_made(self, tmp_path: Path) -> None:
        with folder(tmp_path / "a" / "b", make=True) as below:
            replace_file(Path("c/d/e.txt"), "new", below=below)
            with appending(Path("c/f.txt"), below) as out:
                out.write(b"more")
        assert (tmp_path / "a/b/c/d/e.txt").read_text() == "new"
        assert (tmp_path / "a/b/c/f.txt").read_text() == "more"

    def test_no_link_on_the_way_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "run").mkdir()
        (tmp_path / "other").mkdir()
        (tmp_path / "run" / "c").symlink_to(tmp_path / "other")
        with folder(tmp_path / "run") as below:
            with pytest.raises(OSError, match="Not a directory"):
                replace_file(Path("c/e.txt"), "new", below=below)
            with pytest.raises(OSError, match="Not a directory"):
                appending(Path("c/e.txt"), below)
        assert not list((tmp_path / "other").iterdir())

    @pytest.mark.parametrize("name", ["../a.txt", "b/../../a.txt", "/tmp/a.txt"])
    def test_nothing_leads_out_of_it(self, tmp_path: Path, name: str) -> None:
        with folder(tmp_path / "run", make=True) as below, pytest.raises(PermissionError, match="leads out"):
            replace_file(Path(name), "new", below=below)
        assert not (tmp_path / "a.txt").exists()

    def test_another_folder_of_its_name_gets_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "run").mkdir()
        with folder(tmp_path / "run") as below:
            (tmp_path / "run").rename(tmp_path / "moved")
            (tmp_path / "run").mkdir()
            replace_file(Path("a.txt"), "new", below=below)
        assert [p.name for p in (tmp_path / "moved").iterdir()] == ["a.txt"]
        assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize("open_", [appending, emptied])
@pytest.mark.parametrize("kind", ["link", "link to nothing", "pipe", "folder"])
def test_neither_a_link_nor_what_is_no_file_is_appended_to(tmp_path: Path, open_: Opener, kind: str) -> None:
    path, target = tmp_path / "lines", tmp_path / "target"
    if kind == "link":
        target.write_text("old")
    if "link" in kind:
        path.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(OSError, match=r"symbolic|no file|directory"):
        open_(path)
    assert (target.read_text() if kind == "link" else not target.exists()) in ("old", True)


def test_what_is_emptied_can_be_seen_in_part(tmp_path: Path) -> None:
    (tmp_path / "part").write_text("old")
    with emptied(tmp_path / "part") as out:
        out.write(b"new")
        out.flush()
        assert (tmp_path / "part").read_text() == "new"
