"""Text of others in Markdown, where it stays text."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Text that Markdown leaves as it is: no tags, no emphasis."""
    return re.sub(r"([\\*`])", r"\\\1", text).replace("<", "&lt;")


def cell(text: str) -> str:
    """The same in a cell of a table."""
    return plain(text).replace("|", "\\|")
