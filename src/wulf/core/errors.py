"""Typed errors. Only the command line turns them into text and an exit code.

Each names what happened, to what, why, and what to do next; `next_step` may be empty where there is nothing to do.
"""

from __future__ import annotations

OK, FOUND, USAGE, INCOMPLETE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 70, 130
"""Exit codes of every command: all well; something wrong was found; usage or configuration; incomplete; a defect of
wulf's own (EX_SOFTWARE of sysexits.h), which says nothing of what was asked about; interrupted."""


LONGEST = 1500
"""Characters of what an error says; one that quotes a megabyte of somebody's file says it in fewer."""


def sentence(text: str) -> str:
    """An error's words, without the middle of what is longer than anybody would read."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 3 :]}"


class WulfError(Exception):
    """Base of all errors that wulf raises on purpose.

    Parameters
    ----------
    what
        One sentence: what happened, to which node, file, field or limit, and why.
    next_step
        What the user can do about it.
    """

    exit_code = INCOMPLETE

    def __init__(self, what: str, next_step: str = "") -> None:
        self.what = sentence(what)
        self.next_step = next_step
        super().__init__(self.what)

    def __str__(self) -> str:
        return f"{self.what}\n  → {self.next_step}" if self.next_step else self.what


class UsageError(WulfError):
    """The request or the configuration can't be carried out as written (exit 2)."""

    exit_code = USAGE


class NodeError(WulfError):
    """One node failed; the others go on (exit 3 at the end).

    Parameters
    ----------
    node
        The node's name.
    """

    def __init__(self, node: str, what: str, next_step: str = "") -> None:
        super().__init__(f"{node}: {what}", next_step)
        self.node = node


class LabError(WulfError):
    """The lab can't be made or reached (exit 2: nothing was measured)."""

    exit_code = USAGE


class InternalError(WulfError):
    """wulf has a defect, or met what it was not made for (exit 70)."""

    exit_code = INTERNAL
