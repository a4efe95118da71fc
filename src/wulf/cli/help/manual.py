"""`wulf manual`: manual pages for man(1), made from the commands' own help."""

from __future__ import annotations

import re
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from wulf import __version__
from wulf.cli.commands import Command, inside, sections_of
from wulf.cli.showing import echo
from wulf.core.errors import FOUND, INCOMPLETE, INTERNAL, INTERRUPTED, OK, USAGE, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LISTED = ("manual", "Lab and tools", 70, "Write manual pages for man(1).")

EXIT_STATUS = (
    (OK, "all well"),
    (FOUND, "something stands out"),
    (USAGE, "usage or configuration"),
    (INCOMPLETE, "incomplete"),
    (INTERNAL, "wulf itself failed"),
    (INTERRUPTED, "interrupted, with what was measured kept"),
)


@click.command(cls=Command, epilog="Example: wulf manual ~/.local/share/man/man1 && man wulf-survey")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def command(folder: Path) -> None:
    """Write a manual page for every command into a folder, as man(1) reads them."""
    from wulf.core.files import replace_file
    from wulf.core.names import plural

    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, page in pages(everything()):
            replace_file(folder / f"{name}.1", page)
            written += 1
    except OSError as error:
        raise UsageError(f"{folder} can't be written: {error.strerror}", "name another folder") from error
    echo(f"{folder}: {plural(written, 'page')}")


class Entry(NamedTuple):
    """What the manual says of one command.

    Attributes
    ----------
    name
        As it is typed: "wulf net pingpong".
    short
        What it does, in one line.
    usage
        Its arguments.
    text
        Paragraphs; one that begins with backspace and a line end keeps its lines.
    examples
        Lines to be typed, and what the help calls them: "Example", "Examples".
    options
        Title → options and what they do.
    commands
        Those of a group.
    """

    name: str
    short: str
    usage: str
    text: list[str]
    examples: tuple[str, list[str]]
    options: dict[str, list[tuple[str, str]]]
    commands: list[Entry]


def entry(command: click.Command, context: click.Context) -> Entry:
    """A command's, with those of all below it; hidden ones are left out."""
    title, _, examples = (command.epilog or "").strip("\b\n ").partition(":")
    return Entry(
        context.command_path,
        command.get_short_help_str(limit=1000),
        " ".join(command.collect_usage_pieces(context)),
        re.split(r"\n\s*\n", cleandoc(command.help or "")),
        (title, [one.strip() for one in re.split(r"; (?=wulf )|\n", examples) if one.strip()]),
        sections_of(command, context),
        [entry(found, own) for found, own in inside(command, context) if not found.hidden],
    )


def everything() -> Entry:
    """That of `wulf` itself."""
    from wulf.cli.main import cli

    return entry(cli, click.Context(cli, info_name="wulf"))


def pages(told: Entry, above: str = "") -> Iterator[tuple[str, str]]:
    """Name and text of every command's page, groups' too."""
    yield _name(told), page(told, above)
    for inner in told.commands:
        yield from pages(inner, told.name)


def _name(told: Entry) -> str:
    return told.name.replace(" ", "-")


def page(told: Entry, above: str = "") -> str:
    """One page in the macros of man(7); `above` is the group that has the command."""
    lines = [
        f'.TH "{_roff(_name(told).upper())}" 1 "" "wulf {__version__}" "wulf"',
        ".SH NAME", f"{_roff(_name(told))} \\- {_roff(told.short.rstrip('.'))}",
        ".SH SYNOPSIS", f".B {_roff(told.name)}", _roff(told.usage),
        ".SH DESCRIPTION", *_paragraphs(told.text),
    ]  # fmt: skip
    title, examples = told.examples
    if title:
        lines += [f".SH {title.upper()}"]
        lines += [line for example in examples for line in (".PP", f".B {_roff(example)}")]
    for name, rows in told.options.items():
        lines += [f".SH {name.upper()}", *_listed(rows)]
    if told.commands:
        lines += [".SH COMMANDS", *_listed([(f"{_name(inner)}(1)", inner.short) for inner in told.commands])]
    lines += [".SH EXIT STATUS", *_listed([(str(code), words) for code, words in EXIT_STATUS])]
    if above:
        lines += [".SH SEE ALSO", f".BR {_roff(above.replace(' ', '-'))} (1)"]
    return "\n".join(lines) + "\n"


def _listed(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [line for term, text in rows for line in (".TP", f".B {_roff(term)}", _roff(" ".join(text.split())))]


def _paragraphs(text: Sequence[str]) -> Iterator[str]:
    """Those of a help text; one that click must not wrap stays as it is."""
    for part in text:
        yield ".PP"
        if part.startswith("\b"):
            yield from [".nf", *map(_roff, part.split("\n")[1:]), ".fi"]
        else:
            yield _roff(" ".join(part.split()))


def _roff(text: str) -> str:
    """Text as it is: no escape, no request, and a hyphen that can be copied."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
