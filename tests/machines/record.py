"""Records the machine it runs on as a tree that the facts can be read from: only the files that they read.

    python -m tests.machines.record NAME

Then trim `tests/machines/NAME/tree.txt` by hand, and write the expected facts with
`WULF_UPDATE=1 pytest tests/unit/agent/test_machines.py`. What names a machine or a boot is masked; look through
the kernel's command line yourself before you publish it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.machines.tree import FOLDER, write_json
from wulf.agent import facts
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

_SYSTEM = ("/usr/", "/bin", "/sbin", "/opt/")
_MASKS = {"proc/sys/kernel/random/boot_id": "00000000-0000-0000-0000-000000000000"}


class Recorder(Machine):
    """The live machine, which remembers all that is read of it."""

    def __init__(self) -> None:
        super().__init__("/")
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.seen: set[str] = set()
        self.answers: dict[str, Any] = {}

    def text(self, path: str) -> str:
        if self.exists(path):
            self.files.setdefault(path, "")
        content = super().text(path)
        self.files[path] = _masked(path, content)
        return content

    def names(self, path: str) -> list[str]:
        found = super().names(path)
        self.seen.update([path, *(f"{path}/{name}" for name in found if _tells(path, name))])
        return found

    def link(self, path: str) -> str:
        name = super().link(path)
        self.links[path] = name
        return name

    def exists(self, path: str) -> bool:
        there = super().exists(path)
        if there:
            self.seen.add(path)
        return there

    def executable(self, path: str) -> bool:
        there = super().executable(path)
        if there:
            self.seen.add(path)
        return there

    def ask(self, question: str, *arguments: str) -> Any:
        key = " ".join((question, *arguments))
        try:
            answer = super().ask(question, *arguments)
        except Unknown as unknown:
            self.answers[key] = {"unknown": unknown.reason, "absent": unknown.absent}
            raise
        # Folders of the user's own would tell who he is; those of the system are the same everywhere.
        kept = [folder for folder in answer if folder.startswith(_SYSTEM)] if key == "path" else answer
        # Neighbours' names, addresses and identifiers are other machines'.
        self.answers[key] = {"unknown": "not recorded"} if key == "neighbours" else kept
        return answer

    def tree(self) -> str:
        """All of it, as `tree.txt` holds it."""
        entries = {path: f"== {path}\n{content}\n" for path, content in self.files.items()}
        entries.update({path: f"=> {path}\n../{target}\n" for path, target in self.links.items()})
        for path in self.seen - entries.keys():
            if Path("/", path).is_dir():
                if not any(other.startswith(path + "/") for other in (*entries, *self.seen)):
                    entries[path] = f"=/ {path}\n"
            else:
                entries[path] = f"== {path}\n"
        return "".join(entries[path] for path in sorted(entries))


def _masked(path: str, content: str) -> str:
    if path.startswith("sys/class/net/") and path.endswith("/address"):
        return f"{content[:2]}:00:00:00:00:00"
    return _MASKS.get(path, content)


def _tells(folder: str, name: str) -> bool:
    """Whether a listing's entry matters to a fact though nothing below it may be read."""
    return "/queues" in folder or name.startswith("lower_") or folder in ("sys/class/net", "sys/class/ptp")


def main() -> int:
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m tests.machines.record NAME\n")
        return 2
    folder: Path = FOLDER / sys.argv[1]
    with Recorder() as machine:
        facts.read(machine)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tree.txt").write_text(machine.tree(), encoding="utf-8")
        write_json(folder / "answers.json", machine.answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
