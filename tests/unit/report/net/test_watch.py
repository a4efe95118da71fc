"""A watch as text: exactly, and never wider than a terminal of 80 columns."""

from __future__ import annotations

import re

from tests.wording import Wording, lacking
from wulf.measure.net.watching import Busy, Moment, Watching
from wulf.report.net.watch import elapsed, one_line, sparkline, view


def moment(seconds: float, p50: float = 18.5e-6, **more: object) -> Moment:
    content = {
        "seconds": seconds, "at": "t", "pattern": "pingpong", "rate": None, "retransmits": 0, "error": "",
        "quantiles": {"0.5": p50, "0.9": p50 * 1.1, "0.99": p50 * 2}, "verdict": (),
        "busy": {"client": Busy(0.12, 0.5), "server": Busy(0.2, 1.0)},
    }  # fmt: skip
    return Moment(**{**content, **more})  # type: ignore[arg-type]


def watched(*more: Moment) -> tuple[Watching, Moment]:
    watching = Watching("n1>n2")
    moments = [moment(i / 2, (18 + i % 5 / 10) * 1e-6) for i in range(60)]
    moments.append(moment(30, pattern="stream", quantiles={}, rate=1.1e9, retransmits=3))
    for each in [*moments, *more]:
        watching.take(each)
    return watching, [*moments, *more][-1]


def test_the_view_exactly(wording: Wording) -> None:
    watching, last = watched(moment(30.5, retransmits=1, verdict=("window-bound: a larger buffer would help",)))
    lines = view(watching, last)
    rows = [re.split(r" {2,}", line.strip()) for line in lines]
    assert rows[0] == ["n1 → n2", "30 s, 62 replicates"]
    assert rows[2:6] == [
        ["round trip", "now", "overall", "95 % at all times"],
        ["p50", "18.5 µs", "18.2 µs", "18–18.4 µs"],
        ["p90", "20.4 µs", "20 µs", "19.8–20.2 µs"],
        ["p99", "37 µs", "36.4 µs", "36–36.8 µs"],
    ]
    assert lines[6].startswith("  last minute   " + "·" * 29)
    assert rows[7:10] == [["p50 18.1–18.5 µs"], ["rate", "8.8 Gbit/s", "–", "–"], ["retransmits", "1 now, 4 in all"]]
    assert lacking(lines[10], "n1 12%", "n2 20%", "CPU 50%", "CPU 100%") == []
    assert "window-bound: " in lines[11]
    assert lines[-1].startswith("Ctrl-C ")
    wording("\n".join(lines))


def test_nothing_is_wider_than_79_columns() -> None:
    long = "a reason that goes on and on, " * 10
    watching, last = watched(moment(4000, quantiles={}, error=long, verdict=(long,)))
    watching.subject = f"{'n' * 60}1>{'n' * 60}2"
    assert max(map(len, view(watching, last))) <= 79
    assert len(one_line(watching, last)) <= 79


def test_one_line() -> None:
    watching, last = watched(moment(31))
    fields = one_line(watching, last).strip().split("  ")
    assert fields == ["31 s", "p50 18.5 µs", "p99 37 µs", "overall 18.2 µs (18–18.4 µs)"]
    watching, last = watched(moment(32, quantiles={}, error="n1: no route"))
    assert one_line(watching, last) == "      32 s  × n1: no route"
    watching, last = watched(moment(33, pattern="stream", quantiles={}, rate=1.25e9, retransmits=2))
    assert one_line(watching, last) == "      33 s  rate 10 Gbit/s  retransmits 2"


def test_the_first_moment_has_no_interval_yet() -> None:
    watching = Watching("n1>n2")
    watching.take(moment(0))
    assert "overall" not in one_line(watching, moment(0))
    assert "–   –" in view(watching, moment(0))[3]


def test_sparkline() -> None:
    assert sparkline([1.0, 2.0, None, 8.0]) == "▁▂·█"
    assert sparkline([None, None]) == "··"
    assert sparkline([3.0, 3.0]) == "▁▁"


def test_elapsed() -> None:
    assert [elapsed(s) for s in (41.9, 200, 7500)] == ["41 s", "3 min 20 s", "2 h 5 min"]
