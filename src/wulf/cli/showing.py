"""What commands say: lines, views on the terminal, as JSON, and as a page.

What nodes and files have said is in much of it, so all of it goes one way, which leaves nothing that drives a terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.core.errors import UsageError
from wulf.core.foreign import clean

if TYPE_CHECKING:
    from rich.console import Console

    from wulf.report.kit.outcomes import Outcome
    from wulf.report.kit.view import View


def echo(text: object = "", *, err: bool = False, nl: bool = True, label: str = "") -> None:
    """A line, or several, on stdout or stderr; `label`, which is ours, stands before them, bold and red.

    Raises OSError where stdout can't be written. Where stderr can't, nothing ends for it.
    """
    shown = click.style(label, fg="red", bold=True) if label else ""
    with suppress(OSError) if err else nullcontext():
        click.echo(shown + clean(str(text)), err=err, nl=nl)


def colour_console() -> Console:
    """A rich console on stdout: plain and 80 columns in a pipe, without colour under NO_COLOR; no text is markup."""
    from wulf.report.kit.console import CleanConsole

    wide = sys.stdout.isatty() or "COLUMNS" in os.environ
    return CleanConsole(highlight=False, markup=False, width=None if wide else 80)


def show_outcome(outcome: Outcome, result: Mapping[str, Any], page: Path, *, as_json: bool = False) -> None:
    """What a campaign, a search or an impact came to, and where its page is."""
    from wulf.report.kit.terminal import print_view

    if as_json:
        echo(json.dumps(result))
    else:
        print_view(outcome.view(result), colour_console())
    echo(f"report: {page}", err=as_json)


def show_view(
    view: View, content: Mapping[str, Any], *, as_json: bool, html: Path | None, page: View | None = None
) -> None:
    """A model: `content` is its JSON, `page` the view of the page where that holds more than the terminal's.

    Raises UsageError where a figure of it is not finite.
    """
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        what = "what was given leads to figures beyond all bounds"
        raise UsageError(what, "give figures of machines that there are") from error
    show_rows(view, [text], as_json=as_json, html=html, page=page)


def show_rows(
    view: View, rows: Iterable[str], *, as_json: bool, html: Path | None, page: View | None = None,
    kept: str = "`--html PATH` writes it again",
) -> None:  # fmt: skip
    """A view, and its page if there is to be one: `rows` are its JSON, `kept` is said where the disk is full."""
    from wulf.report.kit.page import write_view
    from wulf.report.kit.terminal import print_view

    if html is not None:
        write_view(page or view, html, kept)
    if as_json:
        for row in rows:
            echo(row)
    else:
        print_view(view, colour_console())
    if html is not None:
        echo(f"page: {html}", err=as_json)
