"""Commands found when they are needed, and what groups and commands take besides their options."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import click


def find(where: str) -> click.Command:
    """The command at "module:attribute", imported when it is asked for."""
    module, _, attribute = where.partition(":")
    found = getattr(import_module(module), attribute)
    assert isinstance(found, click.Command)  # noqa: S101 - a programming error, not a user's
    return found


class TableGroup(click.Group):
    """A group whose commands are a table: name → "module:attribute", in the order of its help.

    Attributes
    ----------
    default
        The command that is meant where the first word names none; empty: a command must be named.
    """

    commands_at: dict[str, str]
    default = ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the table's order."""
        return list(self.commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported when it is asked for; or None."""
        return find(self.commands_at[cmd_name]) if cmd_name in self.commands_at else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`wulf tune n[1-4]` is `wulf tune campaign n[1-4]`."""
        if self.default and args and args[0] not in (*self.commands_at, *ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class Shared(click.Option):
    """An option that many commands take: their help has it behind their own, under a title that it names."""

    def __init__(self, *args: Any, title: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.title = title


where_option = partial(click.option, cls=Shared, title="Nodes")
"""An option that says which nodes, and how they are reached."""


class Command(click.Command):
    """A command whose help begins with its own options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its own, then those of each title."""
        titled: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            told = None if isinstance(param, click.Argument) else param.get_help_record(ctx)
            if told is not None:
                title = param.title if isinstance(param, Shared) else "Options"
                titled.setdefault(title, []).append(told)
        for title, rows in titled.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


PROGRAM = "wulf.program"
"""Where the context keeps what stands after `--`."""


class WithProgram(Command):
    """A command whose last words, after `--`, are a program and its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set them apart before anything is taken for an option of ours."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[PROGRAM] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])
