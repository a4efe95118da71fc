"""The programs that run on nodes, as files with a digest."""

from __future__ import annotations

import functools
import hashlib
import platform
import shutil
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from wulf.agent.mpi.places import caches, trouble
from wulf.core.errors import UsageError
from wulf.core.programs import program_path


@dataclass(frozen=True)
class Program:
    """A session program.

    Parameters
    ----------
    name
        What its greeting calls it: ``wulf-net``.
    path
        The file on this machine.
    digest
        SHA-256 of the file, in hexadecimal digits: the name of its copies on the nodes.
    arch
        Machine that it is built for, as ``uname -m`` prints it; None: any.
    python
        A Python program (for ``python3``, 3.9 or newer), not a native one.
    arguments
        Its command line; a session program has none.
    hello
        Who greets, where the program starts another one that holds the session; None: itself.
    root
        A Python program that is started by `sudo -n` where the login is not root.
    """

    name: str
    path: Path
    digest: str
    arch: str | None = None
    python: bool = False
    arguments: tuple[str, ...] = ()
    hello: str | None = None
    root: bool = False

    @property
    def speaker(self) -> str:
        """What its greeting calls it."""
        return self.hello or self.name

    @classmethod
    def of(cls, path: Path, name: str | None = None, arch: str | None = None, python: bool = False) -> Self:
        """The program in a file."""
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise UsageError(f"{path}: can't read the program: {error.strerror}") from error
        return cls(name or path.name, path, digest, arch, python)

    def for_arch(self, arch: str) -> Program | None:
        """The same program for another machine, where it has been built too."""
        path = self.path.parent.parent / arch / self.name
        return Program.of(path, self.name, arch) if self.arch and path.is_file() else None


def find_program(name: str, arch: str | None = None) -> Program:
    """A built native program.

    Parameters
    ----------
    name
        ``wulf-net``.
    arch
        As ``uname -m`` prints it; None: this machine's. A node of another one gets its own, where it has been built.

    Raises
    ------
    UsageError
        It has not been built.
    """
    arch = arch or platform.machine()
    return Program.of(program_path(name, arch), name, arch)


_packing = threading.Lock()
"""Sessions are opened on several threads, and a cached function would be begun on each."""


def agent_program() -> Program:
    """The agent, one file of Python that any node with Python 3.9 runs; packed once, and kept in wulf's cache."""
    with _packing:
        file = _agent_file()
    return Program.of(file, "wulf-agent", python=True)


def supervised(command: Sequence[str], hello: str) -> Program:
    """A command line as a session program: the agent starts it on the node, and ends it when the session ends.

    Parameters
    ----------
    command
        Program on the node, and arguments: ``mpirun …``.
    hello
        What the greeting will call the program that it starts in the end: ``wulf-mpi``.
    """
    return replace(agent_program(), arguments=("--supervise", *command), hello=hello)


@functools.cache
def _agent_file() -> Path:
    """A copy of this process's own, as another wulf may replace the cache's by one of other sources."""
    from wulf.agent.bundle import build

    own = Path(_temporary_directory().name)
    for kept in (cache.with_name("agent") for cache in caches()):
        with suppress(OSError):  # a full disk there is no reason not to measure
            if trouble(kept) is None:
                shutil.copy2(build(kept), own)
                break
    return build(own)


@functools.cache
def _temporary_directory() -> tempfile.TemporaryDirectory[str]:
    # the cache keeps it alive; it is removed when the interpreter ends
    return tempfile.TemporaryDirectory(prefix="wulf-agent-")
