"""A rich console on which nothing that others have said drives the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from wulf.core.foreign import clean


class CleanConsole(Console):
    """As Rich's own, whatever text it is given; colours and cursors are Rich's."""

    def render_str(self, text: str, **how: Any) -> Text:
        """A text, clean before its width is measured."""
        return super().render_str(clean(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of it, clean."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else clean(text), style, control)
