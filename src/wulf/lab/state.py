"""What is kept about labs on disk, so that another process, or the same user tomorrow, finds, changes and removes them.

One directory a lab below `root()`: lab.json, ssh_config, keys, and a directory for each node. All private to the user.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wulf.core.errors import LabError
from wulf.core.files import replace_file

from . import disks
from .inside.linux import start_time

INSIDE = Path(__file__).resolve().parent / "inside"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_GONE_DEADLINE_S = 10.0
LOCK_PATIENCE_S = 1.0
"""As long as a child of a killed process may still hold the lock that it held."""


def default_name() -> str:
    """The lab that is meant when none is named: WULF_LAB, or "lab"."""
    return os.environ.get("WULF_LAB") or "lab"


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise LabError(
            f"{name!r} can't be a lab's name", "Use letters, digits, - and _, a letter or digit first, 40 at most."
        )
    return name


def root(*, create: bool = False) -> Path:
    """Directory of this user's labs: below /run for root, XDG_RUNTIME_DIR or /tmp/wulf-UID for others.

    Raises LabError where a directory on the way belongs to somebody else or is writable by others.
    """
    user = os.geteuid()
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if user == 0 and os.access("/run", os.W_OK):
        base = Path("/run/wulf-0")  # /run/wulf is for rates, and may belong to the account of their service
    elif user != 0 and runtime and os.access(runtime, os.W_OK) and Path(runtime).stat().st_uid == user:
        base = Path(runtime) / "wulf"
    else:
        base = Path(f"/tmp/wulf-{user}")  # noqa: S108  (checked to be ours below)
    for directory in (base, base / "lab"):
        if create:
            make_private(directory)
        elif directory.exists():
            _check_private(directory)
    return base / "lab"


def make_private(directory: Path) -> None:
    """mkdir with mode 0700, or make sure that what is there is ours and nobody else's to write."""
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        _check_private(directory)
    except OSError as error:
        raise LabError(
            f"can't make the lab's directory {directory}: {error.strerror}",
            "Set XDG_RUNTIME_DIR to a directory that is yours.",
        ) from error


def _check_private(directory: Path) -> None:
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise LabError(
            f"no permission: {directory} is not a directory that is ours and writable by us alone "
            f"(owner {found.st_uid}, mode {stat.filemode(found.st_mode)})",
            f"Have its owner remove it, or set XDG_RUNTIME_DIR to a directory of user {os.geteuid()}.",
        )


@contextlib.contextmanager
def lock(name: str, *, patience_s: float = LOCK_PATIENCE_S) -> Iterator[None]:
    """Only one process at a time changes the lab `name`; LabError when another one does. Ends with the process."""
    path = root(create=True) / f"{name}.lock"
    deadline = time.monotonic() + patience_s
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            if time.monotonic() < deadline:
                time.sleep(0.02)
                continue
            raise LabError(
                f"another process is making or changing the lab {name!r}", "Wait for it, or use another --name."
            ) from None
        # Whoever held it before us removed the file with it: then ours is the lock of nothing, and we try again.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), path.stat()):
                break
        os.close(fd)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(fd)


def save(directory: Path, data: dict[str, Any]) -> None:
    """Write lab.json whole or not at all."""
    replace_file(directory / "lab.json", json.dumps(data, indent=2) + "\n")


def load(name: str) -> dict[str, Any] | None:
    """lab.json of a lab that is up; None where there is none, or what is there is stale or torn."""
    try:
        data = json.loads((root() / name / "lab.json").read_text())
        up = alive(data["init"]) and alive(data["owner"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return data if up and isinstance(data, dict) else None


def names() -> list[str]:
    """All labs of this user that have a directory, whether up or stale."""
    directory = root()
    return sorted(path.name for path in directory.iterdir() if path.is_dir()) if directory.is_dir() else []


def identify(pid: int) -> dict[str, Any]:
    """A process, named for good. Raises ProcessLookupError."""
    return {"pid": pid, "start": start_time(pid)}


def alive(process: dict[str, Any] | None) -> bool:
    """Whether the process that `identify` named still runs; a lab without processes (None) always does."""
    if process is None:
        return True
    try:
        return bool(start_time(int(process["pid"])) == process["start"])
    except ProcessLookupError:
        return False


def kill(process: dict[str, Any]) -> None:
    """SIGKILL, and wait until it is gone: for a lab's first process, that means all of the lab's processes are."""
    with contextlib.suppress(ProcessLookupError):
        if alive(process):
            os.kill(int(process["pid"]), signal.SIGKILL)
    deadline = time.monotonic() + _GONE_DEADLINE_S
    while alive(process):
        if time.monotonic() > deadline:
            raise LabError(
                f"process {process['pid']} of the lab doesn't end after SIGKILL", "See its state in `ps -l`."
            )
        time.sleep(0.002)


def identity(directory: Path) -> str:
    """Which directory this is, whatever its path: a container's /run/wulf-0/lab is not the host's, though its processes
    are seen from there.
    """
    found = directory.stat()
    return f"{found.st_dev}:{found.st_ino}"


def processes() -> list[tuple[str, dict[str, Any]]]:
    """First processes of this user's labs and nodes, each with its lab's name: by command line, not by any file."""
    found = []
    home = os.fsencode(root())
    if not root().is_dir():
        return []
    itself = os.fsencode(identity(root()))
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            # python -I -S …/inside init STATE HOME …
            if len(words) < 8 or words[4] != b"init" or words[5].rpartition(b"/")[0] != home or words[6] != itself:
                continue
            if Path(os.fsdecode(words[3])).name == INSIDE.name and _owner(entry) == os.geteuid():
                found.append((os.fsdecode(words[5].rpartition(b"/")[2]), identify(int(entry.name))))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def _owner(entry: Path) -> int:
    for line in (entry / "status").read_text().splitlines():
        if line.startswith("Uid:"):
            return int(line.split()[2])
    return -1


def clear(name: str) -> bool:
    """Remove what is left of the lab `name`, processes first, its lock being held. Whether there was anything."""
    directory = root() / name
    found = directory.is_dir()
    while left := [process for lab, process in processes() if lab == name]:  # again, in case one forked meanwhile
        found = True
        for process in left:
            kill(process)
    deadline = time.monotonic() + _GONE_DEADLINE_S
    while directory.is_dir():
        with contextlib.suppress(FileNotFoundError):  # somebody else, who takes no lock, is removing it too
            disks.remove(directory)
            try:
                shutil.rmtree(directory)
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:
                    raise
                # A child of a maker that was killed (ssh-keygen, say) still writes into it.
                if time.monotonic() > deadline:
                    raise LabError(
                        f"somebody writes into {directory} while it is removed", "See who: `fuser`."
                    ) from error
                time.sleep(0.002)
    return found


def clear_stale() -> None:
    """Clear every lab of this user that isn't up and that nobody is making now."""
    locked = {path.stem for path in root().glob("*.lock")}  # a killed process leaves its lock's file
    for name in {*names(), *locked, *(lab for lab, _ in processes())}:
        with contextlib.suppress(LabError):
            if load(name) is None:
                with lock(name, patience_s=0):
                    if load(name) is None:
                        clear(name)
