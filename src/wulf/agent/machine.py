"""A machine as the facts see it: files under a root, and answers of the kernel that stand in no file.

The root is `/` on a live node, or a recorded tree: a folder with the few files of /proc, /sys and /etc that the facts
read, and `answers.json` with what the kernel answered besides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from wulf.agent.kernel import LiveKernel
from wulf.agent.unknown import Unknown, unreadable, unwritable

Result = TypeVar("Result")

ANSWERS = "answers.json"
"""In a recorded tree's root: the kernel's answers, {"qdisc eth0": "fq_codel", ...}."""


class RecordedKernel:
    """Answers from a recorded tree; {"unknown": reason} where the kernel refused one."""

    def __init__(self, path: Path) -> None:
        self._answers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def ask(self, question: str, *arguments: str) -> Any:
        key = " ".join((question, *arguments))
        if key not in self._answers:
            raise Unknown(f"the recorded tree has no answer to '{key}'")
        answer = self._answers[key]
        if isinstance(answer, dict) and "unknown" in answer:
            raise Unknown(answer["unknown"], absent=answer.get("absent", False))
        return answer

    def tell(self, request: str, *arguments: Any, **named: Any) -> None:
        raise Unknown(f"a recorded tree can't be changed ({request})")

    def close(self) -> None:
        """Nothing is held."""


class Machine:
    """Reads a machine's files and asks its kernel; `put` and `tell` change it.

    Whatever can't be read, or is refused, raises Unknown with the reason.

    One object is one snapshot: shared readings (`once`) are cached, so make a new one for each request.

    Parameters
    ----------
    root
        Where the machine's file tree lies; `/` is the live machine.
    """

    def __init__(self, root: str = "/") -> None:
        self.root = root
        self.live = os.path.realpath(root) == "/"
        self._kernel: LiveKernel | RecordedKernel = LiveKernel() if self.live else RecordedKernel(Path(root) / ANSWERS)
        self._cache: dict[str, Any] = {}

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the sockets to the kernel, if any were opened."""
        self._kernel.close()

    def _at(self, path: str) -> str:
        return os.path.join(self.root, path)  # noqa: PTH118 - hundreds of sysfs files: Path would double the time

    def text(self, path: str) -> str:
        """Contents of a file, stripped; `path` is relative to the root: 'proc/version'."""
        content = self.binary(path).decode("utf-8", "replace").strip().strip("\0")
        if not content:
            raise Unknown(f"/{path} is empty", absent=True)
        return content

    def binary(self, path: str) -> bytes:
        """Contents of a file as they are."""
        try:
            with open(self._at(path), "rb") as file:  # noqa: PTH123
                return file.read()
        except OSError as error:
            raise unreadable(error, path) from error

    def integer(self, path: str) -> int:
        """The one number that a file holds."""
        content = self.text(path)
        try:
            return int(content)
        except ValueError:
            raise Unknown(f"/{path} holds '{content[:40]}', not a number") from None

    def table(self, path: str) -> dict[str, str]:
        """'Name: value' lines of a file such as /proc/meminfo; the first of equal names counts."""
        rows: dict[str, str] = {}
        for line in self.text(path).splitlines():
            name, colon, value = line.partition(":")
            if colon:
                rows.setdefault(name.strip(), value.strip())
        return rows

    def chosen(self, path: str) -> str:
        """The choice in brackets of a file such as 'always [madvise] never'."""
        content = self.text(path)
        _, _, rest = content.partition("[")
        word, bracket, _ = rest.partition("]")
        if not bracket:
            raise Unknown(f"/{path} holds '{content[:40]}', no choice in brackets")
        return word

    def names(self, path: str) -> list[str]:
        """Sorted names in a folder."""
        try:
            return sorted(os.listdir(self._at(path)))  # noqa: PTH208
        except OSError as error:
            raise unreadable(error, path) from error

    def link(self, path: str) -> str:
        """Last name of what a symbolic link points to: sysfs names a device's driver and bus so."""
        try:
            return os.path.basename(os.readlink(self._at(path)))  # noqa: PTH115, PTH119
        except OSError as error:
            raise unreadable(error, path) from error

    def exists(self, path: str) -> bool:
        """Whether the path is there, followed through links."""
        return os.path.exists(self._at(path))  # noqa: PTH110

    def executable(self, path: str) -> bool:
        """Whether the path is a program that we may run (in a recorded tree: whether it is there)."""
        return os.access(self._at(path), os.X_OK if self.live else os.F_OK)

    def ask(self, question: str, *arguments: str) -> Any:
        """What the kernel answers to one of `kernel.LiveKernel`'s questions; asked once for this object."""
        return self.once(" ".join((question, *arguments)), lambda _: self._kernel.ask(question, *arguments))

    def tell(self, request: str, *arguments: Any, **named: Any) -> None:
        """Have the kernel change something: a request of `kernel.LiveKernel`'s. What was read is forgotten."""
        self._cache.clear()
        self._kernel.tell(request, *arguments, **named)

    def put(self, path: str, content: str) -> None:
        """Write a file of the kernel's, in one write(2), as it asks for. What was read is forgotten."""
        self._cache.clear()
        if not self.exists(path):  # told from a file that answers ENOENT, as tcp_congestion_control does
            raise Unknown(f"no /{path}", absent=True)
        try:
            descriptor = os.open(self._at(path), os.O_WRONLY | os.O_TRUNC)  # never O_CREAT: what isn't there is absent
            try:
                os.write(descriptor, content.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise unwritable(error, path, content) from error

    def once(self, key: str, read: Callable[[Machine], Result]) -> Result:
        """The result of `read`, computed once for this object; Unknown is remembered too."""
        if key not in self._cache:
            try:
                self._cache[key] = read(self)
            except Unknown as unknown:
                self._cache[key] = unknown
        found = self._cache[key]
        if isinstance(found, Unknown):
            raise found
        result: Result = found
        return result


def shared(read: Callable[[Machine], Result]) -> Callable[[Machine], Result]:
    """Decorator: a reading that several facts need is made once a snapshot."""
    key = f"{read.__module__}.{read.__qualname__}"

    @wraps(read)
    def cached(machine: Machine) -> Result:
        return machine.once(key, read)

    return cached
