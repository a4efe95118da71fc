"""Agents on a lab's nodes, by ssh, with a mechanism that the product lacks: any command reads, any command writes."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import wulf

SHELL = """
import subprocess
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown

class Shell(Mechanism):
    words = ("read", "write")

    def _run(self, command):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        if done.returncode:
            raise Unknown(done.stderr.strip() or f"status {done.returncode}")
        return done.stdout.strip()

    def read(self, machine, target, place):
        return self._run(target["read"])

    def write(self, machine, target, place, value):
        self._run(target["write"].format(value=value))

mechanism = Shell()
"""

KILLED_AT = """
import dataclasses, os, sys
from wulf.agent.changes import operations
live, at = operations.live, sys.argv.pop()
def step(name):
    if name == at:
        os.kill(os.getpid(), 9)
operations.live = lambda: dataclasses.replace(live(), step=step)
from wulf.agent.__main__ import main
sys.exit(main([]))
"""


def agent_tree(folder: Path) -> Path:
    """The agent's sources and one more mechanism: an addition is one file."""
    package = Path(wulf.__file__).parent
    shutil.copytree(package / "agent", folder / "wulf/agent", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(package / "__init__.py", folder / "wulf")
    (folder / "wulf/agent/settings/shell.py").write_text(SHELL)
    return folder


HERE = (sys.executable,)


class Refusal(Exception):  # noqa: N818 - an answer
    """The agent's error: its code, its message."""


class Reached(Protocol):
    """A lab, as ssh sees it."""

    @property
    def ssh_config(self) -> Path | None: ...


class Agent:
    """A session on a node."""

    def __init__(
        self,
        made: Reached,
        node: str,
        tree: Path,
        code: tuple[str, ...] = (),
        python: Sequence[str] = HERE,
        alive: int = 1,
    ) -> None:
        path = f"{tree}:{sysconfig.get_path('purelib')}"
        words = [*python[:-1], "env", f"PYTHONPATH={path}", "PYTHONDONTWRITEBYTECODE=1", python[-1]]
        quoted = " ".join(f"'{word}'" for word in ([*words, "-c", *code] if code else [*words, "-m", "wulf.agent"]))
        command = ["ssh", "-F", str(made.ssh_config), "-o", f"ServerAliveInterval={alive}", node, quoted]
        self.ssh = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self._line()["pid"]

    def _line(self) -> dict[str, Any]:
        assert self.ssh.stdout is not None
        found: dict[str, Any] = json.loads(self.ssh.stdout.readline())
        return found

    def send(self, op: str, **fields: Any) -> None:
        assert self.ssh.stdin is not None
        self.ssh.stdin.write(json.dumps({"id": 1, "op": op, **fields}) + "\n")
        self.ssh.stdin.flush()

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        self.send(op, **fields)
        answer = self._line()
        if not answer["ok"]:
            raise Refusal(answer["error"]["code"], answer["error"]["message"])
        return answer

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.ssh.stdin.close()  # type: ignore[union-attr]
        try:
            self.ssh.wait(30)
        except subprocess.TimeoutExpired:
            self.ssh.kill()
            self.ssh.wait()


@contextlib.contextmanager
def agent(
    made: Reached, node: str, tree: Path, *code: str, python: Sequence[str] = HERE, alive: int = 1
) -> Iterator[Agent]:
    """`python`: its words on the node, perhaps with sudo before it; `alive`: seconds until ssh asks for a word."""
    session = Agent(made, node, tree, code, python, alive)
    try:
        yield session
    finally:
        session.close()
