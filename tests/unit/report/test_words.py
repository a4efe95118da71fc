"""Names, figures, facts, headline, state, exit code and method: everything a report says in words."""

from __future__ import annotations

import re

import pytest

from tests.unit.report.make_run import (
    GBIT,
    SHAPES,
    facts,
    failed,
    make_run,
    pair_records,
    record,
    slow_node_finding,
    survey,
    troubled,
)
from tests.wording import Wording, lacking
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import fold, natural, plural, printable, subject_text
from wulf.core.records import Verdict
from wulf.report.kit.figures import cell_name, counters_of_interest, quantile_name, record_lines, verdict_text
from wulf.report.run.facts import fact_rows, fact_text, reported_link_speeds
from wulf.report.run.method import method, twelve_rules
from wulf.report.run.summary import against_peers, duration, exit_code, headline, ordered_findings, state


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        ([], ""),
        (["n3"], "n3"),
        (["n10", "n2", "n1", "n3"], "n[1-3,10]"),
        (["node001", "node002"], "node[001-002]"),
        (["fd00::2", "fd00::1"], "fd00::1, fd00::2"),
        (["@all", "n1"], "@all, n1"),
        ([f":{i}" for i in range(1, 12)], ":1, :2, :3, :4, :5, :6, :7, :8 and 3 more"),
    ],
)  # fmt: skip
def test_fold(names: list[str], folded: str) -> None:
    assert fold(names) == folded


def test_natural_order_takes_any_name() -> None:
    assert sorted(["n10", "", "2", "n2", "10", "²"], key=natural) == ["", "2", "10", "n2", "n10", "²"]


def test_printable_leaves_no_control_character() -> None:
    assert printable("a\x1b[31mb\u202ec\nd\x00") == "a\ufffd[31mb\ufffdc d\ufffd"


def test_subjects_and_counts() -> None:
    assert subject_text("n1>n2") == "n1 → n2"
    assert subject_text("kernel.release") == "kernel.release"
    assert [plural(n, "record") for n in (0, 1, 1234)] == ["0 records", "1 record", "1,234 records"]


def test_a_cell_is_named_by_what_was_run_not_by_how_long() -> None:
    each = record("a>b", "rtt", 1e-5, params={
        "transport": "udp", "pattern": "pingpong", "bytes": 1024, "seconds": 0.1, "cpu": None, "sndbuf": 4096,
    })  # fmt: skip
    assert cell_name(each) == "udp pingpong, 1 KiB, sndbuf 4096"
    assert cell_name(record("a>b", "rtt", 1e-5, params={})) == ""


def test_a_record_in_lines() -> None:
    assert record_lines(record("a>b", "rtt", 1e-5)) == [
        "10 µs",
        "9.8–10.2 µs (95 % interval)",
        "median of 10 replicates",
        "ok",
    ]
    assert record_lines(failed("a>b", "rtt", "peer lost")) == ["no value", "0 replicates", "failed: peer lost"]


def test_quantile_names() -> None:
    assert [quantile_name(key) for key in ("0.5", "0.99", "0.999", "max")] == ["p50", "p99", "p99.9", "max"]


def test_counters_of_trouble_alone_the_largest_first() -> None:
    counters = {
        "client": {"softnet": {"0": {"squeezed": 4}}, "cpu.all.steal": 0.5, "udp.InErrors": 0},
        "server": {"tcp.InSegs": 9, "interrupts.31:virtio0": 400, "cpu": {"0": {"softirq": 1.0}}},
    }
    each = record("a>b", "rtt", 1e-5, counters=counters)
    assert counters_of_interest(each) == [("client.softnet.0.squeezed", 4), ("client.cpu.all.steal", 0.5)]


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ({"value": 2**36, "unit": "B"}, ("64 GiB", True)),
        ({"value": True}, ("yes", True)),
        ({"value": 32}, ("32", True)),
        ({"value": None, "reason": "no cpufreq"}, ("no cpufreq", False)),
        ({"value": None}, ("not known", False)),
        ({"value": [0, 1]}, ("[0, 1]", True)),
        ({"value": 0}, ("0", True)),
        ("bare", ("bare", True)),
    ],
)
def test_fact_text(fact: object, text: tuple[str, bool]) -> None:
    assert fact_text(fact) == text


def test_facts_are_grouped_with_those_judged_first() -> None:
    rows = fact_rows(survey())
    assert (rows[0].name, rows[0].judged, rows[0].differs) == ("kernel.release", True, True)
    assert [(g.text, g.nodes) for g in rows[0].groups] == [
        ("6.1.0-28-amd64", ("n1", "n2", "n3")),
        ("5.15.0-91-generic", ("n4",)),
    ]
    assert (rows[1].name, rows[1].judged, rows[1].differs) == ("nic.eth0.address", False, True)
    assert not any(row.differs for row in rows[2:])


