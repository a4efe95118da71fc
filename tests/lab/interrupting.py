"""Ctrl-C in the middle of a campaign."""

from __future__ import annotations

from wulf.measure.engine.watcher import Progress, Unwatched


class InterruptAfter(Unwatched):
    """Ctrl-C after so many measurements: on an emulated node, a whole campaign would take half an hour."""

    def __init__(self, measurements: int) -> None:
        self._left = measurements

    def on_progress(self, progress: Progress) -> None:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt
