"""The limit of open files is raised where it may be, and said in words where it may not."""

from __future__ import annotations

import resource

import pytest

from wulf.cluster import open_files
from wulf.core.errors import UsageError

HELD = 10


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The limits that were set, the present one first."""
    seen = [(1024, 4096)]
    monkeypatch.setattr(open_files.os, "listdir", lambda _: ["0"] * HELD)
    monkeypatch.setattr(resource, "getrlimit", lambda _: seen[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: seen.append(limit))
    return seen


def test_a_few_sessions_leave_the_limit_as_it_is(limits: list[tuple[int, int]]) -> None:
    most = (1024 - open_files.MARGIN - HELD) // open_files.A_SESSION
    open_files.make_room(most)
    assert len(limits) == 1
    open_files.make_room(most + 1)
    assert len(limits) == 2


def test_many_raise_it_to_what_they_need(limits: list[tuple[int, int]]) -> None:
    open_files.make_room(1000)
    assert limits[-1] == (3 * 1000 + open_files.MARGIN + HELD, 4096)


def test_too_many_are_told_what_they_need(limits: list[tuple[int, int]]) -> None:
    with pytest.raises(UsageError, match=r"2000 sessions need 6522 .* 4096"):
        open_files.make_room(2000)
    assert len(limits) == 1


def test_without_a_limit_there_is_nothing_to_raise(limits: list[tuple[int, int]]) -> None:
    limits[0] = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    open_files.make_room(10**6)
    limits[0] = (1024, resource.RLIM_INFINITY)
    open_files.make_room(10**6)
    assert limits[-1] == (open_files.needed(10**6, HELD), resource.RLIM_INFINITY)
