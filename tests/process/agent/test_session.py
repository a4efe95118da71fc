"""The agent's session over real pipes: greeting, answers, errors, and its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machines import tree
from wulf import __version__
from wulf.agent.session import GRACE, MAX_RUNNING, _Session

AGENT = [sys.executable, "-m", "wulf.agent"]


class Talk:
    """A session, one line at a time."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.greeting = self.answer()

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def ask(self, **request: Any) -> dict[str, Any]:
        self.send(json.dumps({"id": 1, **request}))
        return self.answer()

    def close(self) -> tuple[int, bytes]:
        """Close stdin; the exit status and what was said on stderr."""
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


@pytest.fixture
def talk() -> Iterator[Talk]:
    session = Talk()
    yield session
    session.process.kill()
    session.process.communicate()


def test_greeting(talk: Talk) -> None:
    assert talk.greeting == {
        "hello": "wulf-agent",
        "version": __version__,
        "protocol": 1,
        "host": os.uname().nodename,
        "arch": os.uname().machine,
        "pid": talk.process.pid,
    }


def test_ping_keeps_the_requests_id(talk: Talk) -> None:
    assert talk.ask(id=-7, op="ping") == {"id": -7, "ok": True}


def test_describe_is_what_the_option_prints(talk: Talk) -> None:
    printed = json.loads(subprocess.run([*AGENT, "--describe"], capture_output=True, check=True).stdout)
    assert talk.ask(op="describe")["describe"] == printed
    assert {"addresses", "describe", "facts", "mpi_find", "ping", "relay", "run"} <= set(printed["ops"])
    mtu = next(fact for fact in printed["facts"] if fact["name"] == "nic.*.mtu")
    assert (mtu["unit"], mtu["uniform"]) == ("B", True)


@pytest.mark.parametrize(
    ("line", "identifier", "code", "field"),
    [
        ("nonsense", None, "bad-json", None),
        ("[1]", None, "bad-json", None),
        ("[" * 100_000, None, "bad-json", None),
        ('{"op": "ping"}', None, "bad-parameter", "id"),
        ('{"id": true, "op": "ping"}', None, "bad-parameter", "id"),
        ('{"id": "1", "op": "ping"}', None, "bad-parameter", "id"),
        ('{"id": 3}', 3, "bad-parameter", "op"),
        ('{"id": 3, "op": 4}', 3, "bad-parameter", "op"),
        ('{"id": 3, "op": "fly"}', 3, "unknown-op", "op"),
        ('{"id": 3, "op": "ping", "hard": 1}', 3, "bad-parameter", "hard"),
        ('{"id": 3, "op": "facts", "root": "/no/such"}', 3, "bad-parameter", "root"),
        ('{"id": 3, "op": "facts", "root": 5}', 3, "bad-parameter", "root"),
        ('{"id": 3, "op": "run", "probe": "chase"}', 3, "bad-parameter", "probe"),
        ('{"id": 3, "op": "run", "probe": "dgemm", "params": {"rows": 3}}', 3, "bad-parameter", "params"),
        ('{"id": 3, "op": "run", "probe": "dgemm", "params": {"n": 0}}', 3, "bad-parameter", "n"),
        ('{"id": 3, "op": "facts", "only": "cpu"}', 3, "bad-parameter", "only"),
        ('{"id": 3, "op": "facts", "only": ["cpu", "cqu"]}', 3, "bad-parameter", "only"),
        ('{"id": 3, "x": "' + "x" * (1 << 20) + '"}', None, "limit", None),
    ],
)
def test_bad_requests_are_answered_and_harm_nothing(
    talk: Talk, line: str, identifier: int | None, code: str, field: str | None
) -> None:
    talk.send(line)
    answer = talk.answer()
    assert (answer["id"], answer["ok"]) == (identifier, False)
    assert answer["error"]["code"] == code
    assert answer["error"].get("field") == field
    assert answer["error"]["message"]
    assert talk.ask(id=9, op="ping") == {"id": 9, "ok": True}


def test_facts_of_a_recorded_machine(talk: Talk, tmp_path: Path) -> None:
    root = tree.unpack("xeon-2-sockets", tmp_path)
    answer = talk.ask(op="facts", root=str(root), only=["cpu.governor"])
    governor = {"value": "performance:0-1 powersave:2-3", "provenance": "reported"}
    assert answer == {"id": 1, "ok": True, "facts": {"cpu.governor": governor}}


