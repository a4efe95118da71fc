"""What a channel raises, and how long it may take."""

PATIENCE = 10.0
"""Seconds."""


class Untold(Exception):  # noqa: N818 - no fault of ours: it is tried again
    """Why a channel could not be told; nothing secret stands in it."""
