"""Where the sentry's state lies: what its commands have in common."""

from __future__ import annotations

from pathlib import Path

import click


def state_path(given: Path | None) -> Path:
    """The state that was named; else systemd's folder, or the user's own, has it."""
    from wulf.sentry.state import default_path

    return given if given is not None else default_path()


state_option = click.option(
    "--state", "where", type=click.Path(path_type=Path), metavar="FILE",
    help="The sentry's state [$STATE_DIRECTORY or ~/.local/state/wulf, sentry.db].",
)  # fmt: skip
