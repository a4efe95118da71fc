"""What is wrong with a trace, or with a file of another format: always where, and what is still good."""

from __future__ import annotations

from wulf.core.errors import USAGE, WulfError


class TraceError(WulfError):
    """A trace can't be read, or not to its end (exit 2).

    Parameters
    ----------
    rank, chunk, offset
        Where: the rank whose file it is, the number of the chunk from 0, and the byte that the fault begins at; None
        where it is not in one.
    """

    exit_code = USAGE

    def __init__(
        self, what: str, next_step: str = "", *, rank: int | None = None, chunk: int | None = None,
        offset: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(what, next_step)
        self.rank, self.chunk, self.offset = rank, chunk, offset


class FormatError(TraceError):
    """A file of another format is not as that format wants it: names the file and the line."""
