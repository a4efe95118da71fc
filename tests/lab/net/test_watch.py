"""The watch on a real lab: for programs, in a terminal of 80 columns, ended by its reader, by Ctrl-C, by its budget."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import HANG, WULF, wulf
from wulf import lab as labs
from wulf.store.run import read_run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def two(two_nodes: labs.Lab) -> dict[str, str]:
    """The environment in which a lab of two nodes is the running one."""
    return os.environ | {"WULF_LAB": two_nodes.name}


@pytest.mark.full
def test_a_budget_ends_it_and_the_run_is_kept(two: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["watch", "n1", "n2", "--lab", "--json", "--budget", "4s", "--interval", "0.1", "--out", str(out)]
    done = wulf(*words, env=two | {"WULF_TEST_MARK": os.environ["WULF_TEST_MARK"]})
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["pattern"] for line in lines} == {"pingpong", "stream"}
    assert all(line["ok"] for line in lines)
    run = read_run(out)
    assert len(run.replicates) == len(lines)
    assert run.meta["state"] == "complete"
    last = [line for line in lines if line["pattern"] == "pingpong"][-1]
    assert 1e-6 < last["rtt"]["0.5"] < 1e-1
    assert set(last["busy"]) == {"client", "server"}
    assert "run:" in done.stderr


def started(words: list[str], two: dict[str, str], **more: Any) -> subprocess.Popen[str]:
    environment = two | {"WULF_TEST_MARK": os.environ["WULF_TEST_MARK"]}
    return subprocess.Popen(
        [*WULF, "watch", "n1", "n2", "--lab", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment, **more,
    )  # fmt: skip


@pytest.mark.command("watch")
def test_json_streams_and_ends_quietly_when_its_reader_goes(two: dict[str, str], tmp_path: Path) -> None:
    process = started(["--json", "--no-stream", "--out", str(tmp_path / "run")], two)
    assert process.stdout is not None
    assert process.stderr is not None
    first = json.loads(process.stdout.readline())
    assert first["replicates"] == 1, "it came at once, not when a buffer was full"
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(timeout=HANG) == 0, said
    assert "Traceback" not in said
    assert "Broken" not in said
    assert read_run(tmp_path / "run").meta["state"] == "interrupted"


@pytest.mark.full
def test_ctrl_c_keeps_what_was_measured(two: dict[str, str], tmp_path: Path) -> None:
    process = started(["--out", str(tmp_path / "run")], two)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert "p50" in lines[0] + lines[1]
    assert max(len(line.rstrip("\n")) for line in lines) <= 80
    run = read_run(tmp_path / "run")
    assert run.meta["state"] == "interrupted"
    assert {r.metric for r in run.records} >= {"rtt", "throughput"}


@pytest.mark.full
def test_a_view_in_a_terminal_of_80_columns(two: dict[str, str], tmp_path: Path) -> None:
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {k: v for k, v in two.items() if k not in ("COLUMNS", "NO_COLOR", "TERM")} | {
        "TERM": "xterm", "WULF_TEST_MARK": os.environ["WULF_TEST_MARK"],
    }  # fmt: skip
    words = [*WULF, "watch", "n1", "n2", "--lab", "--budget", "5s", "--interval", "0.2", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=environment)
    os.close(theirs)
    try:
        screen = drained(mine)
        process.communicate(timeout=HANG)
    finally:
        process.kill()
        process.communicate(timeout=HANG)
        os.close(mine)
    assert process.returncode == 0
    assert "\x1b[2K" in screen, "it is redrawn in place"
    assert screen.endswith(("\x1b[?25h", "\x1b[?25h\r\n")), "and the cursor is shown again"
    plain = ESCAPES.sub("", screen)
    assert not plain.rstrip().endswith("is kept."), "what is over can't be ended"
    assert max(len(line) for line in re.split(r"[\r\n]+", plain)) <= 80
    for word in ("round trip", "p50", "p99", "last minute", "rate", "retransmits", "CPU busy", "Gbit/s"):
        assert word in plain, word


def drained(terminal: int, seconds: float = HANG) -> str:
    """Everything that is written to a terminal until nobody holds it open any more."""
    read, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            read += os.read(terminal, 65536)
        except OSError:  # EIO: the other end is closed
            return read.decode()
    pytest.fail(f"it did not end within {seconds:g} s")
