"""A command with malformed input, in a process of its own: how it ended, what it took, and what is wrong with that."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK, USAGE

CPU_SECONDS = 2.0
"""What it may take. Of the CPU's time: wall time would judge what else the machine does."""

AGAIN = 3
"""Times that what took longer is tried again, alone, of which the least counts: what others do on its core makes a
command take more of the CPU's time, and nothing makes it take less."""

MEMORY = 100 << 20
"""Bytes that it may take beyond what all of wulf's modules do, with which it begins: 200 MB for a command, which loads
some of them.
"""

PATIENCE = 30.0
"""Seconds of wall time after which it hangs."""

LONGEST = 2000
"""Characters of an error: a sentence or two, not the file."""

TIME = "time"

DOCUMENTED = (OK, FOUND, USAGE, INCOMPLETE, INTERRUPTED)

PIPE, DEVICE = "a-pipe", "a-device"
"""In every input's folder: what must not become a file. The device is left out where only root may make one."""

Other = Literal["a pipe", "a folder", "a loop", "zeros without end", "a terabyte"]
"""What may lie where a file is expected: a pipe that nobody writes to, a link to itself, a file that is one hole."""

CONFIG = "config.toml"
"""In an input's folder: what is set for the command."""

OUT, ERR, BEGAN = ".out", ".err", ".began"
"""Beside an input's folder: what the command said, and the bytes of memory that it began with. A fork begins with fewer
than its parent has: pages of files come when they are read."""

_RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]")
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Input:
    """A command line and files, of which one thing is malformed.

    Attributes
    ----------
    surface
        What reads it: "--seed", "inventory", "run.json".
    what
        The malformed thing, in a word or two.
    words
        After `wulf`. Names of files are relative: every input has a folder of its own.
    template
        A folder whose content lies there beforehand.
    files
        Name → content, put there after the template's.
    others
        Name → what lies there in a file's place.
    wanted
        "refused": nothing but exit code 2 will do. "taken": anything but that; the others are changed from this one.
        "either": it may be one that can be taken.
    patience
        Seconds of wall time after which it hangs.
    """

    surface: str
    what: str
    words: tuple[str, ...]
    template: Path | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    others: Mapping[str, Other] = field(default_factory=dict)
    wanted: Literal["refused", "taken", "either"] = "either"
    patience: float = PATIENCE


@dataclass(frozen=True)
class End:
    """How it ended: the exit code (negative: by a signal), what it took and what it said.

    `memory` is in bytes, beyond those that it began with; `cpu` in seconds; `replaced` is what is another thing now.
    """

    code: int
    cpu: float
    memory: int
    hung: bool
    out: str
    err: str
    replaced: str = ""


def trouble(one: Input, end: End) -> str | None:
    """What is wrong with how it ended; None: nothing."""
    if end.hung:
        return f"hang: more than {one.patience:g} s"
    if "Traceback (most recent" in end.err or "object at 0x" in end.err:
        return "traceback"
    if end.code not in DOCUMENTED:
        return f"exit code {end.code}"
    if end.replaced:
        return f"replaced: {end.replaced}"
    if end.cpu > CPU_SECONDS:
        return f"{TIME}: {end.cpu:.1f} s of a CPU"
    if end.memory > MEMORY:
        return f"memory: {end.memory >> 20} MiB"
    if one.wanted == "refused" and end.code != USAGE:
        return f"silent: exit code {end.code}"
    if one.wanted == "taken" and end.code == USAGE:
        return "sound, and refused"
    if end.code == USAGE and not end.err.strip():
        return "mute: no error is told"
    if end.code == USAGE and len(end.err) > LONGEST:
        return f"long: {len(end.err)} characters"
    if raw := _RAW.search(end.err + end.out):
        return f"raw: {raw.group()!r} reaches the terminal"
    return None


def judged(inputs: Iterable[Input], scratch: Path, at_once: int) -> Iterator[tuple[Input, End]]:
    """As `tried`; those that took too long come last, with the least time that they took."""
    late = []
    for one, end in tried(inputs, scratch, at_once):
        if (trouble(one, end) or "").startswith(TIME):
            late.append((one, end))
        else:
            yield one, end
    for one, end in late:
        yield one, min([end, *(other for _, other in tried([one] * AGAIN, scratch, 1))], key=lambda end: end.cpu)