def test_facts_of_this_machine_agree_with_the_system(talk: Talk) -> None:
    facts = talk.ask(op="facts", only=["kernel", "cpu.online", "limits.cpus"])["facts"]
    assert facts["kernel.release"]["value"] == os.uname().release
    assert facts["kernel.architecture"]["value"] == os.uname().machine
    assert facts["kernel.boot_id"]["value"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_addresses_are_of_global_scope(talk: Talk) -> None:
    answer = talk.ask(op="addresses")
    assert answer["ok"], answer
    for row in answer["addresses"]:
        assert set(row) == {"interface", "address", "prefix", "family"}
        assert row["family"] in ("inet", "inet6")
        assert not row["address"].startswith(("127.", "fe80:", "::1"))


def test_requests_run_concurrently(talk: Talk) -> None:
    count = 20
    for identifier in range(count):
        talk.send(json.dumps({"id": identifier, "op": "facts" if identifier % 2 else "ping"}))
    answers = [talk.answer() for _ in range(count)]
    assert sorted(answer["id"] for answer in answers) == list(range(count))
    assert all(answer["ok"] for answer in answers)
    assert answers[0]["id"] == 0


def test_it_ends_when_stdin_closes_and_says_nothing_else(talk: Talk) -> None:
    started = time.monotonic()
    assert talk.close() == (0, b"")
    assert time.monotonic() - started < GRACE  # nothing was under way, so that nothing was waited for


def test_requests_under_way_are_answered_before_the_end() -> None:
    done = subprocess.run(AGENT, input=b'{"id": 1, "op": "facts"}\n', capture_output=True, timeout=30, check=True)
    greeting, answer = (json.loads(line) for line in done.stdout.splitlines())
    assert greeting["hello"] == "wulf-agent"
    assert answer["ok"]
    assert done.stderr == b""


class InProcess:
    """A session in this process whose one operation, 'wait', ends when it is told to."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        requests, self.requests = os.pipe()
        answers, writing = os.pipe()
        self.answers = os.fdopen(answers, "rb")
        session = _Session({"wait": self.wait, "ping": lambda: {}}, writing)
        self.thread = threading.Thread(target=session.serve, args=(os.fdopen(requests, "rb"),))
        self.thread.start()

    def wait(self) -> dict[str, Any]:
        assert self.go_on.wait(60)
        return {}

    def send(self, identifier: int, operation: str) -> None:
        os.write(self.requests, json.dumps({"id": identifier, "op": operation}).encode() + b"\n")

    def answer(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.answers.readline())
        return found

    def close(self) -> None:
        os.close(self.requests)
        self.thread.join(30)
        assert not self.thread.is_alive()


def test_a_request_that_hangs_keeps_neither_the_session_busy_nor_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wulf.agent.session.GRACE", 0.05)
    session = InProcess()
    session.send(1, "wait")
    session.send(2, "ping")
    assert session.answer() == {"id": 2, "ok": True}
    session.close()
    session.go_on.set()


def test_too_many_requests_at_once_are_refused_and_an_answer_makes_room() -> None:
    session = InProcess()
    for identifier in range(MAX_RUNNING):
        session.send(identifier, "wait")
    session.send(99, "ping")
    assert session.answer()["error"]["code"] == "limit"
    session.go_on.set()
    for identifier in range(100, 200):
        session.answer()
        session.send(identifier, "ping")
    answers = [session.answer() for _ in range(MAX_RUNNING)]
    assert all(answer["ok"] for answer in answers)
    session.close()


def test_interrupted_by_hand(talk: Talk) -> None:
    talk.process.send_signal(signal.SIGINT)
    talk.process.wait(20)  # its input is open still: the end of that is a way to end of its own
    _, said = talk.process.communicate(timeout=20)
    assert (talk.process.returncode, said) == (130, b"")


def test_it_ends_when_nobody_reads_its_answers(talk: Talk) -> None:
    assert talk.process.stdout is not None
    talk.process.stdout.close()
    talk.send('{"id": 1, "op": "describe"}')
    talk.send('{"id": 2, "op": "describe"}')
    assert talk.process.wait(timeout=20) == 0


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--version", 0), ("--fly", 2), ("facts", 2)])
def test_command_line(argument: str, status: int) -> None:
    done = subprocess.run([*AGENT, argument], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == status
    assert bool(done.stdout) == (status == 0)
    assert bool(done.stderr) == (status != 0)
