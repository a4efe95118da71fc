"""The nodes' disk image: a Debian built once by the recipe, kept in the cache, shared by all nodes, never written."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wulf.core.errors import LabError
from wulf.core.files import replace_file

from . import programs, recipe
from .recipe import Recipe

Progress = Callable[[str], None]
NOTE = "image.json"
"""Written last: without it, an image is not whole."""


@dataclass(frozen=True)
class Image:
    """An image that is there: the disk that nodes start from, and the kernel that QEMU starts it with."""

    folder: Path

    @property
    def disk(self) -> Path:
        return self.folder / "disk.raw"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"


def ensure(wanted: Recipe, say: Progress) -> Image:
    """The image of this recipe, built where it isn't there: that takes minutes, and a Debian mirror.

    Raises
    ------
    LabError
        A program is missing, or the build failed: its log is named, and nothing else of it is left.
    """
    folder = recipe.cache() / "images" / wanted.key
    if (folder / NOTE).exists():
        return Image(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder.parent / f"{wanted.key}.lock", say):
        if not (folder / NOTE).exists():  # another process may have built it meanwhile
            _build(wanted, folder, say)
    return Image(folder)


@contextlib.contextmanager
def _alone(lock: Path, say: Progress) -> Iterator[None]:
    """Until it ends, or the process does, nobody else builds this image."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process builds the image: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(wanted: Recipe, folder: Path, say: Progress) -> None:
    debian, disk = programs.require("mmdebstrap"), programs.require("mke2fs")
    say(f"building the nodes' image, once: Debian {wanted.suite} from {wanted.mirror}")
    started = time.monotonic()
    log = folder.with_name(f"{folder.name}.log")
    for left in [folder, *(path for path in folder.parent.glob(f"{folder.name}.*") if path.is_dir())]:
        shutil.rmtree(left, ignore_errors=True)  # of a build that was killed
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as place, log.open("wb") as output:
        work = Path(place)
        (work / "files.tar").write_bytes(wanted.files)
        (work / "image").mkdir()
        tree = work / "tree"
        making = recipe.debian_command(debian, wanted, work / "files.tar", tree)
        _run(debian.name, making, output.fileno(), log, say)
        _take_kernel(tree, Image(work / "image"), log)
        writing = recipe.disk_command(disk, wanted, tree, Image(work / "image").disk)
        _run(disk.name, writing, output.fileno(), log, say)
        seconds = time.monotonic() - started
        note = {"suite": wanted.suite, "mirror": wanted.mirror, "built": time.time(), "seconds": seconds}
        replace_file(work / "image" / NOTE, json.dumps(note, indent=2) + "\n")
        (work / "image").rename(folder)
    say(f"the image is built after {seconds:.0f} s: {folder}")


def _run(program: str, command: list[str], output: int, log: Path, say: Progress) -> None:
    """Run one step, `program`'s; its messages go to the log, those that mmdebstrap means for people also to `say`."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE) as process:
        assert process.stderr  # noqa: S101
        lines = []
        for raw in process.stderr:
            line = raw.decode(errors="replace").rstrip()
            lines.append(line)
            if line.startswith("I: "):
                say(f"  {line[3:]}")
    with log.open("a") as file:
        file.write("\n".join(lines) + "\n")
    if process.returncode != 0:
        last = " / ".join([line for line in lines if line.startswith("E:")][:3] or lines[-3:])
        raise LabError(
            f"{program} can't build the nodes' image: {last or f'status {process.returncode}'}",
            f"Its log: {log}. {recipe.MIRROR}=URL names another Debian mirror; http_proxy is used where it is set.",
        )


def _take_kernel(tree: Path, image: Image, log: Path) -> None:
    """QEMU starts the kernel itself: no boot loader, no partitions."""
    for pattern, target in (("vmlinuz-*", image.kernel), ("initrd.img-*", image.initrd)):
        found = sorted((tree / "boot").glob(pattern))
        if len(found) != 1:
            raise LabError(f"the nodes' image has {len(found)} files /boot/{pattern}, not one", f"Its log: {log}.")
        shutil.copyfile(found[0], target)
