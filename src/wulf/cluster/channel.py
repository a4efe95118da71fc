"""Bytes to and from a program on a node: the one interface between sessions and the ways to start them."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Protocol, Self


@dataclass(frozen=True)
class Exit:
    """How a program ended: by a status, by a signal, or unknown (both None)."""

    status: int | None = None
    signal: int | None = None

    @classmethod
    def of(cls, returncode: int | None) -> Self:
        """From `subprocess.Popen.returncode`, which is negative for a signal."""
        if returncode is None:
            return cls()
        return cls(signal=-returncode) if returncode < 0 else cls(status=returncode)

    def __str__(self) -> str:
        if self.signal is not None:
            names = {s.value: s.name for s in signal.Signals}
            return f"killed by {names.get(self.signal, f'signal {self.signal}')}"
        return "the connection was lost" if self.status is None else f"exit status {self.status}"


class Listener(Protocol):
    """What a channel tells of its program. Calls come one at a time, never two together, and must not block."""

    def on_line(self, line: bytes, whole: bool = True) -> None:
        """One line of standard output, without its end; not ``whole`` where the output ended before the line did."""

    def on_stderr(self, line: str) -> None:
        """One line of standard error."""

    def on_close(self, end: Exit) -> None:
        """The program is gone. Called once, last."""


class Channel(Protocol):
    """A program's standard streams. Every method may be called from any thread, and none of them blocks."""

    def start(self, listener: Listener) -> None:
        """Start the program; a failure to start comes as `Listener.on_close`."""

    def send(self, line: bytes) -> None:
        """Write one line, given without its end. Dropped when the program is gone."""

    def close_input(self) -> None:
        """Close standard input when all that was sent has been written. A session program then ends."""

    def kill(self) -> None:
        """End the program, or the connection to it, at once."""
