"""Where the sentry's state lies: what its commands have in common."""

from __future__ import annotations

import os
from pathlib import Path

import click

from wulf.core.places import user_folder


def state_path(given: Path | None) -> Path:
    """The state that was named; else systemd's $STATE_DIRECTORY or the user's own folder has it."""
    if given is not None:
        return given
    folder = os.environ.get("STATE_DIRECTORY", "").partition(":")[0]
    return (Path(folder) if folder else user_folder("state")) / "sentry.db"


state_option = click.option(
    "--state", "where", type=click.Path(path_type=Path), metavar="FILE",
    help="The sentry's state [$STATE_DIRECTORY or ~/.local/state/wulf, sentry.db].",
)  # fmt: skip
