"""The state with the newest run of links; made anew only when the state has changed."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest

from tests.unit.sentry.making import HOLDER, NOW, made
from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.measure.net.traffic import AGAIN, LEAST, PHASE, RATE, RTT, SENT
from wulf.scrape.openmetrics import Family, Form
from wulf.sentry.metrics import LINKS, MOST_LINKS
from wulf.sentry.state import SentryState
from wulf.workflow.sentry import metrics
from wulf.workflow.sentry.metrics import FRESH, Metrics, link_samples, shown

UNITS = {LEAST: "s", RTT: "s", AGAIN: "1", RATE: "B/s", SENT: "B/s"}


def record(pair: tuple[str, str], metric: str, value: float | None, **params: object) -> Record:
    return Record.model_validate(
        {
            "run": "r", "subject": ">".join(pair), "nodes": list(pair), "probe": "net", "phase": PHASE,
            "metric": metric,
            "unit": UNITS[metric], "value": value, "verdict": "ok" if value is not None else "unresolved",
            "reason": None if value is not None else "too little", "params": params, "at": "2026-11-22T10:00:00.000Z",
        }
    )  # fmt: skip


def links_run(path: Path, records: list[Record], findings: list[Finding], command: str = "links") -> Path:
    path.mkdir()
    meta = {
        "id": path.name, "command": command, "version": "0", "state": "complete", "started": "2026-11-22T09:00:00.000Z",
        "ended": "2026-11-22T10:00:00.000Z",
    }  # fmt: skip
    (path / "run.json").write_text(json.dumps(meta))
    (path / "records.jsonl").write_text("".join(f"{one.model_dump_json()}\n" for one in records))
    (path / "findings.json").write_text(json.dumps([one.model_dump(mode="json") for one in findings]))
    return path


def records(nodes: int = 4) -> list[Record]:
    """Of all pairs alike, but n3 receives what is sent again, and n1 → n2 is late; one service apart, and no rates."""
    pairs = list(permutations([f"n{i + 1}" for i in range(nodes)], 2))
    found = [record(pair, RATE, None) for pair in pairs] + [record(pairs[0], SENT, 9.0, port=80, program="x")]
    for pair in pairs:
        found += [
            record(pair, LEAST, 1e-5), record(pair, RTT, 4e-5 if pair == ("n1", "n2") else 2e-5),
            record(pair, SENT, 1e6), record(pair, AGAIN, 0.02 if pair[1] == "n3" else 0.002),
        ]  # fmt: skip
    return found


BLAMED = Finding(kind="node", severity=Severity.BAD, subject="n3", text="n3 is slow to receive.")


def finished(state: SentryState, run: Path, at: float, measure: str) -> None:
    number = state.claim(measure, ["n1"], "due", at - 60, HOLDER)
    assert number is not None
    state.finish(number, "done", at, 60.0, measured=["n1"])
    state.write("UPDATE measurement SET run = ? WHERE id = ?", [(str(run), number)])


def found(path: Path) -> dict[str, Family]:
    with SentryState(path, read_only=True) as state:
        return {family.name: family for family in shown(state, NOW) if family.name in LINKS}


def test_pairs_of_the_newest_run_of_links(tmp_path: Path) -> None:
    path = made(tmp_path / "sentry.db", nodes=4, days=2)
    old = links_run(tmp_path / "old", [record(("n1", "n2"), LEAST, 1.0)], [])
    new = links_run(tmp_path / "new", records(), [BLAMED])
    other = links_run(tmp_path / "other", [record(("n1", "n2"), LEAST, 2.0)], [], command="survey")
    with SentryState(path) as state:
        finished(state, old, NOW - 7200, "links-old")
        finished(state, new, NOW - 3600, "links-new")
        finished(state, other, NOW - 60, "survey")
    of = found(path)
    assert of["wulf_links_pairs"].samples == [({}, 12.0)]
    assert of["wulf_links_timestamp_seconds"].samples == [({}, 1795341600.0)]
    assert ({"severity": "bad"}, 1.0) in of["wulf_links_findings"].samples
    again = of["wulf_link_sent_again_ratio"].samples
    assert len(again) == 12
    first = [(labels["sender"], labels["receiver"]) for labels, _ in again[:7]]
    assert all("n3" in pair for pair in first[:6]), "what a finding names stands first"
    assert first[6] == ("n1", "n2"), "then what is worst"
    assert {value for labels, value in again if labels["receiver"] == "n3"} == {0.02}
    assert of["wulf_link_delivery_bytes_per_second"].samples == [], "what is not known is no 0"
    sent = {tuple(labels.values()): value for labels, value in of["wulf_link_sent_bytes_per_second"].samples}
    assert sent["n1", "n2"] == 1e6, "one service alone is not the pair"


def test_runs_that_are_gone_torn_or_old_are_passed_by(tmp_path: Path) -> None:
    path = made(tmp_path / "sentry.db", nodes=4, days=2)
    torn = links_run(tmp_path / "torn", [], [])
    (torn / "run.json").write_text("{")
    old = links_run(tmp_path / "old", records(), [])
    with SentryState(path) as state:
        finished(state, tmp_path / "gone", NOW - 60, "a")
        finished(state, torn, NOW - 120, "b")
        finished(state, old, NOW - metrics.LINKS_FOR - 60, "c")
    assert found(path) == {}


def test_pairs_are_bounded(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(40)]
    run = links_run(tmp_path / "run", [record(pair, LEAST, 1e-5) for pair in permutations(names, 2)], [])
    made_of = dict(zip(LINKS, link_samples(metrics.read_run(run)), strict=True))
    assert len(made_of["wulf_link_least_rtt_seconds"]) == MOST_LINKS
    assert made_of["wulf_links_pairs"] == [({}, 1560.0)]


def test_an_answer_is_made_anew_when_the_state_has_changed_or_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "sentry.db", nodes=4, days=2)
    now = [NOW]
    content = Metrics(path, clock=lambda: now[0])
    calls: list[Form] = []
    monkeypatch.setattr(Metrics, "text", lambda self, form, at: calls.append(form) or f"{form} {at}")
    first = content(Form.TEXT)
    now[0] += FRESH - 1
    assert content(Form.TEXT) == first
    assert content(Form.OPENMETRICS) != first
    assert calls == [Form.TEXT, Form.OPENMETRICS]
    with SentryState(path) as state:
        state.write("UPDATE node SET chance = 0.5", [()])
    assert content(Form.TEXT) != first
    now[0] += FRESH
    content(Form.TEXT)
    assert calls == [Form.TEXT, Form.OPENMETRICS, Form.TEXT, Form.TEXT]


def test_reading_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = Metrics(made(tmp_path / "sentry.db", nodes=4, days=2), clock=lambda: NOW)
    first = content(Form.TEXT)
    monkeypatch.setattr(Metrics, "text", lambda *_: pytest.fail("it was made anew"))
    assert content(Form.TEXT) == first


def test_one_format_for_all_where_it_is_named(tmp_path: Path) -> None:
    content = Metrics(made(tmp_path / "sentry.db", nodes=4, days=2), form=Form.TEXT, clock=lambda: NOW)
    assert content(Form.OPENMETRICS) == content(Form.TEXT)
    assert "# EOF" not in content(Form.OPENMETRICS)


def test_a_state_that_cant_be_read_is_said_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "sentry.db"
    content = Metrics(path, clock=lambda: NOW)
    assert "wulf_sentry_readable 0.0" in content(Form.TEXT)
    made(path, nodes=4, days=2)
    assert "wulf_sentry_readable 1.0" in content(Form.TEXT)
    path.with_name("sentry.db-wal").unlink(missing_ok=True)
    path.write_bytes(path.read_bytes()[:8192])
    assert content(Form.TEXT).count("wulf_") == content(Form.TEXT).count("wulf_sentry")
    assert "wulf_sentry_readable 0.0" in content(Form.TEXT)
    with pytest.raises(UsageError, match="can be read: database"):
        content.text(Form.TEXT, NOW)