def test_a_fact_that_one_node_lacks_differs() -> None:
    fingerprint = {"n1": facts("n1"), "n2": facts("n2")}
    del fingerprint["n2"]["thp.enabled"]
    row = next(r for r in fact_rows(make_run(("n1", "n2"), fingerprint=fingerprint)) if r.name == "thp.enabled")
    assert [(g.text, g.known) for g in row.groups] == [("madvise", True), ("not recorded", False)]


def test_link_speeds_are_counted() -> None:
    fingerprint = {
        "n1": {"nic.eth0.speed": {"value": 1.25e9, "unit": "B/s"}},
        "n2": {"nic.eth0.speed": {"value": None, "reason": "virtual"}},
    }
    assert reported_link_speeds(make_run(("n1", "n2"), fingerprint=fingerprint)) == {"10 Gbit/s": 1}


def test_the_headline_names_the_node_its_figure_and_the_others(wording: Wording) -> None:
    assert lacking(headline(survey()), "n3 stands out: ", " 0.19 Gbit/s", " others reach 21 Gbit/s") == []
    wording(headline(survey()))


def test_the_headline_of_two_counts_them() -> None:
    findings = [slow_node_finding("n3", ["n3>n1"]), slow_node_finding("n7", ["n7>n1"])]
    assert headline(make_run(records=pair_records(["n1", "n3", "n7"]), findings=findings)) == "2 stand out: n[3,7]."


def test_the_headline_takes_the_largest_factor(wording: Wording) -> None:
    small = Finding(kind="node", severity=Severity.BAD, subject="n3", text="x", evidence=[
        Evidence(subject="n3", metric="rtt", unit="s", value=2e-5, expected=1e-5)])  # fmt: skip
    run = make_run(records=pair_records(["n1", "n3"]), findings=[small])
    assert lacking(headline(run), "n3 stands out: ", "round trips take 20 µs", "others take 10 µs") == []
    wording(headline(run))
    run.findings.append(slow_node_finding("n3", ["n3>n1"]))
    assert "0.19 Gbit/s" in headline(run)


def test_headlines_without_a_slow_node() -> None:
    assert headline(survey(slow=None)) == (
        "No node and no link stands out. Over all pairs: TCP round trip, 1 B 18.4 µs (18–18.7 µs); TCP bandwidth "
        "20.8 Gbit/s (20.4–21.5 Gbit/s); UDP round trip, 1 B 17 µs (16.4–17.3 µs)."
    )
    assert headline(make_run()) == "Nothing was measured."
    assert headline(make_run(records=[record("n1>n2", "rtt", 1e-5)])) == "n1 → n2: round trip 10 µs (9.8–10.2 µs)."
    broken = [failed("n1>n2", "rtt", "gone", phase="pairs"), record("n1>n3", "rtt", 1e-5, phase="pairs")]
    assert headline(make_run(records=broken)) == "1 of 2 measurements gave no answer."
    blind = Finding(kind="link", severity=Severity.BAD, subject="n1>n2", text="x")
    assert headline(make_run(records=broken, findings=[blind])) == "n1 → n2 stands out."


def test_the_headline_names_nodes_that_died(wording: Wording) -> None:
    assert lacking(headline(SHAPES["dead"]()), "n2 failed", "24 of 36 measurements") == []
    wording(headline(SHAPES["dead"]()))
    run = survey()
    run.findings.append(Finding(kind="failed", severity=Severity.BAD, subject="n4", text="x"))
    assert headline(run).endswith("where the others reach 21 Gbit/s. n4 failed.")


@pytest.mark.parametrize(
    ("value", "expected", "figure"),
    [
        (0.19 * GBIT, 21.2 * GBIT, "reach 0.19 Gbit/s"),
        (1e-5 * GBIT, 21.2 * GBIT, "reach 10 kbit/s"),
        (0.0, GBIT, ""),
        ("a", "b", ""),
        (None, GBIT, ""),
    ],
)
def test_against_peers(value: float | str | None, expected: float | str, figure: str) -> None:
    evidence = Evidence(subject="x", metric="throughput", unit="B/s", value=value, expected=expected)
    text = against_peers(evidence)
    assert bool(text) is bool(figure)
    assert not text or lacking(text, figure, "others reach 21 Gbit/s") == []


