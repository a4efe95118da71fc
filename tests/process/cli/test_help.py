"""Help of every command: some are made from what the probes say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from wulf.cli.main import cli

WIDTH = 80

SCREEN = 60
"""Lines that a person reads at once; --help-all has what a command has more."""


def commands(group: click.Group = cli, context: click.Context | None = None) -> Iterator[click.Context]:
    """Every command, within groups too, as it is asked for help."""
    context = context or click.Context(group, info_name="wulf", terminal_width=WIDTH, max_content_width=WIDTH)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        own = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from commands(command, own)
        else:
            yield own


def test_every_command_has_an_example_and_fits_the_terminal_and_a_screen() -> None:
    helps = {context.command_path: context.get_help() for context in commands()}
    assert len(helps) > 60
    assert [name for name, told in helps.items() if "Example" not in told] == []
    assert [(name, line) for name, told in helps.items() for line in told.splitlines() if len(line) > WIDTH] == []
    assert {name: len(told.splitlines()) for name, told in helps.items() if len(told.splitlines()) > SCREEN} == {}
