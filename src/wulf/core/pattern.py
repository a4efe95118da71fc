"""Regular expressions of users: RE2, whose time grows with the text and with nothing else.

Python's own go back and try again: `(a+)+$` on thirty letters takes longer than anybody waits. RE2 has neither
lookaround nor backreferences, which need that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

MOST_LETTERS = 10_000
"""Of an expression: what it takes grows with its length, too."""


@dataclass(frozen=True)
class Pattern:
    """An expression that is one; `^` and `$` are those of each line.

    Raises
    ------
    ValueError
        It is none, or longer than `MOST_LETTERS`; the words say why.
    """

    text: str

    def __post_init__(self) -> None:
        if len(self.text) > MOST_LETTERS:
            raise ValueError(f"it has {len(self.text):,} letters, and may have {MOST_LETTERS:,}")
        _ = self._compiled

    @cached_property
    def _compiled(self) -> Any:
        import re2  # only who has an expression waits for it

        options = re2.Options()
        options.log_errors = False
        try:
            return re2.compile(f"(?m){self.text}", options)
        except re2.error as error:
            (why,) = error.args
            raise ValueError(why.decode(errors="replace") if isinstance(why, bytes) else str(why)) from error

    @property
    def groups(self) -> int:
        """How many it has."""
        return int(self._compiled.groups)

    def matches(self, text: str) -> Iterator[tuple[str, ...]]:
        """Of each place in the text that it matches: all of it, then its groups, empty where one took no part."""
        for match in self._compiled.finditer(_readable(text)):
            yield (match[0], *(match.groups("")))

    def found(self, text: str) -> bool:
        """Whether it matches anywhere."""
        return self._compiled.search(_readable(text)) is not None


def _readable(text: str) -> str:
    """RE2 reads UTF-8, which has no halves of surrogate pairs; JSON can have them."""
    return text.encode(errors="replace").decode()