def test_findings_are_ordered_by_severity() -> None:
    run = survey()
    run.findings.reverse()
    assert [f.severity for f in ordered_findings(run)] == [Severity.BAD, Severity.WARN]


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (survey(slow=None), 0),
        (survey(), 1),
        (make_run(records=[failed("a>b", "rtt", "gone")]), 3),
        (make_run(state="running"), 3),
        (troubled(), 130),
        (survey(exit_code=3), 3),
    ],
)
def test_exit_code(run: object, code: int) -> None:
    assert exit_code(run) == code  # type: ignore[arg-type]


def test_state_warns_unless_the_run_is_whole(wording: Wording) -> None:
    assert state(survey()).warning == ""
    assert lacking(state(troubled()).warning, "interrupted", " 32 records") == []
    wording(state(troubled()).warning)
    assert "was killed" in state(make_run(state="running")).warning
    assert "resume" not in state(make_run(state="interrupted")).warning, "not every command can be"
    resumable = make_run(state="interrupted")
    resumable.meta["cwd"] = "/"
    assert f"`wulf resume {resumable.path}` goes on with it" in state(resumable).warning
    assert "1 line of records.jsonl could not be read" in state(SHAPES["torn"]()).warning


@pytest.mark.parametrize(
    ("started", "ended", "text"),
    [
        ("2026-11-20T18:44:12.020Z", "2026-11-20T18:44:53.120Z", "41.1 s"),
        ("2026-11-20T18:00:00Z", "2026-11-20T18:03:20+00:00", "3 min 20 s"),
        ("2026-11-20T18:00:00", "2026-11-20T20:05:00Z", "2 h 5 min"),
        ("2026-11-20T18:00:00Z", None, ""),
        ("yesterday", "today", ""),
    ],
)
def test_duration(started: str, ended: str | None, text: str) -> None:
    assert duration(make_run(started=started, ended=ended)) == text


def test_the_method_is_made_from_the_plan(wording: Wording) -> None:
    said = {item.head: item.text for item in method(survey())}
    assert "median of 10 replicates" in said["Replicates"]
    assert "seed 4711" in said["Order"]
    assert "5 % of its value" in said["Stopping"]
    assert "6, 10, 16, 24, 40 replicates" in said["Stopping"]
    assert "share one machine" in said["Concurrency"]
    assert re.search(r"noisy \(~\): [^,]*, 0 figures", said["Verdicts"])
    wording("\n".join(f"{head}: {text}" for head, text in said.items()))


def test_the_method_of_nodes_on_their_own_machines() -> None:
    run = survey()
    run.plan["hosts"] = {"n1": "a", "n2": "b", "n3": "c", "n4": "d"}
    assert "disjoint rounds" in {item.head: item.text for item in method(run)}["Concurrency"]
    run.plan["hosts"] = {"n1": "a", "n2": "a", "n3": "c", "n4": "d"}
    assert "4 nodes on 3 machines" in {item.head: item.text for item in method(run)}["Concurrency"]


@pytest.mark.parametrize("shape", SHAPES)
def test_twelve_rules_are_answered_for_every_run(shape: str) -> None:
    rules = twelve_rules(SHAPES[shape]())
    assert len(rules) == 12
    assert all(rule.head and rule.text.endswith(".") for rule in rules)


def test_the_second_rule_counts_what_was_left_out(wording: Wording) -> None:
    rules = twelve_rules(troubled())
    assert "TCP round trip, 1 B: 5 of 6 pairs." in rules[1].text
    wording("\n".join(f"{rule.head}: {rule.text}" for rule in rules))


def test_the_fifth_rule_counts_intervals(wording: Wording) -> None:
    run = make_run(records=[record("a>b", "rtt", 1.0), record("a>c", "rtt", 1.0, low=None, high=None, confidence=None)])
    assert lacking(twelve_rules(run)[4].text, "1 of 2 values", " 95 %") == []
    wording(twelve_rules(run)[4].text)


def test_a_side_metric_without_an_answer_makes_no_run_incomplete() -> None:
    run = survey(slow=None)
    run.records.append(failed("n1>n2", "loss", "TCP loses nothing", phase="pairs"))
    assert headline(run).startswith("No node and no link stands out. ")
    assert exit_code(run) == 0


def test_noisy_is_not_missing() -> None:
    noisy = record("a>b", "rtt", 1.0, verdict=Verdict.NOISY, reason="wide", phase="pairs")
    assert headline(make_run(records=[noisy])).startswith("No node and no link stands out. ")


def test_two_modes_are_told_beside_the_verdict() -> None:
    shown = verdict_text(record("n1>n2", "rtt", 1e-5, flags={"modes": "has two modes", "dependent": "24 amount to 9"}))
    assert shown == "ok; has two modes"
