"""What a fact raises when it has no value: the reason, and whether the thing is absent or only unreadable."""

from __future__ import annotations

import errno
import os

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.EOPNOTSUPP, errno.ENODATA, errno.ENOSYS}
_FORBIDDEN = {errno.EPERM, errno.EACCES}


class Unknown(Exception):  # noqa: N818 - not an error: a node without cpufreq is in order
    """A fact has no value.

    Parameters
    ----------
    reason
        Why, in words for a person.
    absent
        True: the node has no such thing, which is knowledge and compares with other nodes. False: it may have, but
        we could not tell (no permission, odd contents), which compares with nothing.
    """

    def __init__(self, reason: str, absent: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.absent = absent


def unreadable(error: OSError, path: str) -> Unknown:
    """The Unknown that stands for a failed system call on `/path`."""
    if error.errno in _FORBIDDEN:
        return Unknown(f"no permission to read /{path}")
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return Unknown(f"no /{path}", absent=True)
    return Unknown(f"/{path}: {os.strerror(error.errno or 0)}", absent=error.errno in _ABSENT)


def unwritable(error: OSError, path: str, content: str) -> Unknown:
    """The Unknown that stands for a write to `/path` that the kernel did not take."""
    if error.errno in _FORBIDDEN:
        return Unknown(f"no permission to write '{content}' to /{path}")
    return Unknown(f"/{path} refused '{content}': {os.strerror(error.errno or 0)}")


def refused(error: OSError, what: str, said: str | None = None, verb: str = "read") -> Unknown:
    """The Unknown that stands for a failed request to the kernel.

    Parameters
    ----------
    what
        What it was about, in words.
    said
        The kernel's own words for it (netlink's extended acknowledgement), where it has any.
    verb
        What was to be done with it.
    """
    if said and said != os.strerror(error.errno or 0):
        return Unknown(f"{what}: the kernel says '{said}'", absent=error.errno in _ABSENT)
    if error.errno == errno.EOPNOTSUPP:
        return Unknown(f"the driver does not support {what}", absent=True)
    if error.errno in _FORBIDDEN:
        return Unknown(f"no permission to {verb} {what}")
    return Unknown(f"{what}: {os.strerror(error.errno or 0)}", absent=error.errno in _ABSENT)
