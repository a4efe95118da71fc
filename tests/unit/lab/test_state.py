from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from wulf.core.errors import LabError
from wulf.lab import state


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "lab"
    directory.mkdir(mode=0o700)
    monkeypatch.setattr(state, "root", lambda *, create=False: directory)
    return directory


def describe(home: Path, name: str, **changes: object) -> Path:
    directory = home / name
    directory.mkdir()
    state.save(directory, {"name": name, "init": None, "owner": None, "nodes": []} | changes)
    return directory


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-x", "a b", "x" * 41, "ä", "a\n"])
def test_names_that_could_leave_the_directory(name: str) -> None:
    with pytest.raises(LabError, match="can't be a lab's name"):
        state.check_name(name)


def test_default_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WULF_LAB", raising=False)
    assert state.default_name() == "lab"
    monkeypatch.setenv("WULF_LAB", "mine")
    assert state.default_name() == "mine"


def test_a_process_is_known_by_its_start_too() -> None:
    ours = state.identify(os.getpid())
    assert state.alive(ours)
    assert not state.alive(ours | {"start": "1"})  # the same pid, another process


def test_only_labs_that_are_up_are_loaded(home: Path) -> None:
    alive, dead = state.identify(os.getpid()), {"pid": os.getpid(), "start": "1"}
    describe(home, "up", init=alive)
    describe(home, "names-only")
    describe(home, "dead", init=dead)
    describe(home, "orphan", owner=dead)
    (describe(home, "torn") / "lab.json").write_text('{"name": "to')
    (describe(home, "other") / "lab.json").write_text("[]")
    assert [name for name in state.names() if state.load(name)] == ["names-only", "up"]
    state.clear_stale()
    assert state.names() == ["names-only", "up"]


def test_a_directory_that_a_child_of_a_killed_maker_still_writes_into_is_cleared(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, remove = describe(home, "lost"), shutil.rmtree
    tried: list[Path] = []

    def written_into(path: Path) -> None:
        tried.append(path)
        if len(tried) < 3:
            raise OSError(errno.ENOTEMPTY, "Directory not empty", str(path))
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", written_into)
    monkeypatch.setattr(state.time, "sleep", lambda _: None)
    assert state.clear("lost") is True
    assert not directory.exists()
    assert len(tried) == 3


def test_a_directory_that_somebody_else_removes_meanwhile_is_cleared_all_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, remove = describe(home, "lost"), shutil.rmtree

    def overtaken(path: Path) -> None:
        monkeypatch.setattr(shutil, "rmtree", remove)
        (directory / "lab.json").unlink()
        raise FileNotFoundError(directory / "lab.json")

    monkeypatch.setattr(shutil, "rmtree", overtaken)
    assert state.clear("lost") is True
    assert not directory.exists()
    assert state.clear("lost") is False


def test_what_is_being_made_is_not_stale(home: Path) -> None:
    (home / "new").mkdir()
    with state.lock("new"):
        state.clear_stale()
        assert state.names() == ["new"]
    (home / "killed.lock").touch()
    state.clear_stale()
    assert list(home.iterdir()) == []


def test_lock_is_exclusive_names_the_lab_and_leaves_no_file(home: Path) -> None:
    with state.lock("a"), state.lock("b"), pytest.raises(LabError, match="the lab 'a'"), state.lock("a", patience_s=0):
        pass
    with state.lock("a"):
        pass
    assert list(home.iterdir()) == []


def test_a_failed_save_keeps_the_old_state(home: Path) -> None:
    directory = describe(home, "one")
    before = (directory / "lab.json").read_text()
    with pytest.raises(TypeError):
        state.save(directory, {"name": object()})
    assert (directory / "lab.json").read_text() == before


def test_a_directory_open_to_others_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(LabError, match=r"no permission: .*shared"):
        state.make_private(shared)
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(LabError, match="no permission"):
        state.make_private(tmp_path / "link")


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(LabError, match="no permission"):
        state.make_private(theirs)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="can't make the lab's directory"):
        state.make_private(tmp_path / "missing" / "lab")