def tried(inputs: Iterable[Input], scratch: Path, at_once: int) -> Iterator[tuple[Input, End]]:
    """Try them, so many at once, each in a fork of this process, which has all of wulf loaded.

    Parameters
    ----------
    scratch
        A folder for their folders.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what a child leaves behind is ended here
    running: dict[int, tuple[Input, Path, float]] = {}
    left = enumerate(inputs)
    while True:
        while len(running) < at_once and (following := next(left, None)) is not None:
            number, one = following
            folder = _prepared(one, scratch / str(number))
            running[_forked(one, folder)] = (one, folder, time.monotonic())
        if not running:
            return
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        hung = False
        if pid == 0:
            now = time.monotonic()
            late = [pid for pid, (one, _, since) in running.items() if now - since > one.patience]
            if not late:
                time.sleep(0.002)
                continue
            os.killpg(late[0], signal.SIGKILL)
            pid, status, usage = os.wait4(late[0], 0)
            hung = True
        if pid not in running:
            continue  # what a command had started, and left to us
        one, folder, _ = running.pop(pid)
        _end_all_of(pid)
        said = [folder.with_suffix(suffix) for suffix in (OUT, ERR, BEGAN)]
        out, err, began_with = (path.read_text(errors="replace") for path in said)
        memory = max(0, (usage.ru_maxrss << 10) - int(began_with))
        cpu = usage.ru_utime + usage.ru_stime
        yield one, End(os.waitstatus_to_exitcode(status), cpu, memory, hung, out, err, _replaced(folder))
        shutil.rmtree(folder, ignore_errors=True)
        for path in said:
            path.unlink()


def _replaced(folder: Path) -> str:
    """Which of the folder's pipe and device is none any more."""
    pipe, device = (path.lstat().st_mode if os.path.lexists(path) else 0 for path in (folder / PIPE, folder / DEVICE))
    if not stat.S_ISFIFO(pipe):
        return PIPE
    return DEVICE if device and not stat.S_ISCHR(device) else ""


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _end_all_of(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _prepared(one: Input, folder: Path) -> Path:
    if one.template is not None:
        shutil.copytree(one.template, folder)
    else:
        folder.mkdir()
    os.mkfifo(folder / PIPE)
    with suppress(PermissionError):
        os.mknod(folder / DEVICE, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # another /dev/null
    for name, content in one.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name, other in one.others.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        _put(other, path)
    return folder


def _put(other: Other, path: Path) -> None:
    match other:
        case "a pipe":
            os.mkfifo(path)
        case "a folder":
            path.mkdir()
        case "a loop":
            path.symlink_to(path.name)
        case "zeros without end":
            path.symlink_to("/dev/zero")
        case "a terabyte":
            with path.open("wb") as file:
                file.truncate(1 << 40)


def _forked(one: Input, folder: Path) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        os.setsid()
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, suffix in ((1, OUT), (2, ERR)):
            os.dup2(os.open(folder.with_suffix(suffix), os.O_WRONLY | os.O_CREAT, 0o600), number)
        os.environ.update(
            HOME=str(folder),
            XDG_STATE_HOME=str(folder / "state"),
            WULF_STATE=str(folder / "wulf-state"),
            WULF_RATES=str(folder / "rates.json"),
            TMPDIR=str(folder),
            WULF_CONFIG=CONFIG if os.path.lexists(CONFIG) else "",
        )
        tempfile.tempdir = None  # it goes by TMPDIR anew: a process that ends as this one does tidies nothing away
        folder.with_suffix(BEGAN).write_text(str(_resident()))
        code = _ran(one)
    finally:
        os._exit(code)


def _ran(one: Input) -> int:
    from wulf.cli.main import main

    sys.argv = ["wulf", *one.words]
    try:
        main()
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    except BaseException:  # noqa: BLE001 - it would be a traceback of the command, and is to be seen as one
        import traceback

        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
