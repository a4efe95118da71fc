"""Who changes settings and takes them back: tuned, wulf's agent, and the script that `wulf tune export` writes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Protocol

from bench.engine.errors import BenchError

Values = dict[str, int]
"""Key of sysctl → value."""

CONFIRM_S = 2.0
"""Seconds within which wulf's agent wants to hear from its controller."""

STEP_S, PATIENCE_S = 0.02, 30.0


class Contender(Protocol):
    """One way; `before` and `after` are the settings' values."""

    def __init__(self, before: Values, after: Values, tuned: str) -> None: ...

    def begin(self) -> None:
        """Start changing, and don't wait."""

    def applied(self) -> None:
        """Wait until it says that it is through."""

    def kill(self) -> None:
        """SIGKILL."""

    def undo(self) -> None:
        """Take back in the ordinary way."""

    def recover(self) -> None:
        """After a kill: what brings it back, as its documentation has it."""


class Tuned:
    """The daemon with a profile of sysctls; it is started again after a kill, as systemd would, and stopped."""

    def __init__(self, before: Values, after: Values, tuned: str) -> None:
        folder = Path("/etc/tuned/bench")
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{key}={value}" for key, value in after.items()]
        (folder / "tuned.conf").write_text("\n".join(["[main]", "summary=bench", "[sysctl]", *lines, ""]))
        self._log = Path("/run/tuned.log")
        self._command = [*shlex.split(tuned), "--no-dbus", "--no-socket", "-p", "bench"]

    def begin(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=self._log.open("w"), stderr=subprocess.STDOUT)

    def applied(self) -> None:
        until(lambda: "static tuning from profile 'bench' applied" in self._log.read_text(), "tuned applies a profile")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def undo(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)

    def recover(self) -> None:
        self.begin()
        self.applied()
        self.undo()


class Agent:
    """wulf's agent as a session; after a kill `wulf-agent --revert`."""

    def __init__(self, before: Values, after: Values, tuned: str) -> None:
        os.environ["WULF_STATE"] = "/run/wulf"
        self._asked = [
            {"name": f"bench.{number}", "mechanism": "sysctl", "target": {"key": key}, "place": "", "value": value}
            for number, (key, value) in enumerate(after.items())
        ]

    def begin(self) -> None:
        words = [sys.executable, "-m", "wulf.agent"]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()
        self._say("change_apply", campaign="bench", by="bench", settings=self._asked, confirm=CONFIRM_S)

    def _say(self, op: str, **fields: object) -> None:
        assert self._process.stdin is not None
        print(json.dumps({"id": 1, "op": op, **fields}), file=self._process.stdin, flush=True)

    def _answer(self) -> None:
        assert self._process.stdout is not None
        said = json.loads(self._process.stdout.readline())
        if not said.get("ok", "hello" in said):
            raise BenchError(f"the agent says {said}")

    def applied(self) -> None:
        self._answer()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def undo(self) -> None:
        self._say("change_revert", campaign="bench")
        self._answer()
        self._process.communicate()

    def recover(self) -> None:
        subprocess.run([sys.executable, "-m", "wulf.agent", "--revert"], stdout=subprocess.DEVNULL, check=False)


class Script:
    """The exported script: `apply`, and `revert` in any case."""

    def __init__(self, before: Values, after: Values, tuned: str) -> None:
        from wulf.tune.export import export
        from wulf.tune.export.entry import Entry, Source
        from wulf.tune.kept import Kept
        from wulf.tune.setting import Setting

        entries = []
        for number, (key, value) in enumerate(after.items()):
            setting = Setting(
                name=f"bench.s{number}", title=key, what=key, why=key, type="int", mechanism="sysctl",
                target={"key": key}, scope="netns", tested="netns",
            )  # fmt: skip
            kept = Kept(name=setting.name, value=value, before=before[key])
            entries.append(Entry(setting, kept, Source("bench", "bench")))
        self._path = Path("/run/wulf-settings.sh")
        self._path.write_text(export(entries, "shell").files["wulf-settings.sh"])

    def _run(self, word: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sh", self._path, word], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def begin(self) -> None:
        self._process = self._run("apply")

    def applied(self) -> None:
        self._process.wait(PATIENCE_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def undo(self) -> None:
        self._run("revert").wait(PATIENCE_S)

    def recover(self) -> None:
        self.undo()


def until(true: object, what: str) -> None:
    """Wait until `true` is. BenchError after PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while not (callable(true) and true()):
        if time.monotonic() > end:
            raise BenchError(f"not within {PATIENCE_S:g} s: {what}")
        time.sleep(STEP_S)


CONTENDERS: dict[str, type[Contender]] = {"wulf's agent": Agent, "wulf's script": Script, "tuned": Tuned}
