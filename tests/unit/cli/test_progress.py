"""Progress where there is no terminal."""

from __future__ import annotations

import pytest

from wulf.cli.progress import Plain
from wulf.measure.engine.watcher import EVERY, Progress


def test_a_log_gets_a_line_now_and_then_with_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    line = Plain(lambda: now)
    line.say("starting the probes")
    for seconds in (1.0, EVERY - 1.5, 1.0, 1.0):
        now += seconds
        line.on_progress(Progress(int(now), 400, 300.0, "n1>n2 tcp"))
    now += EVERY
    line.on_progress(Progress(170, 400, None, "n1>n3 tcp"))
    assert capsys.readouterr().err.splitlines() == [
        "starting the probes", "130 of 400, 300 s left: n1>n2 tcp", "170 of 400: n1>n3 tcp",
    ]  # fmt: skip
