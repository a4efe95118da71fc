"""What a command found as a view: on the terminal, as JSON, and as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.options import colour_console

if TYPE_CHECKING:
    from wulf.report.kit.outcomes import Outcome
    from wulf.report.kit.view import View


def show_outcome(outcome: Outcome, result: Mapping[str, Any], page: Path, *, as_json: bool = False) -> None:
    """What a campaign, a search or an impact came to; its page is always written."""
    from wulf.report.kit.terminal import print_view

    outcome.write(result, page)
    if as_json:
        click.echo(json.dumps(result))
    else:
        print_view(outcome.view(result), colour_console())
    click.echo(f"report: {page}", err=as_json)


def show_view(
    view: View, content: Mapping[str, Any], *, as_json: bool, html: Path | None, page: View | None = None
) -> None:
    """A model: `content` is its JSON, `page` the view of the page where that holds more than the terminal's."""
    from wulf.report.kit.terminal import print_view

    if html is not None:
        from wulf.report.kit.page import write_view

        write_view(page or view, html)
    if as_json:
        click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))
        return
    print_view(view, colour_console())
    if html is not None:
        click.echo(f"page: {html}")
