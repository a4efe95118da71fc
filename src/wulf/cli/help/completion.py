"""`wulf completion SHELL`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from wulf.cli.commands import Command
from wulf.cli.showing import echo

LISTED = ("completion", "Lab and tools", 60, "Print the completion script for your shell.")


@click.command(cls=Command, epilog='Example: eval "$(wulf completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for your shell."""
    from wulf.cli.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    echo(kind(cli, {}, "wulf", "_WULF_COMPLETE").source())
