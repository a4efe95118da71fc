"""Every command that takes `--lab` has a test over a lab in `make test`. Commands ask the probes what there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

import click
import pytest

from tests.running.shards import ROOT
from wulf.apps import drivers
from wulf.cli.main import cli


def test_each_command_that_takes_a_lab_has_a_test_of_make_test() -> None:
    """`app hpl` and `app phyml` stand for all drivers: one code makes their commands."""
    of_drivers = {f"app {name}" for name in drivers()} - {"app hpl", "app phyml"}
    assert set(with_lab(cli, click.Context(cli))) - of_drivers == set(run_by_make_test())


def with_lab(command: click.Command, context: click.Context, *words: str) -> Iterator[str]:
    """The commands that take `--lab`."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from with_lab(below, click.Context(below, parent=context, info_name=name), *words, name)
    elif any("--lab" in option.opts for option in command.params):
        yield " ".join(words)


def run_by_make_test() -> Iterator[str]:
    """The commands that `make test` runs over a lab, by the mark `command` of its tests or of their parameters."""
    for path in sorted((ROOT / "tests" / "lab").rglob("test_*.py")):
        if "mark.command(" in path.read_text(encoding="utf-8"):
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for name in dir(module):
                if name.startswith("test_"):
                    yield from commands_of(getattr(getattr(module, name), "pytestmark", []))


def commands_of(marks: Sequence[pytest.Mark]) -> Iterator[str]:
    if {"full", "alone"} & {mark.name for mark in marks}:
        return
    for mark in marks:
        if mark.name == "command":
            yield from mark.args
        elif mark.name == "parametrize":
            for parameter in mark.args[1]:
                yield from commands_of(getattr(parameter, "marks", ()))
