"""Work on a disk that may never answer."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from tests.processes import PATIENCE
from wulf.agent.files.disk import Disk


def test_what_work_returns_or_raises_is_its_callers() -> None:
    disk = Disk()
    assert disk.do(lambda: 7) == 7
    with pytest.raises(FileNotFoundError):
        disk.do(Path("/nowhere/at/all").stat)
    with pytest.raises(KeyboardInterrupt):
        disk.do(_interrupted)
    with pytest.raises(TimeoutError, match="of the work's own"):
        disk.do(_times_out)


def _interrupted() -> None:
    raise KeyboardInterrupt


def _times_out() -> None:
    raise TimeoutError("of the work's own")


def test_silence_is_an_error_at_once_until_it_answers() -> None:
    disk, speak, ended = Disk(patience=0.01), threading.Event(), threading.Event()
    steps: list[str] = []

    def work() -> None:
        try:
            speak.wait(PATIENCE)
            steps.append("one")
            disk.go_on()
            steps.append("two")
        finally:
            ended.set()

    with pytest.raises(OSError, match="silent") as caught:
        disk.do(work)
    assert caught.value.errno == errno.ETIMEDOUT
    disk.go_on()  # of another thread
    with pytest.raises(OSError, match="silent"):
        disk.do(lambda: steps.append("not begun"))
    speak.set()
    assert ended.wait(PATIENCE)
    assert disk._given_up is not None
    disk._given_up.join(PATIENCE)
    disk.do(lambda: steps.append("begun"))
    assert steps == ["one", "begun"]


def test_no_memory_for_a_thread_is_an_error_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    with pytest.raises(OSError, match="temporarily unavailable"):
        Disk().do(lambda: 1)
