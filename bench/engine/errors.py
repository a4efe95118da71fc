"""The one error of the bench, and how its programs end with one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from wulf.core.errors import USAGE, WulfError

P = ParamSpec("P")


class BenchError(Exception):
    """A tool could not be run, or said something that can't be read."""


def told(main: Callable[P, int]) -> Callable[P, int]:
    """A program whose error is a line on stderr, and exit status 2."""

    @wraps(main)
    def run(*given: P.args, **named: P.kwargs) -> int:
        try:
            return main(*given, **named)
        except (BenchError, WulfError, OSError) as error:
            print(f"bench: {error}", file=sys.stderr)
            return USAGE

    return run
