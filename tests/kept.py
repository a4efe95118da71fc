"""What a campaign kept, laid into a run's folder as `wulf tune` does."""

from __future__ import annotations

from pathlib import Path

from wulf.tune.kept import FILE, KeptSettings


def write_kept(run: Path, settings: KeptSettings) -> None:
    """The folder is there."""
    (run / FILE).write_text(settings.model_dump_json())
