"""The commands' own lines about themselves: each is read as it stands, and is that of a command."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
import pytest

import wulf.cli
from wulf.cli.commands import GROUPS, grouped, listings

SOURCES = sorted(Path(wulf.cli.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("name", listings())
def test_a_line_says_what_its_module_says_when_imported(name: str) -> None:
    listed = listings()[name]
    module = import_module(listed.module)
    assert listed[1:] == module.LISTED
    assert isinstance(module.command, click.Command)
    assert module.__doc__ is not None and module.__doc__.startswith(f"`wulf {name}")


def test_every_line_is_read_and_no_name_is_there_twice() -> None:
    lines = [line for path in SOURCES for line in path.read_text().splitlines() if line.startswith("LISTED")]
    assert len(lines) == len(listings())


def test_no_two_commands_of_a_group_have_one_place() -> None:
    assert tuple(grouped()) == GROUPS
    for group in grouped().values():
        assert sorted({one.place for one in group}) == [one.place for one in group]
