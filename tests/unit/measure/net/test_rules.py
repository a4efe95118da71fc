"""The rule table: every rule on a recorded or constructed case that causes it, and just below each threshold."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measure import recorded_cases
from tests.wording import Wording, lacking
from wulf.core.findings import Severity
from wulf.measure.net.bottleneck import UNDETERMINED, table
from wulf.measure.net.rules import RULES, bottlenecks
from wulf.measure.net.situation import End, Situation

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("name", recorded_cases.names())
def test_recorded(name: str) -> None:
    case = recorded_cases.load(name)
    said = [f"{one.rule}: {one.subject}: {one.text}" for one in bottlenecks(recorded_cases.situation(case))]
    if "WULF_UPDATE" in os.environ:
        recorded_cases.save(name, {**case, "expected": said})
    assert said == recorded_cases.load(name)["expected"]


def test_every_rule_has_a_recorded_case() -> None:
    said = {line.split(":")[0] for name in recorded_cases.names() for line in recorded_cases.load(name)["expected"]}
    elsewhere = {"asymmetric"}  # two cells, in tests/unit/findings/net/test_bottlenecks.py
    assert said - {UNDETERMINED} == {rule.name for rule in RULES} - elsewhere


def test_the_page_of_rules_is_of_this_table() -> None:
    page = ROOT / "docs" / "reference" / "verdicts.md"
    if "WULF_UPDATE" in os.environ:
        page.write_text(table(RULES))
    assert page.read_text() == table(RULES), "write it with WULF_UPDATE=1"


# Constructed from documented counters: a pair of machines with cards, which a lab has not.

GBIT = 1e9 / 8


def facts(**changes: Any) -> dict[str, dict[str, Any]]:
    nic = {"speed": 10 * GBIT, "driver": "ice", "mtu": 1500, "duplex": "full", "qdisc": "mq fq_codel"} | changes
    return {f"nic.eth0.{name}": {"value": value} for name, value in nic.items()}


def cpu(idle: float, **busy: float) -> dict[str, float]:
    return {"idle": idle, **busy}


def tcp(rtt: float = 2e-4, min_rtt: float = 1e-4, pmtu: int = 1500, **counts: float) -> dict[str, Any]:
    own = {"busy_time": 2.0, "rwnd_limited": 0.0, "sndbuf_limited": 0.0, "total_retrans": 0, "dsack_dups": 0,
           "data_segs_out": 1e6}  # fmt: skip
    gauges = {"rtt": rtt, "min_rtt": min_rtt, "snd_wnd": 3e6, "pmtu": pmtu}
    spread = {name: {"min": value, "median": value, "max": value} for name, value in gauges.items()}
    return {"samples": 5, "tcp": {"channels": 1, "counts": own | counts, "gauges": spread}}


def end(node: str, counters: dict[str, Any] | None = None, *, during: dict[str, Any] | None = None, **nic: Any) -> End:
    counted = {"nic": {"eth0": {"tx_bytes": 1e9}}, "cpu": {"0": cpu(1.0, system=1.0)}} | (counters or {})
    return End(node, facts(**nic), counted, {}, [during or tcp()], 2.0)


def stream(client: End | None = None, server: End | None = None, gbit: float = 5.0, **more: Any) -> Situation:
    samples = more.pop("samples", [gbit * GBIT] * 6)
    return Situation(client or end("a"), server or end("b"), more.pop("transport", "tcp"), "stream", samples=samples,
                     **more)  # fmt: skip


def rules(s: Situation) -> list[str]:
    return [one.rule for one in bottlenecks(s)]


def test_nothing_stands_out(wording: Wording) -> None:
    (one,) = bottlenecks(stream())
    assert one.rule == UNDETERMINED
    assert lacking(one.text, "CPU 0 of a) was 50% used", "held it up for 0%", "10 Gbit/s") == []
    wording(one.text)


def test_nothing_measured() -> None:
    (one,) = bottlenecks(stream(samples=[]))
    assert (one.rule, one.text) == (UNDETERMINED, "No verdict: no replicate gave a value.")


@pytest.mark.parametrize("gbit, fits", [(9.41, True), (8.48, True), (8.46, False)])
def test_link_bound_from_nine_tenths_of_what_frames_leave(gbit: float, fits: bool) -> None:
    assert (rules(stream(gbit=gbit)) == ["link-bound"]) is fits


def test_a_full_link_hides_a_busy_core() -> None:
    busy = end("b", {"cpu": {"3": cpu(0.0, softirq=2.0)}})
    assert rules(stream(server=busy, gbit=9.4)) == ["link-bound"]


def test_a_nominal_speed_is_no_limit() -> None:
    virtual = {"driver": "veth"}
    s = stream(end("a", **virtual), end("b", **virtual), gbit=9.4)
    assert s.speed is None
    assert rules(s) == [UNDETERMINED]


@pytest.mark.parametrize("idle, fits", [(0.09, True), (0.11, False)])
def test_cpu_bound_names_core_node_and_kind(idle: float, fits: bool) -> None:
    busy = end("b", {"cpu": {"all": cpu(9), "3": cpu(idle, softirq=1.5, system=0.5 - idle), "4": cpu(2.0)}})
    found = bottlenecks(stream(server=busy))
    assert (found[0].rule == "cpu-bound") is fits
    if fits:
        assert found[0].subject == "b"
        assert "CPU 3 of b" in found[0].text
        assert "75% softirq" in found[0].text


def test_a_core_that_was_busy_before_is_not_the_measurements() -> None:
    counted = {"cpu": {"3": cpu(0.0, user=2.0)}}
    before = {"seconds": 2.0, "counters": {"cpu": {"3": cpu(0.5, user=1.5)}}}
    assert rules(stream(server=replace(end("b", counted), idle=before))) == [UNDETERMINED]
    half = {"seconds": 2.0, "counters": {"cpu": {"3": cpu(1.0, user=1.0)}}}
    (found,) = bottlenecks(stream(server=replace(end("b", counted), idle=half)))
    assert "50% busy before, with something else" in found.text


def test_niced_work_gives_way() -> None:
    assert rules(stream(server=end("b", {"cpu": {"3": cpu(0.0, nice=1.8, system=0.2)}}))) == [UNDETERMINED]


def test_too_few_ticks_are_not_judged() -> None:
    assert rules(stream(server=end("b", {"cpu": {"3": cpu(0.0, user=0.2)}}))) == [UNDETERMINED]


def test_stolen_time_is_told() -> None:
    (found,) = bottlenecks(stream(server=end("b", {"cpu": {"3": cpu(0.0, user=1.0, steal=1.0)}})))
    assert "50% stolen by the hypervisor" in found.text


@pytest.mark.parametrize("waited, fits", [(1.01, True), (0.99, False)])
@pytest.mark.parametrize("which, node", [("rwnd_limited", "b"), ("sndbuf_limited", "a")])
def test_window_bound(which: str, node: str, waited: float, fits: bool) -> None:
    found = bottlenecks(stream(end("a", during=tcp(**{which: waited}))))[0]
    assert (found.rule == "window-bound") is fits
    if fits:
        assert (found.subject, found.severity) == (node, Severity.WARN)


def test_a_window_that_is_full_because_nobody_reads(wording: Wording) -> None:
    (found,) = bottlenecks(stream(end("a", during=tcp(rwnd_limited=1.8, rtt=5e-5)), gbit=1.0))
    assert lacking(found.text, "b does not read fast enough", "2.86 MiB", "90%") == []
    wording(found.text, "read slowly")
    (found,) = bottlenecks(stream(end("a", during=tcp(rwnd_limited=1.8, rtt=1e-2)), gbit=1.0))
    assert lacking(found.text, "b's receive window", "2.86 MiB", "10 ms", "90%") == []
    wording(found.text, "too small")


@pytest.mark.parametrize("again, fits", [(1100, True), (900, False)])
def test_retransmits_that_nobody_counts_are_lost_between(again: float, fits: bool) -> None:
    found = bottlenecks(stream(end("a", during=tcp(total_retrans=again))))[0]
    assert (found.rule == "drop-bound") is fits
    if fits:
        assert "neither end counts a drop" in found.text


def test_spurious_retransmits_are_no_losses() -> None:
    assert rules(stream(end("a", during=tcp(total_retrans=9000, dsack_dups=8500)))) == [UNDETERMINED]


@pytest.mark.parametrize(
    "counters, said",
    [
        ({"softnet": {"0": {"dropped": 5}, "1": {"dropped": 7}}}, "backlog was full (softnet) at b (12 times)"),
        ({"nic": {"eth0": {"rx_bytes": 9e9, "rx_dropped": 40}}}, "dropped what arrived at b (40 times)"),
        ({"netstat": {"TcpExt": {"TCPBacklogDrop": 3}}}, "TCP's backlog was full at b (3 times)"),
    ],
)
def test_where_it_is_dropped(counters: dict[str, Any], said: str) -> None:
    found = bottlenecks(stream(end("a", during=tcp(total_retrans=5000)), end("b", counters)))[0]
    assert found.rule == "drop-bound"
    assert said in found.text


def test_drops_that_happen_in_rest_too_are_not_the_measurements() -> None:
    counted = {"nic": {"eth0": {"rx_bytes": 9e9, "rx_dropped": 40}}}
    rest = {"seconds": 1.0, "counters": {"nic": {"eth0": {"rx_dropped": 20}}}}
    server = replace(end("b", counted), idle=rest)
    assert "neither end counts" in bottlenecks(stream(end("a", during=tcp(total_retrans=5000)), server))[0].text


def test_a_full_link_loses_by_right_but_not_at_an_end() -> None:
    losing = end("a", during=tcp(total_retrans=5000))
    assert rules(stream(losing, gbit=9.4)) == ["link-bound"]
    full = end("b", {"softnet": {"0": {"dropped": 900}}})
    assert rules(stream(losing, full, gbit=9.4)) == ["link-bound", "drops"]


def test_shaped_by_an_unknown_hop(wording: Wording) -> None:
    slow = end("a", during=tcp(rtt=0.02, min_rtt=0.0001))
    (found,) = bottlenecks(stream(slow, gbit=1.0))
    assert found.rule == "shaped"
    assert lacking(found.text, "A shaper or a slower hop", "1 Gbit/s") == []
    wording(found.text)


@pytest.mark.parametrize(
    "change",
    [
        {"samples": [0.8 * GBIT, 1.0 * GBIT, 1.2 * GBIT]},  # not steady
        {"server": end("b", {"cpu": {"0": cpu(0.3, softirq=1.7)}})},  # the core may be the slower hop
        {"client": end("a", during=tcp(rtt=0.0003, min_rtt=0.0001))},  # no queue stands
        {"client": end("a", during=tcp(rtt=0.02, min_rtt=0.0001, rwnd_limited=1.5))},  # the window limits
    ],
)
def test_not_shaped(change: dict[str, Any]) -> None:
    given = {"client": end("a", during=tcp(rtt=0.02, min_rtt=0.0001)), "gbit": 1.0} | change
    assert "shaped" not in rules(stream(**given))


def test_duplex_mismatch_by_its_counters() -> None:
    half = end("a", {"nic": {"eth0": {"tx_bytes": 1e9, "collisions": 800, "tx_carrier": 30}}}, duplex="unknown")
    full = end("b", {"nic": {"eth0": {"rx_bytes": 1e9, "rx_frame": 700, "rx_errors": 700}}}, duplex="unknown")
    found = bottlenecks(stream(half, full))[0]
    assert (found.rule, found.subject) == ("duplex-mismatch", "a")
    assert "830 collisions, b received 700 broken frames" in found.text
    assert "duplex-mismatch" not in rules(stream(half, end("b")))


def pingpong(peaks: list[tuple[float, float]], rtt: float = 1e-4, **nic: Any) -> Situation:
    modes = [{"at": at, "share": share} for at, share in peaks]
    return Situation(end("a"), end("b", **nic), "tcp", "pingpong", samples=[rtt] * 6, peaks=[modes] * 6)


@pytest.mark.parametrize(
    "peaks, fits",
    [
        ([(50e-6, 0.3), (100e-6, 0.4), (151e-6, 0.3)], True),
        ([(100e-6, 0.5), (150e-6, 0.5)], True),
        ([(98e-6, 0.2), (102e-6, 0.3), (150e-6, 0.5)], True),  # the first two are one
        ([(100e-6, 0.5), (200e-6, 0.2)], False),  # three in ten are elsewhere
        ([(100e-6, 1.0)], False),  # one mode has no period
        ([(100e-6, 0.5), (110e-6, 0.5)], False),  # any two near ones are multiples of their distance
        ([(50e-6, 0.3), (100e-6, 0.4), (170e-6, 0.3)], False),
        ([(2e-6, 0.5), (4e-6, 0.5)], False),  # faster than any timer
    ],
)
def test_round_trips_in_steps(peaks: list[tuple[float, float]], fits: bool) -> None:
    assert (rules(pingpong(peaks)) == ["interrupt-moderated"]) is fits


@pytest.mark.parametrize("delay, fits", [(60e-6, True), (40e-6, False)])
def test_the_setting_is_most_of_the_round_trip(delay: float, fits: bool) -> None:
    s = pingpong([(100e-6, 1.0)], **{"coalescing.rx_delay": delay})
    assert (rules(s) == ["interrupt-moderated"]) is fits


def test_steps_under_load_may_be_the_schedulers() -> None:
    s = pingpong([(50e-6, 0.5), (100e-6, 0.5)])
    busy = replace(s, client=end("a", {"cpu": {"0": cpu(0.3, user=1.7)}}))
    assert rules(busy) == [UNDETERMINED]
    three = [{"at": at, "share": 0.33} for at in (50e-6, 100e-6, 150e-6)]
    assert rules(replace(busy, peaks=[three] * 6)) == ["interrupt-moderated"]
    assert rules(replace(busy, peaks=[three] * 2 + [[]] * 4)) == [UNDETERMINED]


def test_unlike_mtus_and_a_narrow_hop(wording: Wording) -> None:
    (found,) = bottlenecks(stream(server=end("b", mtu=9000)))
    assert (found.rule, found.subject) == ("mtu-mismatch", "a")
    narrow = end("a", during=tcp(pmtu=1500), mtu=9000)
    (found,) = bottlenecks(stream(narrow, end("b", mtu=9000)))
    assert lacking(found.text, "only 1500 B", "MTU of 9000 B") == []
    wording(found.text)


def large(transport: str = "tcp", bytes_: int = 4000, **more: Any) -> Situation:
    given: dict[str, Any] = {"stalls": 3, "failures": 3} if transport == "tcp" else {"loss": 1.0}
    uncounted = [End(node, facts()) for node in "ab"]
    return Situation(*uncounted, transport, more.pop("pattern", "pingpong"), {"bytes": bytes_}, **given | more)


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_full_packets_that_vanish(transport: str) -> None:
    (found,) = bottlenecks(large(transport))
    assert (found.rule, found.severity) == ("path-mtu", Severity.WARN)
    assert "though small packets opened every channel" in found.text
    assert "MTU of 1500 B" in found.text


@pytest.mark.parametrize(
    "s, fits",
    [
        (large("tcp", 1449), True),
        (large("tcp", 1448), False),  # one packet: whoever does not answer it would not answer any
        (large("udp", 1473), True),
        (large("udp", 1472), False),
        (large("tcp", 1, pattern="stream"), True),  # of small writes TCP makes full packets
        (large(stalls=2, failures=3), False),  # the third did not even connect: the peer is gone
        (large(stalls=1, failures=1), False),
        (large("udp", loss=0.999), False),
        (large(samples=[1e-3]), False),
        (replace(large(), client=End("a", facts(mtu=9000))), False),  # the MTUs differ, which says more
        (replace(large(), client=End("a")), False),
    ],
)
def test_what_is_a_black_hole_and_what_is_not(s: Situation, fits: bool) -> None:
    assert ("path-mtu" in rules(s)) is fits


def test_what_a_record_holds() -> None:
    (found,) = bottlenecks(stream(gbit=9.41))
    kept = found.to_json()
    assert set(kept) == {"rule", "subject", "text", "next_step", "severity", "evidence"}
    (evidence,) = kept["evidence"]
    assert (evidence["metric"], evidence["threshold"]) == ("throughput / line rate", 0.9)
    assert evidence["value"] == pytest.approx(9.41 * 1538 / 14480, rel=1e-3)
