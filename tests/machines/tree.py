"""Recorded machines: one text file holds the files of a tree, so that a machine is read and edited in one place.

    == proc/swaps          a file; its contents follow, up to the next mark
    =x sys/.../DMI         a file of bytes; they follow in hexadecimal
    => sys/.../driver      a symbolic link; the next line is its target
    =/ sys/class/ptp       an empty folder

Beside `tree.txt` lie `answers.json`, what the kernel answers to system calls, and `expected.json`, the facts.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The recorded machines."""
    return sorted(path.parent.name for path in FOLDER.glob("*/tree.txt"))


def unpack(name: str, root: Path) -> Path:
    """Lay a recorded machine out under `root`, which then stands for `/`."""
    for mark, path, contents in _entries((FOLDER / name / "tree.txt").read_text(encoding="utf-8")):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if mark == "==":
            target.write_text(contents, encoding="utf-8")
        elif mark == "=x":
            target.write_bytes(bytes.fromhex(contents))
        elif mark == "=>":
            target.symlink_to(contents.strip())
        else:
            target.mkdir(parents=True, exist_ok=True)
    shutil.copy(FOLDER / name / "answers.json", root)
    return root


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    mark = path = ""
    contents: list[str] = []
    for line in text.splitlines(keepends=True):
        if line[:3] in ("== ", "=x ", "=> ", "=/ "):
            if path:
                yield mark, path, "".join(contents)
            mark, path, contents = line[:2], line[3:].strip(), []
        else:
            contents.append(line)
    yield mark, path, "".join(contents)


def with_binary(text: str, path: str, content: bytes) -> str:
    """A tree's text with a file of bytes, in the place of one of that name."""
    kept = "".join(f"{mark} {name}\n{own}" for mark, name, own in _entries(text) if name != path)
    lines = [content[at : at + 56].hex() for at in range(0, len(content), 56)]
    return kept + "\n".join([f"=x {path}", *lines, ""])


def expected(name: str) -> dict[str, Any]:
    """The facts that the recorded machine should give."""
    facts: dict[str, Any] = json.loads((FOLDER / name / "expected.json").read_text(encoding="utf-8"))
    return facts


def write_json(path: Path, content: dict[str, Any]) -> None:
    """One line an entry: a changed fact is a changed line."""
    rows = [f"  {json.dumps(key)}: {json.dumps(content[key], ensure_ascii=False)}" for key in sorted(content)]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
