"""Every command that README and docs name exists, and takes the words that are given to it. None is carried out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from wulf.cli.main import cli

ROOT = Path(__file__).parents[3]
PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]

TYPED, NAMED = r"(?m)^(?: {4}|\$ )(wulf (?:.*\\\n)*.*)$", r"`(wulf [^`]+)`"
"""Lines to be typed, in blocks, which may go on behind a backslash; and names of commands within the text."""

BESIDE = re.compile(r" {5,}\S.*| [>|] .*")
"""What stands beside a command: what it does, five blanks away or more, or where its output goes."""


def lines(*patterns: str) -> Iterator[tuple[str, str]]:
    """Page and command."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        found = (one.replace("\\\n", "") for each in patterns for one in re.findall(each, text))
        typed = (BESIDE.sub("", line) for each in found for line in each.split("; wulf "))
        yield from ((page, f"wulf {line.removeprefix('wulf ')}") for line in dict.fromkeys(typed))


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
    names = {line.split()[1] for page, line in lines(TYPED) if page == "docs/tutorials/tuned-cluster.md"}
    assert {"survey", "audit", "tune", "node", "app", "search", "impact", "cost"} <= names
    assert sum(page == "docs/how-to/cost.md" for page, _ in lines(TYPED)) >= 4


@pytest.mark.parametrize(("page", "line"), list(lines(TYPED, NAMED)))
def test_a_command_exists_with_its_options(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    command, context, left = resolved(words)
    named = [word.partition("=")[0] for word in (left[: left.index("--")] if "--" in left else left)]
    assert command is not cli or named[0].startswith("-") or named[0].isupper(), f"{page}: {line}: no such command"
    if not isinstance(command, click.Group):
        options = {one for param in command.get_params(context) for one in (*param.opts, *param.secondary_opts)}
        unknown = [word for word in named if word.startswith("--") and word not in options]
        assert unknown == [], f"{page}: {line}"


@pytest.mark.parametrize(("page", "line"), list(lines(TYPED)))
def test_a_command_takes_its_words(page: str, line: str) -> None:
    """Parsed as it would be when it is typed, but not carried out."""
    command, _, left = resolved(shlex.split(line, comments=True)[1:])
    try:
        command.make_context(command.name, left)
    except click.UsageError as error:
        pytest.fail(f"{page}: {line}: {error.format_message()}")
