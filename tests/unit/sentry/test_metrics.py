"""What Prometheus gets of a state: each family, what stands first, and that there are never too many series."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import wulf
from tests.unit.sentry.making import COMMON, DAY, DRIFT, GONE, METRICS, NOW, STEP, hardware, made
from wulf.core.findings import Severity
from wulf.scrape.openmetrics import Family, Form, exposition
from wulf.sentry import metrics
from wulf.sentry.incident import Kind, Observation, What, seen
from wulf.sentry.metrics import LINKS, LONGEST_LABEL, TABLE, families, label, snapshot, unreadable
from wulf.sentry.state import MetricInfo, SentryState, default_path

NODES = 160


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("state") / "sentry.db", nodes=NODES, days=61, every=5)


def read(path: Path, **how: int) -> dict[str, Family]:
    with SentryState(path, read_only=True) as state:
        found = families(snapshot(state, NOW), NOW, **how)
    names = [family.name for family in found]
    assert len(set(names)) == len(names)
    return {family.name: family for family in found}


def values(family: Family) -> dict[tuple[str, ...], float]:
    """Labels' values → value."""
    found = {tuple(labels.values()): value for labels, value in family.samples}
    assert len(found) == len(family.samples), "two series of one name and labels"
    return found


def test_what_is_known_of_the_whole(path: Path) -> None:
    found = read(path)
    assert values(found["wulf_nodes"]) == {("epyc-7763",): 80.0, ("epyc-9654",): 80.0}
    assert values(found["wulf_nodes_affected"]) == {("epyc-7763",): 1.0, ("epyc-9654",): 2.0}
    assert values(found["wulf_incidents"]) == {
        ("bad", "open"): 2.0, ("bad", "acknowledged"): 1.0, ("warn", "open"): 0.0, ("warn", "acknowledged"): 0.0,
        ("info", "open"): 1.0, ("info", "acknowledged"): 0.0,
    }  # fmt: skip
    assert values(found["wulf_sentry"]) == {(wulf.__version__,): 1.0}
    assert values(found["wulf_sentry_running"]) == {(): 1.0}
    assert values(found["wulf_sentry_active_timestamp_seconds"]) == {(): NOW}
    outcomes = {key: int(value) for key, value in values(found["wulf_sentry_measurements"]).items()}
    assert outcomes == {("node", "done"): 1, ("node", "failed"): 1, ("node", "preempted"): 1}
    with SentryState(path, read_only=True) as state:
        assert values(found["wulf_sentry_spent_seconds"]) == {(): state.spent(NOW - DAY, NOW)}


def test_incidents_without_their_sentences(path: Path) -> None:
    found = read(path)
    assert [labels["node"] for labels, _ in found["wulf_incident"].samples] == [GONE, DRIFT, STEP, "@epyc-9654"]
    info, _ = found["wulf_incident"].samples[2]
    assert info == {
        "kind": "changed", "node": STEP, "metric": "mem.triad", "severity": "bad", "state": "acknowledged",
    }  # fmt: skip
    key = ("changed", STEP, "mem.triad")
    ratios = [values(found[f"wulf_incident{end}_ratio"])[key] for end in ("_low", "", "_high")]
    assert ratios == pytest.approx([0.6895, 0.7, 0.7105])
    assert ("unreachable", GONE, "") not in values(found["wulf_incident_ratio"])
    assert values(found["wulf_incident_since_timestamp_seconds"])["common", "@epyc-9654", "tcp.rtt"] == (
        NOW - (COMMON - 1) * DAY
    )
    assert " changed." not in exposition(found.values(), Form.TEXT)


