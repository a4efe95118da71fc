"""What the parts of the bench share: the lab, the time, the order."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from bench.engine.blocks import Effort
from bench.engine.pair import Pair


def say(text: str) -> None:
    """For the person who waits: on standard error, at once."""
    print(text, file=sys.stderr, flush=True)


@dataclass
class Context:
    """One run of the bench.

    Parameters
    ----------
    quick
        Fewer comparisons and blocks: two minutes.
    effort
        How long interleaved comparisons go on.
    rng
        Of the random order.
    say
        Progress, for people.
    stack
        What is to be taken down at the end.
    """

    quick: bool
    effort: Effort
    rng: random.Random
    say: Callable[[str], None]
    stack: ExitStack = field(default_factory=ExitStack)

    @functools.cached_property
    def pair(self) -> Pair:
        """Two nodes of a lab, made when first asked for."""
        self.say("making a lab of two nodes")
        return self.stack.enter_context(Pair())
