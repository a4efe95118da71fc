"""The few system calls about namespaces, mounts and capabilities that Python 3.11 lacks.

Sources: unshare(2), setns(2), mount(2), sethostname(2), prctl(2), capset(2), user_namespaces(7). Every function raises
OSError with the call and its object in the text.
"""

# ruff: noqa: PTH116, PTH121, PTH123

from __future__ import annotations

import ctypes
import os

NEW_MOUNTS = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PIDS = 0x20000000
NEW_NET = 0x40000000
NODE_NAMESPACES = NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_PIDS | NEW_NET
"""What a lab's first process and each of its nodes have of their own."""

NAMESPACES = ("user", "mnt", "uts", "ipc", "net", "pid")
"""All that a process of a lab is in, in the order in which they are joined."""

DISKS = "disks"
"""In a lab's directory, a link to the folder of its disks, where it has any."""

MS_NOSUID, MS_NODEV, MS_NOEXEC = 0x2, 0x4, 0x8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAP_AMBIENT = 1, 4, 47
_PR_CAP_AMBIENT_RAISE = 2
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Give this process namespaces of its own; a new PID namespace holds its next child, not itself."""
    _check(_libc.unshare(ctypes.c_int(flags)), f"unshare({flags:#x})")


def join(pid: int, names: tuple[str, ...]) -> None:
    """Enter the namespaces `names` ("user", "net", "mnt", …) of process `pid`, in that order.

    The user namespace is skipped where it is ours already (joining one's own is an error, setns(2)). With its mounts
    comes its root: setns(2) leaves us at the root of all mounts, which is another where wulf itself runs in a chroot.
    """
    opened = [(name, os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)) for name in names]
    ours = os.stat("/proc/self/ns/user")
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC) if "mnt" in names else None
    for name, fd in opened:
        if name != "user" or not os.path.samestat(os.fstat(fd), ours):
            _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(0)), f"setns({name} of process {pid})")
        os.close(fd)
    if root is not None:
        os.fchdir(root)
        os.chroot(".")
        os.close(root)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    _check(result, f"mount({kind or source} on {target})")


def set_host_name(name: str) -> None:
    data = name.encode()
    _check(_libc.sethostname(data, ctypes.c_size_t(len(data))), f"sethostname({name})")


def die_with_parent(signal_number: int) -> None:
    """Have this process killed when its parent ends; call it after the last change of credentials, which clears it."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def allow_inspection() -> None:
    """Let processes of the same user open /proc/PID/ns of this one (a change of credentials forbids it, prctl(2))."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl(PR_SET_DUMPABLE)")


def map_user(uid: int, gid: int) -> int:
    """Map one user and group into the user namespace just made, and return the user id within.

    The id within equals the one outside, except that root becomes 1000: an sshd that finds itself to be uid 0 wants
    setgroups(2) and a second user for its privilege separation, and a namespace with one user has neither.
    """
    inner_uid, inner_gid = (uid or 1000), (gid or 1000)
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inner_uid} {uid} 1"),
        ("gid_map", f"{inner_gid} {gid} 1"),
    ):
        fd = os.open(f"/proc/self/{file}", os.O_WRONLY)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
    return inner_uid


def keep_capabilities() -> None:
    """Make all capabilities (over this user namespace alone) survive exec of a program as a user other than 0.

    Inheritable first, then ambient: capabilities(7), "Ambient".
    """
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    everything = (1 << (last + 1)) - 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    low, high = everything & 0xFFFFFFFF, everything >> 32
    sets = (ctypes.c_uint32 * 6)(low, low, low, high, high, high)
    _check(_libc.capset(header, sets), "capset")
    for capability in range(last + 1):
        _check(
            _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0),
            f"prctl(PR_CAP_AMBIENT_RAISE, {capability})",
        )


def isolate(own_user: bool) -> None:
    """Leave the host: new namespaces of every kind a lab needs, a private mount table, capabilities kept.

    Parameters
    ----------
    own_user
        In a user namespace of its own (for whoever isn't root, or is root without the capabilities).
    """
    uid, gid = os.geteuid(), os.getegid()
    if own_user:
        unshare(NEW_USER)
        map_user(uid, gid)
    unshare(NODE_NAMESPACES)
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    if own_user:
        keep_capabilities()
    allow_inspection()


def start_time(pid: int) -> str:
    """When process `pid` started, in clock ticks since boot: with the pid, it names a process for good (proc(5), stat).

    A zombie counts as gone. Raises ProcessLookupError.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        raise ProcessLookupError(f"process {pid} is gone") from None
    if fields[0] in (b"Z", b"X"):
        raise ProcessLookupError(f"process {pid} is gone")
    return fields[19].decode()


def enter(pid: int, start: str, names: tuple[str, ...] = NAMESPACES) -> bool:
    """Join the namespaces of process `pid`, which began at `start`; whether its user namespace is not ours.

    Raises ProcessLookupError where it is gone, OSError where it can't be joined.
    """
    if start_time(pid) != start:
        raise ProcessLookupError(f"process {pid} is gone")
    other_user = not os.path.samefile(f"/proc/{pid}/ns/user", "/proc/self/ns/user")
    join(pid, names)
    return other_user
