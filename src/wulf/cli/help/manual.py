"""`wulf manual`: manual pages for man(1), made from the commands' own help."""

from __future__ import annotations

import re
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

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
    from wulf.cli.main import cli
    from wulf.core.files import replace_file
    from wulf.core.names import plural

    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, page in pages(cli):
            replace_file(folder / f"{name}.1", page)
            written += 1
    except OSError as error:
        raise UsageError(f"{folder} can't be written: {error.strerror}", "name another folder") from error
    echo(f"{folder}: {plural(written, 'page')}")


def pages(cli: click.Group) -> Iterator[tuple[str, str]]:
    """Name and text of every command's page, groups' too."""
    yield from _pages(cli, click.Context(cli, info_name="wulf"))


def _pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    inner = [(found, own) for found, own in inside(command, context) if not found.hidden]
    yield _name(context), page(command, context, [own for _, own in inner])
    for found, own in inner:
        yield from _pages(found, own)


def _name(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def page(command: click.Command, context: click.Context, inner: Sequence[click.Context]) -> str:
    """One page in the macros of man(7)."""
    short = command.get_short_help_str(limit=1000).rstrip(".")
    lines = [
        f'.TH "{_roff(_name(context).upper())}" 1 "" "wulf {__version__}" "wulf"',
        ".SH NAME", f"{_roff(_name(context))} \\- {_roff(short)}",
        ".SH SYNOPSIS", f".B {_roff(context.command_path)}",
        _roff(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION", *_paragraphs(command.help or ""),
    ]  # fmt: skip
    if command.epilog:
        title, _, examples = command.epilog.partition(": ")
        lines += [f".SH {title.upper()}"]
        for example in examples.split("; wulf "):
            lines += [".PP", f".B {_roff(('' if example.startswith('wulf') else 'wulf ') + example)}"]
    for title, rows in sections_of(command, context).items():
        lines += [f".SH {title.upper()}", *_listed(rows)]
    if inner:
        lines += [".SH COMMANDS"]
        lines += _listed([(f"{_name(own)}(1)", own.command.get_short_help_str(limit=1000)) for own in inner])
    lines += [".SH EXIT STATUS", *_listed([(str(code), words) for code, words in EXIT_STATUS])]
    if context.parent is not None:
        lines += [".SH SEE ALSO", f".BR {_roff(_name(context.parent))} (1)"]
    return "\n".join(lines) + "\n"


def _listed(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [line for term, text in rows for line in (".TP", f".B {_roff(term)}", _roff(" ".join(text.split())))]


def _paragraphs(text: str) -> Iterator[str]:
    """Those of a help text; one that click must not wrap stays as it is."""
    for part in re.split(r"\n\s*\n", cleandoc(text)):
        yield ".PP"
        if part.startswith("\b"):
            yield from [".nf", *map(_roff, part.split("\n")[1:]), ".fi"]
        else:
            yield _roff(" ".join(part.split()))


def _roff(text: str) -> str:
    """Text as it is: no escape, no request, and a hyphen that can be copied."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
