"""The lines of what another program says, which comes in pieces."""

from __future__ import annotations


class Lines:
    """The lines of one stream. Each costs time in its length alone, however small the pieces are.

    Parameters
    ----------
    longest
        Bytes of a line: one that is longer is given up, or who says it would fill the memory here.
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.endless = False
        """True once a line was longer than that; what comes then is not kept."""
        self._told = False
        self._begun: list[bytes] = []
        self._length = 0

    def take(self, part: bytes) -> list[bytes]:
        """The lines that end within the piece that comes next, each without its newline."""
        if self.endless:
            return []
        *ended, rest = part.split(b"\n")
        if ended:
            ended[0] = self.rest() + ended[0]
        self._begun.append(rest)
        self._length += len(rest)
        if self._length > self.longest:
            self.endless = True
            self.rest()
        return ended

    def complaint(self) -> str | None:
        """What is to be told of whoever says an endless line, and is to be ended: once."""
        if self._told or not self.endless:
            return None
        self._told = True
        return f"a line is longer than {self.longest >> 20} MiB: it was ended"

    def rest(self) -> bytes:
        """The line that has begun and not ended; asked for once, at the end of the stream."""
        begun = b"".join(self._begun)
        self._begun.clear()
        self._length = 0
        return begun
