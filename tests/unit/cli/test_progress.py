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
        "starting the probes", "130 of 400, 5 min left: n1>n2 tcp", "170 of 400: n1>n3 tcp",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (None, None, ""), (0.2, None, "1 s left"), (7.2, 7.9, "8 s left"), (24.0, 110.0, "25 s – 2 min left"),
        (61.0, 119.0, "2 min left"), (58.0, 170.0, "1–3 min left"), (3000.0, 9000.0, "50 min – 3 h left"),
    ],
)  # fmt: skip
def test_the_time_left_is_said_with_the_most_that_it_may_take(
    least: float | None, most: float | None, said: str
) -> None:
    assert Progress(1, 400, least, "", most).left == said
