"""A lab's first process: everything of the lab lives below it and ends with it.

The kernel kills every process of a PID namespace when its first process ends, and removes the interfaces and mounts
with the last process in their namespaces (pid_namespaces(7)). So one SIGKILL takes a lab down, whatever state it is in.
"""

# ruff: noqa: PTH106, PTH108, PTH112, PTH114

from __future__ import annotations

import os
import select
import signal
import sys

from . import linux, node

SLURM = "/etc/slurm"
"""Where Slurm's commands look for their configuration, as Debian builds them."""


def main(arguments: list[str]) -> int:
    """`init STATE HOME CONTROL OWNER GO keep|remove host|user SSHD NODE…`.

    HOME names the file that STATE's parent is (`state.identity`), for those who look for leftovers by command line.
    CONTROL is a socket to whoever makes the lab: nodes report there, "keep" comes from there, and until then its end
    is the lab's. OWNER is a pidfd of the same process, or -1 where the kernel has none. GO closes when the network is
    made. "remove": an ephemeral lab takes its files along; another's name, and so its files, may have a successor.
    """
    state, control, owner, go = arguments[0], *(int(text) for text in arguments[2:5])
    remove, own_user = arguments[5] == "remove", arguments[6] == "user"
    sshd, names = arguments[7], arguments[8:]
    for fd in (control, owner, go):
        if fd >= 0:
            os.set_inheritable(fd, False)
    try:
        linux.isolate(own_user)
        show_slurm(state)
    except OSError as error:
        os.write(control, f"failed - {error.strerror or error}".encode())
        return 1
    if os.fork() > 0:
        return 0  # only a child is in the new PID namespace
    os.write(control, b"init -")
    signal.signal(signal.SIGCHLD, _reap)
    for name in names:
        _start_node(name, state, sshd, go, control)
    os.close(go)
    _live(control, owner)
    _vanish(state if remove else None)
    return 0


def show_slurm(state: str) -> None:
    """Where the lab has a Slurm, all of it finds configuration, sockets and spool at SLURM: the nodes inherit that."""
    if os.path.isdir(f"{state}/slurm"):
        linux.mount(f"{state}/slurm", SLURM, "", linux.MS_BIND)


def _start_node(name: str, state: str, sshd: str, go: int, control: int) -> None:
    """Two forks: the first process to be born after unshare(2) is the node's first; its parent is not in it."""
    if os.fork() > 0:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        linux.unshare(linux.NODE_NAMESPACES)
    except OSError as error:
        os.write(control, f"failed {name} {error.strerror}".encode())
        os._exit(1)
    if os.fork() > 0:
        os._exit(0)
    try:
        node.main(name, state, sshd, go, control)
    finally:
        sys.stderr.flush()
        os._exit(1)


def _live(control: int, owner: int) -> None:
    """Return when whoever made the lab ends; never after "keep"."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    if owner >= 0:
        poll.register(owner, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        if control in ready and os.read(control, 16) == b"keep":
            break
        if ready:
            return
    for fd in (control, owner):
        if fd >= 0:
            os.close(fd)
    while True:
        signal.pause()


def _vanish(state: str | None) -> None:
    if os.getpid() == 1:  # never outside a PID namespace of our own
        os.kill(-1, signal.SIGKILL)  # all others of the lab, so that nobody writes below `state` any more
        if state:
            _remove_disks(f"{state}/{linux.DISKS}")
            _remove(state)
    os._exit(0)


def _remove_disks(link: str) -> None:
    if os.path.islink(link):
        _remove(os.path.realpath(link))


def _remove(path: str) -> None:
    """rm -rf that follows no link; what another process removes meanwhile is as well."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _remove(entry.path)
                else:
                    os.unlink(entry.path)
        os.rmdir(path)
    except OSError as error:
        print(f"can't remove {path}: {error}", file=sys.stderr)


def _reap(*_: object) -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
