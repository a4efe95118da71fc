"""Every command of the tutorial and of the pages on money exists, and takes the words that are given to it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from wulf.cli.main import cli

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("tutorials/tuned-cluster.md", "how-to/cost.md", "how-to/design.md")


TYPED, NAMED = r"(?m)^ {4}(wulf .*)$", r"`(wulf [^`]+)`"
"""Lines to be typed, in indented blocks; and names of commands within the text."""


def lines(*patterns: str) -> Iterator[tuple[str, str]]:
    """Page and command."""
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        yield from ((page, line) for line in dict.fromkeys(one for each in patterns for one in re.findall(each, text)))


def resolved(words: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    """The command that words name, and what is left of them."""
    command, context = cli, click.Context(cli, info_name="wulf")
    found: click.Command = command
    while isinstance(found, click.Group) and words and not words[0].startswith("-"):
        following = found.get_command(context, words[0])
        if following is None:
            break
        context = click.Context(following, info_name=words[0], parent=context)
        found, words = following, words[1:]
    return found, context, words


def test_the_pages_hold_commands() -> None:
    names = {line.split()[1] for page, line in lines(TYPED) if page == "tutorials/tuned-cluster.md"}
    assert {"survey", "audit", "tune", "node", "app", "search", "impact", "cost"} <= names
    assert sum(page == "how-to/cost.md" for page, _ in lines(TYPED)) >= 4


@pytest.mark.parametrize(("page", "line"), list(lines(TYPED, NAMED)))
def test_a_command_exists_with_its_options(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    command, context, left = resolved(words)
    assert command is not cli, f"{page}: {line}: there is no such command"
    help_text = command.get_help(context)
    assert "Usage:" in help_text
    for word in left[: left.index("--")] if "--" in left else left:
        if word.startswith("-"):
            assert re.search(rf"{re.escape(word)}\b", help_text), f"{page}: {line}: no option {word}"


@pytest.mark.parametrize(("page", "line"), list(lines(TYPED)))
def test_a_command_takes_its_words(page: str, line: str) -> None:
    """Parsed as it would be when it is typed, but not carried out."""
    command, _, left = resolved(shlex.split(line, comments=True)[1:])
    try:
        command.make_context(command.name, left)
    except click.UsageError as error:
        pytest.fail(f"{page}: {line}: {error.format_message()}")