def test_each_node_and_figure_as_the_state_has_it(path: Path) -> None:
    found = read(path)
    with SentryState(path, read_only=True) as state:
        watched = [one.name for one in state.nodes()]
        figures = [one for metric in state.metrics() for one in state.figures(metric, 0.0, watched)]
        latest = {(one.node, one.metric): one.value for one in figures}  # the newest last
        last = {node: at for (node, _), at in state.last_measured().items()}
        chances = {(one.name,): one.chance for one in state.nodes()}
    units = {one.name: one.unit for one in METRICS}
    of = hardware(NODES)
    expected = {(node, of[node], metric, units[metric]): value for (node, metric), value in latest.items()}
    assert values(found["wulf_figure"]) == expected
    assert values(found["wulf_node_measured_timestamp_seconds"]) == {(node,): at for node, at in last.items()}
    assert values(found["wulf_node_changed_chance"]) == chances
    assert values(found["wulf_node_incidents"]) == dict.fromkeys([(GONE, "bad"), (DRIFT, "bad"), (STEP, "bad")], 1.0)
    ordered = sorted(value for key, value in expected.items() if key[1:3] == ("epyc-7763", "tcp.rtt"))
    middle = (ordered[len(ordered) // 2 - 1] + ordered[len(ordered) // 2]) / 2
    assert values(found["wulf_figure_median"])["epyc-7763", "tcp.rtt", "s"] == pytest.approx(middle)


@pytest.mark.parametrize("series", [100, 300, 500, 10_000])
def test_never_more_series_than_there_is_room_for_and_what_is_left_out_is_counted(path: Path, series: int) -> None:
    whole, found = read(path), read(path, series=series)
    left_out = {labels["family"]: int(value) for labels, value in found.pop("wulf_sentry_series_left_out").samples}
    assert sum(len(family.samples) for family in found.values()) <= series
    for name, family in whole.items():
        if name != "wulf_sentry_series_left_out":
            kept = found[name].samples
            assert list(kept) == list(family.samples)[: len(kept)], "what matters most is kept"
            assert left_out.get(family.sample_name, 0) == len(family.samples) - len(kept)
    assert len(found["wulf_incident"].samples) == 4


def test_figures_of_nodes_with_incidents_stand_first_then_the_oddest(tmp_path: Path) -> None:
    with SentryState(made(tmp_path / "odd.db", nodes=60, days=61, every=5)) as state:
        state.write("UPDATE figure SET value = value * 3 WHERE node = ?", [("n30",)])
    nodes = [labels["node"] for labels, _ in read(tmp_path / "odd.db")["wulf_figure"].samples]
    assert list(dict.fromkeys(nodes))[:3] == [STEP, DRIFT, "n30"]
    assert Counter(nodes)["n30"] == 3


def test_every_family_is_in_the_table_and_every_one_of_the_table_is_shown(path: Path, tmp_path: Path) -> None:
    with SentryState(tmp_path / "told.db") as state:
        state.watch({"n1": "a"}, NOW, 0.1)
        what = Observation(Kind.ILL, "n1", "memory", Severity.WARN, NOW, NOW, "n1 is ill.")
        state.keep(seen(None, what, NOW)[0], What.OPENED, NOW, ["webhook"])
        links = [[({"sender": "n1", "receiver": "n2"}, 1.0)]] * len(LINKS)
        found = families(snapshot(state, NOW), NOW, links=links)
    told = {family.name: family for family in found}
    assert values(told["wulf_sentry_events"]) == {("opened",): 1.0}
    assert values(told["wulf_sentry_deliveries_waiting"]) == {("webhook",): 1.0}
    shown = {family.name for family in [*found, *read(path).values()] if family.samples}
    assert shown == set(TABLE)


def test_an_empty_state_has_the_few_that_say_so(tmp_path: Path) -> None:
    with SentryState(tmp_path / "empty.db") as state:
        found = families(snapshot(state, NOW), NOW)
    assert "wulf_sentry_readable 1.0" in exposition(found, Form.TEXT)
    assert not any(family.samples for family in found if family.name.startswith(("wulf_node", "wulf_figure")))
    assert "wulf_sentry_readable 0.0" in exposition(unreadable(), Form.TEXT)


def test_figures_that_have_no_logarithm_are_shown(tmp_path: Path) -> None:
    with SentryState(made(tmp_path / "zero.db", nodes=20, days=3)) as state:
        state.metric(MetricInfo("errors", "1", "lower"))
        state.write("UPDATE figure SET value = 0 WHERE node = ?", [("n3",)])
    found = read(tmp_path / "zero.db")
    assert values(found["wulf_figure"])["n3", "epyc-7763", "tcp.rtt", "s"] == 0.0
    assert "NaN" not in exposition(found.values(), Form.TEXT)


def test_a_long_name_is_cut_and_stays_one_of_its_own() -> None:
    names = [f"{'x' * 200}{i}" for i in range(3)]
    assert len({label(name) for name in names}) == 3
    assert {len(label(name)) for name in names} == {LONGEST_LABEL}
    assert label("n1") == "n1"


def test_names_and_units_are_as_openmetrics_wants_them() -> None:
    for family in TABLE.values():
        assert re.fullmatch(r"wulf_[a-z_]+", family.name)
        assert not family.name.endswith(("_total", "_info", "_count", "_sum", "_bucket"))
        assert not family.unit or family.name.endswith(f"_{family.unit}")
        assert family.help.endswith(".")


def test_the_limits_leave_room_for_figures() -> None:
    """At 10,000 nodes: what is known of each, every incident and link, and still figures of hundreds of nodes."""
    taken = 6 * metrics.MOST_INCIDENTS + 3 * metrics.MOST_MEDIANS + 2 * metrics.MOST_NODES + 5 * metrics.MOST_LINKS
    assert metrics.SERIES - taken - 3 * metrics.MOST_INCIDENTS >= 10_000


def test_the_state_is_where_the_service_or_the_user_has_it() -> None:
    assert default_path({"STATE_DIRECTORY": "/var/lib/wulf-sentry:/x"}) == Path("/var/lib/wulf-sentry/sentry.db")
    assert default_path({"HOME": "/home/me"}) == Path("/home/me/.local/state/wulf/sentry.db")
