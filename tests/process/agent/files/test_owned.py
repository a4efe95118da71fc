"""Folders that others can get at, in every way in which they can: real ones, since modes are the kernel's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wulf.agent.files.owned import exposed

DAEMON = 1

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another account")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "above" / "state"
    made.mkdir(parents=True)
    for one in (made, made.parent):
        one.chmod(0o755)
    return made


def test_what_is_ours_under_a_sticky_folder_is_nobody_elses(folder: Path) -> None:
    assert exposed(folder) is None
    folder.parent.chmod(0o1777)
    assert exposed(folder) is None


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o1777])
def test_a_folder_that_others_may_write_to_is_named_with_its_mode(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    assert (exposed(folder) or "").startswith(f"{folder} can be written by others (mode d")


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_and_so_is_one_above(folder: Path, mode: int) -> None:
    folder.parent.chmod(mode)
    assert (exposed(folder) or "").startswith(f"{folder.parent} can be written by others")


@as_root
def test_a_folder_of_another_account_is_named_with_its_owner(folder: Path) -> None:
    os.chown(folder.parent, DAEMON, DAEMON)
    assert exposed(folder) == f"{folder.parent} belongs to user {DAEMON}"


@as_root
def test_a_link_of_another_account_is_told_whatever_it_leads_to(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert exposed(link) is None
    os.lchown(link, DAEMON, DAEMON)
    assert exposed(link) == f"{link} belongs to user {DAEMON}"


def test_where_a_link_leads_is_looked_at_too(folder: Path, tmp_path: Path) -> None:
    folder.parent.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert (exposed(link) or "").startswith(f"{folder.parent} can be written by others")


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        exposed(tmp_path / "none")
