"""Histories in 80 columns, and as a page that is sound, closed and escaped."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.unit.report.make_run import EVIL
from tests.unit.report.run.test_html import PLOTLY, Checker
from tests.wording import Wording, lacking
from wulf.findings.history import CoincidentChange, JudgedSeries, MetricHistory, SeriesStep
from wulf.report.compare.history import (
    amount,
    as_objects,
    fact_text,
    fact_texts,
    headline,
    history_view,
    place_text,
)
from wulf.report.kit.page import render_view, write_view
from wulf.report.kit.terminal import print_view
from wulf.report.kit.trends import MAX_POINTS, Trend, trend_chart
from wulf.report.kit.view import walk
from wulf.stats.series.changes import Change
from wulf.store.history import Point, Series, Source
from wulf.store.reading import StoreError

RISE = Change(30, 30, 30, 0.005, 18.5e-6, 24.1e-6, 5.6e-6, 5.4e-6, 5.8e-6, 1.301, 1.288, 1.315, 0.95)
FALL = replace(
    RISE, at=45, earliest=43, latest=45, before=24.1e-6, after=20e-6, shift=-4e-6, shift_low=-5e-6, shift_high=-3e-6,
    ratio=0.83, ratio_low=0.8, ratio_high=0.86,
)  # fmt: skip


def told(
    count: int = 60, *changes: Change, subject: str = "n1>n2", facts: tuple[CoincidentChange, ...] = ()
) -> JudgedSeries:
    values = np.random.default_rng(1).lognormal(sigma=0.02, size=count) * 18.5e-6
    for each in changes:
        values[each.at :] *= each.ratio or 1.0
    points = tuple(
        Point(Source(Path("r"), f"20260901T0630-survey-{i:04x}", f"2026-09-{1 + i // 3 % 28:02d}T06:30:00Z", "0.1"), v)
        for i, v in enumerate(values.tolist())
    )
    params = {"transport": "tcp", "pattern": "pingpong", "bytes": 1}
    series = Series(subject, "rtt", "s", params, points, 2, "lower")
    return JudgedSeries(series, tuple(SeriesStep(each, facts) for each in changes))


KERNEL = CoincidentChange("n1", "kernel.release", "6.1.0-28", "6.1.0-31")


def history(*series: JudgedSeries, **more: tuple[tuple[str, int], ...]) -> MetricHistory:
    return MetricHistory("rtt", series, 60, 0.05, **more)  # type: ignore[arg-type]


def hostile() -> MetricHistory:
    evil = told(60, RISE, subject=f"{EVIL}>\x1b[31m", facts=(CoincidentChange(EVIL, EVIL, EVIL, "\x1b[2J"),))
    points = tuple(replace(point, run=replace(point.run, id=EVIL, started=EVIL)) for point in evil.series.points)
    series = replace(evil.series, points=points, unit="s", params={"transport": EVIL, EVIL: EVIL})
    return MetricHistory(EVIL, (replace(evil, series=series),), 60, 0.05, ((EVIL, EVIL),), ((EVIL, 1),))


SHAPES = {
    "changed": lambda: history(told(60, RISE, FALL, facts=(KERNEL,)), told(60, subject="n1>n3")),
    "unchanged": lambda: history(told(60)),
    "nothing usable": lambda: history(told(0)),
    "one run": lambda: history(told(1)),
    "many": lambda: history(*(told(60, RISE, subject=f"n{i}>n{i + 1}") for i in range(60))),
    "long": lambda: history(told(5000, RISE)),
    "hostile": hostile,
}


def shown(of: MetricHistory, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), record=True, color_system=None)
    print_view(history_view(of), console)
    return console.export_text().splitlines()


def charts(of: JudgedSeries) -> list[dict[str, Any]]:
    return [trend_chart(one) for one in walk(history_view(history(of)).sections) if isinstance(one, Trend)]


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_fits(shape: str, width: int) -> None:
    lines = shown(SHAPES[shape](), width)
    assert max(map(len, lines)) <= width
    assert "\x1b" not in "".join(lines)


def test_a_series_exactly(wording: Wording) -> None:
    lines = shown(history(told(60, RISE, FALL, facts=(KERNEL,))))
    assert lacking(lines[0], "round trip changed", " 1 of 1 series", " 60 runs") == []
    assert lacking(lines[2], "n1 → n2, tcp pingpong, 1 B", " 60 runs, 2 left out") == []
    assert lines[3].startswith("  ▁")
    assert lines[4].index("1") == 2 + 30
    assert lines[4].index("2") == 2 + 45
    assert lacking(lines[6], "1 WORSE", "18.5 → 24.1 µs", "+30.1 % (+28.8 to +31.5)", "p 0.005") == []
    assert lacking(lines[7], "2026-09-11 06:30", "20260901T0630-survey-001e") == []
    assert lacking(lines[10], "2 BETTER", "24.1 → 20.0 µs", "-17.0 % (-20.0 to -14.0)", "p 0.005") == []
    assert lacking(lines[11], "2026-09-16 06:30", "20260901T0630-survey-002d", " 2 runs earlier") == []
    assert all("n1 kernel.release: 6.1.0-28 → 6.1.0-31" in line for line in (lines[8], lines[12]))
    wording("\n".join(lines[:3] + lines[5:13]))


def test_a_terminal_says_what_it_has_no_room_for() -> None:
    swings = [replace(RISE if i % 2 else FALL, at=4 * i, earliest=4 * i, latest=4 * i) for i in range(1, 15)]
    facts = tuple(CoincidentChange(f"n{i}", "cpu.model", None, str(i)) for i in range(10))
    of = history(*(told(60, *swings, subject=f"n0>n{i}", facts=facts) for i in range(24)), *[told(60)] * 13)
    lines, page = shown(of), render_view(history_view(of))
    assert "  and 4 more changed series" in lines
    assert lines.count("  and 2 earlier changes") == 20
    assert lines.count("  and 2 more facts") == 20 * 12
    assert "  and 1 more series without a change" in lines
    assert page.count('class="finding') == 24 * 14
    assert page.count("cpu.model") == 24 * 14 * 10


def test_the_headline_says_what_is_worse_now(wording: Wording) -> None:
    same, worse = headline(history(told(60))), headline(history(told(60, RISE), told(60)))
    assert lacking(same, "No change", " 1 series", " 60 runs") == []
    assert lacking(worse, " 1 of 2 series", " 60 runs", " 1 is worse now") == []
    wording(f"{same}\n{worse}")


def test_verdicts() -> None:
    rise = told(60, RISE)
    assert rise.verdict(rise.steps[0]) == "worse"
    higher = replace(rise, series=replace(rise.series, better="higher"))
    assert higher.verdict(higher.steps[0]) == "better"
    nobody = replace(rise, series=replace(rise.series, better=""))
    assert (nobody.verdict(nobody.steps[0]), nobody.worse_now) == ("changed", False)
    assert "says which way is better" in " ".join(shown(history(nobody)))
    spread = told(60, replace(RISE, shift_low=-1e-6))
    assert (spread.verdict(spread.steps[0]), spread.worse_now) == ("spread", False)
    assert not told(60, RISE, FALL).worse_now


def test_the_worst_series_come_first() -> None:
    of = history(told(60, RISE, FALL, subject="a"), told(60, subject="b"), told(60, RISE, subject="c"))
    assert [one.series.subject for one in of.changed] == ["c", "a"]


def test_amounts() -> None:
    assert amount(RISE, "s") == "+30.1 % (+28.8 to +31.5)"
    assert amount(replace(RISE, ratio=25.0, ratio_low=20.0, ratio_high=31.0), "s") == "×25 (20 to 31)"
    assert amount(replace(RISE, ratio=None), "s") == "+5.6 µs (+5.4 to +5.8)"
    assert amount(replace(RISE, ratio_low=None), "s") == "+30.1 %"
    assert amount(replace(RISE, ratio=None, shift=3.0, shift_low=None, shift_high=None), "1") == "+3"


def test_facts_in_words(wording: Wording) -> None:
    earlier = fact_text(CoincidentChange("n1", "nic.eth0.offload.gro", True, False, -1))
    assert lacking(earlier, "n1 nic.eth0.offload.gro: yes → no", "1 run earlier") == []
    assert fact_text(CoincidentChange("", "wulf version", "0.1", None, 2)) == "wulf version: 0.1 → none (2 runs later)"
    boots = (CoincidentChange("n1", "kernel.boot_id", "a", "b"), CoincidentChange("n2", "kernel.boot_id", "c", "d"))
    both = (*boots, KERNEL, replace(KERNEL, node="n2", off=1))
    reboots, first, second = fact_texts(both)
    assert lacking(reboots, "n1 and n2", "rebooted") == []
    assert first == "n1 kernel.release: 6.1.0-28 → 6.1.0-31"
    assert lacking(second, "n2 kernel.release: 6.1.0-28 → 6.1.0-31", "1 run later") == []
    wording("\n".join((earlier, reboots, first, second)))
    assert place_text(SeriesStep(replace(RISE, earliest=29, latest=33))) == "or up to 1 run earlier or 3 runs later"


def test_what_could_not_be_read_is_told() -> None:
    of = history(told(60), torn=(("r1", 2), ("r2", 1)), unread=(("r3", "no permission"),))  # type: ignore[arg-type]
    text = "\n".join(shown(of))
    assert "! r3 could not be read: no permission" in text
    assert "! 3 torn lines skipped, in r1 and 1 more" in text
    assert "! 2 records without a usable value" in text


def test_json_has_every_figure() -> None:
    (one,) = as_objects(history(told(60, RISE, facts=(KERNEL,))))
    again = json.loads(json.dumps(one))
    assert again["worse_now"] is True
    assert again["changes"][0]["ratio_low"] == 1.288
    assert again["changes"][0]["run"] == "20260901T0630-survey-001e"
    assert again["changes"][0]["facts"][0]["after"] == "6.1.0-31"


@pytest.mark.parametrize("shape", SHAPES)
def test_every_page_is_sound_closed_and_escaped(shape: str) -> None:
    text = render_view(history_view(SHAPES[shape]()))
    own = text.replace(PLOTLY, "")
    checker = Checker()
    checker.feed(own)
    assert checker.open == []
    ids = [attrs["id"] for _, attrs in checker.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert sum(tag == "h1" for tag, _ in checker.tags) == 1
    for tag, attributes in checker.tags:
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert tag == "a" or str(attributes.get("href", "#")).startswith(("data:", "#"))
    policy = next(str(a["content"]) for _, a in checker.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    for script in re.findall(r"<script>(.*?)</script>", text.replace(PLOTLY, "PLOTLY"), re.DOTALL):
        whole = script.replace("PLOTLY", PLOTLY)
        assert base64.b64encode(hashlib.sha256(whole.encode()).digest()).decode() in policy
    assert EVIL not in own
    assert "<img" not in own
    assert "\x1b" not in own


def test_long_series_are_thinned_and_keep_their_extremes() -> None:
    one = told(5000, RISE)
    (drawn,) = charts(one)
    values = [point.value for point in one.series.points]
    assert len(drawn["x"]) <= MAX_POINTS
    assert max(drawn["y"]) == pytest.approx(max(values) * 1e6)
    assert min(drawn["y"]) == pytest.approx(min(values) * 1e6)
    assert [level[:2] for level in drawn["levels"]] == [[1, 30], [31, 5000]]
    assert drawn["changes"][0]["at"] == 30.5


def test_the_end_of_a_long_series_is_drawn_apart() -> None:
    late = told(5000, replace(RISE, at=4990, earliest=4989, latest=4991))
    whole, end = charts(late)
    assert (whole["id"], end["id"]) == ("series-0", "series-0-end")
    assert (end["x"][0], end["x"][-1]) == (4801, 5000)
    assert [level[:2] for level in end["levels"]] == [[4801, 4990], [4991, 5000]]
    assert end["levels"][0][2] == whole["levels"][0][2]
    assert [change["mark"] for change in end["changes"]] == ["1"]
    assert end["ticks"][0][0] == 4801
    assert 'id="series-0-end"' in render_view(history_view(history(late)))
    assert len(charts(told(5000, RISE))) == len(charts(told(60, RISE))) == 1


def test_one_odd_run_does_not_flatten_the_others() -> None:
    one = told(60)
    points = (*one.series.points[:-1], replace(one.series.points[-1], value=1.0))
    (drawn,) = charts(replace(one, series=replace(one.series, points=points)))
    low, high = drawn["range"]
    assert 10 < low < high < 40


def test_a_page_that_can_not_be_written(tmp_path: Path) -> None:
    write_view(history_view(history(told(60))), tmp_path / "h.html")
    assert (tmp_path / "h.html").read_text().startswith("<!doctype html>")
    with pytest.raises(StoreError, match="No such file"):
        write_view(history_view(history(told(60))), tmp_path / "absent" / "h.html")
