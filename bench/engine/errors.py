"""The one error of the bench; `__main__` and `blocks` turn it into words."""

from __future__ import annotations


class BenchError(Exception):
    """A tool could not be run, or said something that can't be read."""
