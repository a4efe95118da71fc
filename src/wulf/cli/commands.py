"""Commands found when they are needed, and what groups and commands take besides their options."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import click

from wulf.cli.showing import echo


def find(where: str) -> click.Command:
    """The command at "module:attribute", imported when it is asked for."""
    module, _, attribute = where.partition(":")
    found = getattr(import_module(module), attribute)
    assert isinstance(found, click.Command)  # noqa: S101 - a programming error, not a user's
    return found


GROUPS = ("Measure", "Explain", "Tune", "Plan", "Runs", "Lab and tools")
"""What commands are for, in the order of `wulf --help`."""

_LISTED = re.compile(r"\nLISTED = (\(.+\))\n")


class Listing(NamedTuple):
    """A command in `wulf --help`: the module whose `command` it is, and what that says of it in one line.

        LISTED = ("survey", "Measure", 10, "Facts, all pairs, findings and a report: the main job.")

    Attributes
    ----------
    place
        Where it stands in its group, lower numbers first. They go by tens, to have room in between.
    """

    module: str
    name: str
    group: str
    place: int
    help: str


@cache
def listings() -> dict[str, Listing]:
    """Name → command, in the order that a newcomer needs them.

    The lines are read from the sources, so that `wulf --help` imports no command: 3 ms for all, in place of 0.8 s.
    """
    folder = Path(__file__).parent
    found = [
        Listing(".".join(("wulf.cli", *path.relative_to(folder).with_suffix("").parts)), *literal_eval(line[1]))
        for path in folder.rglob("*.py")
        if (line := _LISTED.search(path.read_text(encoding="utf-8")))
    ]
    return {one.name: one for one in sorted(found, key=lambda one: (GROUPS.index(one.group), one.place, one.name))}


def grouped() -> dict[str, list[Listing]]:
    """Group → its commands, both in order."""
    return {group: list(some) for group, some in groupby(listings().values(), lambda one: one.group)}


class Shared(click.Option):
    """An option that many commands take: their help has it behind their own, under a title that it names.

    Attributes
    ----------
    rare
        Whether `--help` leaves it to `--help-all`, so that help for the common case is short.
    """

    def __init__(self, *args: Any, title: str, rare: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self.title, self.rare = title, rare


where_option = partial(click.option, cls=Shared, title="Nodes")
"""An option that says which nodes, and how they are reached."""

rare_option = partial(click.option, cls=Shared, title="Rarely needed", rare=True)
"""An option that `--help` leaves to `--help-all`."""


_WHOLE = "wulf.help_all"
"""Where the context keeps that all options are to be told."""


def _tell_all(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[_WHOLE] = True
        echo(ctx.get_help())
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_tell_all,
    help="Show all options, with those that are rarely needed.",
)  # fmt: skip


def sections_of(
    command: click.Command, context: click.Context, *, rare: bool = True
) -> dict[str, list[tuple[str, str]]]:
    """Title → options and their help: the command's own, then those of each title, with rare ones or without."""
    titled: dict[str, list[tuple[str, str]]] = {"Options": []}
    for param in command.get_params(context):
        told = None if isinstance(param, click.Argument) else param.get_help_record(context)
        shared = param if isinstance(param, Shared) else None
        if told is not None and (rare or not (shared and shared.rare)):
            titled.setdefault(shared.title if shared else "Options", []).append(told)
    return {title: rows for title, rows in titled.items() if rows}


class Command(click.Command):
    """A command whose help has its examples first, then its own options, then those that many commands take."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """With `--help-all` where `--help` leaves something out."""
        params = super().get_params(ctx)
        return [*params, _HELP_ALL] if any(isinstance(one, Shared) and one.rare for one in params) else params

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What the command line leaves out is the configuration's, where that has it."""
        from wulf.cli import defaults  # reads TOML: nothing that `wulf --help` needs

        if ctx.resilient_parsing or {*ctx.help_option_names, *_HELP_ALL.opts} & set(args):  # a file that is no good
            return super().parse_args(ctx, args)
        known = defaults.prepare(self, ctx)
        try:
            rest = super().parse_args(ctx, args)
        except click.BadParameter as error:
            raise defaults.blamed(error, ctx, known) from error
        defaults.settle(ctx, known)
        return rest

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Usage, what it does, examples, options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_epilog(ctx, formatter)
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its own, then those of each title."""
        for title, rows in sections_of(self, ctx, rare=ctx.meta.get(_WHOLE, False)).items():
            with formatter.section(title):
                formatter.write_dl(rows)


class Group(click.Group):
    """A group of commands whose help is as `Command` has it."""

    command_class = Command


class TableGroup(Group):
    """A group whose commands are a table: name → "module:attribute", in the order of its help.

    Parameters
    ----------
    default
        The command that is meant where the first word names none; empty: a command must be named.
    alone
        Whether it is meant where there is no word at all, too.
    """

    def __init__(
        self, *args: Any, commands_at: Mapping[str, str], default: str = "", alone: bool = False, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.commands_at, self.default, self.alone = commands_at, default, alone

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the table's order."""
        return list(self.commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported when it is asked for; or None."""
        return find(self.commands_at[cmd_name]) if cmd_name in self.commands_at else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`wulf tune n[1-4]` is `wulf tune campaign n[1-4]`."""
        if self.alone and not args:
            args = [self.default]
        if self.default and args and args[0] not in (*self.commands_at, *ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def inside(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """A group's commands, each with a context of its own; none of what is no group."""
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        if (found := command.get_command(context, name)) is not None:
            yield found, click.Context(found, parent=context, info_name=name)


PROGRAM = "wulf.program"
"""Where the context keeps what stands after `--`."""


class WithProgram(Command):
    """A command whose last words, after `--`, are a program and its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set them apart before anything is taken for an option of ours."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[PROGRAM] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])
