"""Histories: series from runs on disk, and the facts that changed just where the metric did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.report.make_history import TCP, line, write_run, write_weeks
from wulf.core.errors import UsageError
from wulf.findings.history import CoincidentChange
from wulf.stats.series.changes import Change
from wulf.store.history import Collection, Point, Series, Source, collect, metrics_of
from wulf.workflow.model.history import WINDOW, explain, fact_changes, history, settled


def source(index: int, version: str = "1") -> Source:
    return Source(Path(f"r{index}"), f"r{index}", f"2026-01-01T00:{index // 60:02d}:{index % 60:02d}Z", version)


def change(at: int, earliest: int | None = None, latest: int | None = None) -> Change:
    early, late = at if earliest is None else earliest, at if latest is None else latest
    return Change(at, early, late, 0.005, 1.0, 2.0, 1.0, 0.9, 1.1, 2.0, 1.9, 2.1, 0.95)


def found(
    values: list[Any], where: Change, *, name: str = "nic.eth0.mtu", within: tuple[int, int] | None = None
) -> list[tuple[Any, Any, int]]:
    """What is said of one fact of n1 that had these values; `...` is a run without it."""
    sources = [source(i) for i in range(len(values))]
    facts = {s: {} if v is ... else {"n1": {name: {"value": v}}} for s, v in zip(sources, values, strict=True)}
    got = fact_changes(sources, where, within or (0, len(values)), lambda s: facts[s])
    return [(fact.before, fact.after, fact.off) for fact in got]


def test_a_fact_that_changed_there_is_named() -> None:
    assert found([1500] * 10 + [9000] * 10, change(10)) == [(1500, 9000, 0)]


@pytest.mark.parametrize("at", [5, 9, 11, 15])
def test_a_fact_that_changed_elsewhere_is_not(at: int) -> None:
    assert found([1500] * at + [9000] * (20 - at), change(10)) == []


def test_within_the_interval_of_the_place_it_is_named_with_the_distance() -> None:
    assert found([1] * 8 + [2] * 12, change(10, 7, 11)) == [(1, 2, -2)]
    assert found([1] * 11 + [2] * 9, change(10, 7, 11)) == [(1, 2, 1)]
    assert found([1] * 12 + [2] * 8, change(10, 7, 11)) == []


def test_a_fact_that_comes_and_goes_explains_nothing() -> None:
    assert found([1, 2] * 5 + [3] * 10, change(10)) == []
    assert found([1] * 10 + [2] * 5 + [1] * 5, change(10)) == []


def test_only_its_own_segments_and_so_many_runs_count() -> None:
    assert found([3] * 5 + [1] * 5 + [2] * 10, change(10), within=(5, 20)) == [(1, 2, 0)]
    far = [3] + [1] * WINDOW + [2] * WINDOW + [4]
    assert found(far, change(WINDOW + 1)) == [(1, 2, 0)]


def test_runs_that_know_nothing_say_nothing() -> None:
    assert found([1] * 9 + [...] * 2 + [2] * 9, change(10)) == [(1, 2, 0)]
    assert found([1] * 4 + [...] * 2 + [2] * 14, change(10)) == []
    assert found([None] * 10 + [2] * 10, change(10)) == []
    sources = [source(i) for i in range(12)]
    absent = {"n1": {"cpu.governor": {"value": None, "reason": "no cpufreq", "absent": True}}}
    there = {"n1": {"cpu.governor": {"value": "performance"}}}
    got = fact_changes(sources, change(6), (0, 12), lambda s: absent if sources.index(s) < 6 else there)
    assert got == [CoincidentChange("n1", "cpu.governor", None, "performance", 0)]


def test_lists_and_truth_values_compare_by_what_they_are() -> None:
    assert found([[1, 2]] * 6 + [[1, 3]] * 6, change(6)) == [([1, 2], [1, 3], 0)]
    assert found([False] * 6 + [0] * 6, change(6)) == [(False, 0, 0)]


def test_what_varies_by_itself_is_no_suspect() -> None:
    for name in ("kernel.uptime", "clock.offset", "clock.frequency_error", "nic.eth0.carrier_changes", "memory.total"):
        assert not settled(name)
        assert found([1] * 6 + [2] * 6, change(6), name=name) == []
    for name in ("kernel.boot_id", "kernel.cmdline", "kernel.release", "nic.eth0.mtu", "cpu.microcode"):
        assert settled(name)
    assert not settled("no.such.fact")


def test_another_wulf_is_a_suspect_too() -> None:
    sources = [source(i, "0.1" if i < 6 else "0.2") for i in range(12)]
    assert fact_changes(sources, change(6), (0, 12), lambda _: {}) == [
        CoincidentChange("", "wulf version", "0.1", "0.2")
    ]


def test_explaining_needs_no_disk() -> None:
    values = np.random.default_rng(1).lognormal(sigma=0.02, size=40)
    values[25:] *= 0.5
    points = tuple(Point(source(i), float(v)) for i, v in enumerate(values))
    series = Series("n1>n2", "throughput", "B/s", {}, points, 0, "higher")
    asked = []

    def facts_of(nodes: tuple[str, ...]) -> Any:
        asked.append(nodes)
        return lambda s: {"n2": {"nic.eth0.mtu": {"value": 9000 if int(s.id[1:]) < 25 else 1500}}}

    (told,) = explain("throughput", Collection((series,), 40), facts_of).told
    assert asked == [("n1", "n2")]
    assert [step.change.at for step in told.steps] == [25]
    assert told.steps[0].facts == (CoincidentChange("n2", "nic.eth0.mtu", 9000, 1500),)
    assert told.worse_now
    assert told.doubt is None


def test_a_drift_is_told() -> None:
    random = np.random.default_rng(4)
    walk = 100 + np.cumsum(random.normal(size=120))
    points = tuple(Point(source(i), float(v)) for i, v in enumerate(walk))
    (told,) = explain("x", Collection((Series("n1", "x", "1", {}, points),), 120), lambda _: lambda _: {}).told
    assert told.steps
    assert told.doubt is not None
    assert {told.verdict(step) for step in told.steps} == {"candidate"}
    assert not told.worse_now, "a candidate is no finding"


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_weeks(tmp_path_factory.mktemp("runs"))


def test_from_disk(weeks: Path) -> None:
    got = history("rtt", weeks)
    assert [told.series.subject for told in got.told] == ["n1>n2", "n1>n3"]
    changed, same = got.told
    assert [step.change.at for step in changed.steps] == [40, 70]
    assert [(f.node, f.name) for f in changed.steps[0].facts] == [("n1", "kernel.boot_id"), ("n1", "kernel.release")]
    assert changed.steps[1].facts == ()
    assert [changed.verdict(step) for step in changed.steps] == ["worse", "better"]
    assert not same.steps
    assert (got.runs, got.unread, got.torn, got.worse_now) == (90, (), (), [])


def test_filters(weeks: Path) -> None:
    assert [s.subject for s in collect("rtt", weeks, "n1>n3").series] == ["n1>n3"]
    assert len(collect("rtt", weeks, params={"transport": "tcp", "bytes": "1"}).series) == 2
    assert len(collect("throughput", weeks, params={"pattern": "stream"}).series) == 1
    assert collect("rtt", weeks, params={"transport": "udp"}).series == ()
    assert collect("rtt", weeks, params={"cpu": "3"}).series == ()


def test_what_is_torn_or_failed_is_counted_and_not_fatal(tmp_path: Path) -> None:
    for number in range(6):
        write_run(tmp_path, number, [line("n1>n2", "rtt", None if number == 2 else 1e-5)])
    good = sorted(tmp_path.iterdir())
    with (good[0] / "records.jsonl").open("a") as out:
        out.write('{"run": "x", "metric":"rtt"')
    (good[1] / "run.json").write_text('{"id": ')
    (good[3] / "records.jsonl").unlink()
    (good[4] / "records.jsonl").write_text('{"metric":"rtt"}\n' + line("n1>n2", "rtt", 2e-5))
    got = collect("rtt", tmp_path)
    (series,) = got.series
    assert [point.value for point in series.points] == [1e-5, 2e-5, 1e-5]
    assert series.left_out == 1
    ((name, why),) = got.unread
    assert name == good[1].name
    assert why.startswith("run.json: not JSON")
    assert got.torn == ((good[0].name, 1), (good[4].name, 1))
    assert got.runs == 5


def test_one_point_a_run_and_durations_do_not_split_a_series(tmp_path: Path) -> None:
    longer = TCP | {"seconds": 2.0}
    write_run(tmp_path, 0, [line("n1>n2", "rtt", None), line("n1>n2", "rtt", 1e-5), line("n1>n2", "rtt", 3e-5)])
    write_run(tmp_path, 1, [line("n1>n2", "rtt", 2e-5, longer)])
    write_run(tmp_path, 2, [line("n1>n2", "rtt", 2e-5, TCP | {"bytes": 64})])
    assert [[p.value for p in s.points] for s in collect("rtt", tmp_path).series] == [[1e-5, 2e-5], [2e-5]]


def test_runs_go_by_when_they_were_started_not_by_name(tmp_path: Path) -> None:
    for number in (0, 1, 2):
        path = write_run(tmp_path, number, [line("n1>n2", "rtt", float(number + 1))])
        path.rename(tmp_path / f"{9 - number}")
    assert [p.value for p in collect("rtt", tmp_path).series[0].points] == [1.0, 2.0, 3.0]


def test_which_way_is_better_comes_from_the_plan(weeks: Path, tmp_path: Path) -> None:
    assert {s.better for s in collect("rtt", weeks).series} == {"lower"}
    assert {s.better for s in collect("throughput", weeks).series} == {"higher"}
    (write_run(tmp_path, 0, [line("n1", "rtt", 1.0)]) / "plan.json").unlink()
    assert collect("rtt", tmp_path).series[0].better == ""


def test_a_metric_that_no_run_has(weeks: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none of the 90 runs") as caught:
        history("latency", weeks)
    assert caught.value.next_step == "metrics there are: rtt, throughput"
    with pytest.raises(UsageError, match="with those parameters") as caught:
        history("rtt", weeks, subject="n9")
    assert "n1>n2, n1>n3" in caught.value.next_step
    assert "transport=tcp" in caught.value.next_step
    with pytest.raises(UsageError, match="no runs under"):
        history("rtt", tmp_path)
    assert metrics_of(weeks) == {"rtt": 180, "throughput": 90}
