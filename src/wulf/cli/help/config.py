"""`wulf config`: what is set for every command, and by which file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click

from wulf.cli.commands import Command, TableGroup, inside
from wulf.cli.defaults import ASKED_EACH_TIME, command_words, options_of
from wulf.cli.showing import echo
from wulf.core.configuration import RUNS, Configuration, ConfiguredValue, paths, read, user_path
from wulf.core.errors import FOUND, OK, UsageError

LISTED = ("config", "Lab and tools", 20, "What is set for every command, and by which file.")

COMMANDS = {"show": "wulf.cli.help.config:show", "init": "wulf.cli.help.config:init"}

EXAMPLE = """\
# What wulf's commands are to do unless their command line says otherwise: any option by its long name.
# `wulf config show` tells what counts, and which file says so.

# runs = "/data/wulf/runs"                  # where runs go, in the place of ./runs
# inventory = "/etc/wulf/cluster.toml"      # or: nodes = "n[1-16]"
# width = "3%"
# currency = "EUR"

# [survey]                                  # of one command, or of all commands of a group
# quick = true

# [net.stream]
# seconds = 2
"""


@click.group(cls=TableGroup, commands_at=COMMANDS, default="show", alone=True)
def command() -> None:
    """What is set for every command: shown with the file that says so, or begun with an example.

    A key of config.toml is an option's long name: `width = "3%"` holds for every command that has --width, and below
    [net.stream] for `wulf net stream` alone. The command line counts first, then environment variables (WULF_RUNS),
    your own ~/.config/wulf/config.toml, and the site's /etc/wulf/config.toml; WULF_CONFIG names another file for both,
    or none where it is empty. What changes nodes or removes runs (--apply, --yes) is asked for each time.
    """


@click.command(cls=Command, epilog="Example: wulf config show --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(as_json: bool) -> int:
    """Show what counts, and which file says so.

    Exit code 1 where a key is no command's option.
    """
    from wulf.cli.main import cli
    from wulf.cli.showing import show_view
    from wulf.report.configuration import configuration_object, configuration_view

    files = paths()
    found = read(files)
    nobodys = unused(found, cli)
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith("WULF_")}
    content = found, files, variables, nobodys
    show_view(configuration_view(*content), configuration_object(*content), as_json=as_json, html=None)
    return FOUND if nobodys else OK


@click.command(cls=Command, epilog="Example: wulf config init && $EDITOR ~/.config/wulf/config.toml")
def init() -> None:
    """Begin your own file with an example, all of it commented out."""
    path = user_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(EXAMPLE)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already", "`wulf config show` tells what it says") from error
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}", "make its folder writable") from error
    echo(f"begun: {path}")


def unused(configuration: Configuration, cli: click.Group) -> Sequence[ConfiguredValue]:
    """Settings that no command below their tables has an option for, or none may have from a file."""
    known = {
        (*words[:depth], name)
        for words, names in _options(cli, click.Context(cli, info_name="wulf"))
        for name in names
        for depth in range(len(words) + 1)
    }
    return [
        one
        for one in configuration.settings
        if one.place != (RUNS,) and (one.place not in known or one.place[-1] in ASKED_EACH_TIME)
    ]


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Every command's words, and the names of its options."""
    if not isinstance(command, click.Group):
        yield command_words(context), set(options_of(command, context))
    for found, own in inside(command, context):
        yield from _options(found, own)
