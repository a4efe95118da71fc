"""The watch's lines in a log."""

from __future__ import annotations

import pytest

from tests.unit.report.net.test_watch import moment
from wulf.cli.net.watch import Lines
from wulf.measure.net.watching import Watching


def test_one_line_a_second_but_every_stream_and_failure(capsys: pytest.CaptureFixture[str]) -> None:
    lines, watching = Lines(), Watching("n1>n2")
    moments = [moment(i / 4) for i in range(9)]
    moments.insert(2, moment(0.3, pattern="stream", quantiles={}, rate=1e9))
    moments.insert(4, moment(0.6, quantiles={}, error="n1: no route"))
    for each in moments:
        watching.take(each)
        lines(watching, each)
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in said] == ["p50", "rate", "×", "p50", "p50"]
