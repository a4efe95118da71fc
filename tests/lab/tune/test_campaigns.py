"""Campaigns on a lab: right verdicts over real settings, planted effects, and every node as before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import skip_or_fail, ssh
from tests.lab.disturbance import disturbance
from tests.lab.interrupting import InterruptAfter
from tests.wording import lacking
from wulf import lab
from wulf.cluster.inventory import Inventory
from wulf.measure.engine.watcher import Progress, Unwatched
from wulf.store.run import RunWriter, read_run
from wulf.tune.setting import Aim
from wulf.workflow.engine.done import Done
from wulf.workflow.tune import measures as tune_measures
from wulf.workflow.tune import undo as tune_undo
from wulf.workflow.tune.prepare import CampaignRequest, plan_object
from wulf.workflow.tune.run import plan_only, tune

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

RATE, STREAM_SECONDS = "20mbit", 0.3
"""A slow link, and long streams: the pauses of a machine that others share cost them little."""

ETHERNET, TCP_IP = 14, 52
"""Bytes that a frame has before its packet, and that a packet has before its data: IPv4, TCP, and its timestamps."""

ONE_PACKET = 1 / 83
"""Such a time of such a link holds so many of the largest packets, and counts one more or less."""

RULES, TIMES = 2000, 4
"""So many, gone through so often, that they cost more than CPUs that must be woken, whose time is noise: some 140 us on
each node."""


def goodput(mtu: int) -> float:
    """Share of a link's rate that TCP's data gets, where the rate counts Ethernet's header."""
    return (mtu - TCP_IP) / (mtu + ETHERNET)


@pytest.fixture
def campaign(two_nodes: lab.Lab, tmp_path: Path) -> Callable[..., Done]:
    """Carries a campaign out on the lab's two nodes."""

    def run(aim: Aim, settings: str, watch: Any = None, **request: Any) -> Done:
        inventory = Inventory.from_lab(two_nodes)
        with RunWriter(tmp_path / "run", "tune", {"seed": 5, "nodes": list(inventory.names)}) as writer:
            return tune(
                inventory,
                CampaignRequest(aim, settings, seed=5, quick=True, **request),
                writer,
                watch=watch or Unwatched(),
            )

    return run


@pytest.fixture
def long_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = replace(tune_measures.NET[Aim.THROUGHPUT], seconds=STREAM_SECONDS)
    monkeypatch.setitem(tune_measures.NET, Aim.THROUGHPUT, longer)


@contextmanager
def linked(made: lab.Lab, **options: str) -> Iterator[None]:
    """Both nodes' links are emulated, for the length of the block; then they are plain again."""
    for node in ("n1", "n2"):
        made.set_link(node, options)
    try:
        yield
    finally:
        for node in ("n1", "n2"):
            made.set_link(node, dict.fromkeys(options, "none"))
            made.set_link(node, {}, emulator="none")


@contextmanager
def reno(made: lab.Lab) -> Iterator[None]:
    """Whatever this machine's default is: one that probes for the link's rate holds back while it does."""
    was = ssh(made, "n1", "sysctl -n net.ipv4.tcp_congestion_control").stdout.strip()
    _congestion(made, "reno")
    try:
        yield
    finally:
        _congestion(made, was)


def _congestion(made: lab.Lab, word: str) -> None:
    for node in ("n1", "n2"):
        said = ssh(made, node, f"sysctl -w net.ipv4.tcp_congestion_control={word}")
        assert said.returncode == 0, said.stderr


def findings(done: Done) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in done.result["settings"]}


CLEARLY = 1.5
"""So many times the minimum detectable effect: some six standard errors. Chance and a busy machine do not reach it, and
no campaign misses it."""


def claims(effect: dict[str, Any] | None, *judgements: str) -> bool:
    """Whether a campaign says so of an effect that its own noise can't have made; what is inert has none."""
    if effect is None or effect["judgement"] not in judgements:
        return False
    return bool(abs(effect["improvement"]) > CLEARLY * effect["least_visible"])


def as_before(done: Done) -> None:
    """Nothing is left, byte by byte."""
    assert not done.result["leftovers"], done.result["leftovers"]
    assert done.result["dumps"]["same"], done.result["dumps"]
    before, after = ((done.path / f"settings-{when}.json").read_bytes() for when in ("before", "after"))
    assert before == after


@pytest.mark.alone
def test_a_planted_effect_lies_in_its_interval_and_all_is_as_before(
    two_nodes: lab.Lab, campaign: Callable[..., Done], long_streams: None
) -> None:
    """Of a link whose rate is known, the MTU decides what is left for data: an effect known beforehand."""
    with linked(two_nodes, rate=RATE, mtu="9000"), reno(two_nodes), disturbance() as taken:
        done = campaign(Aim.THROUGHPUT, "nic.mtu=1500", keep=False)
    assert done.result["state"] == "complete", done.result["notes"]
    found = findings(done)["nic.mtu"]
    planted = goodput(1500) / goodput(9000) - 1
    effect, known = found["effect"], ONE_PACKET + taken.lost
    assert effect["improvement_low"] - known <= planted <= effect["improvement_high"] + known, (effect, taken)
    assert found["judgement"] != "faster" or taken.lost > -planted  # on a machine at rest it is slower
    small = [r for r in read_run(done.path).records if r.params["arm"] == "nic.mtu = 1500 B"]
    assert small
    assert all(r.params["set.nic.mtu"] == 1500 for r in small)
    as_before(done)


@pytest.mark.full
def test_a_packet_size_that_the_switch_drops_is_left_out(campaign: Callable[..., Done]) -> None:
    """Every node could have it, and the network between them does not carry it."""
    done = campaign(Aim.THROUGHPUT, "nic.mtu=3000", keep=False)
    assert done.result["state"] == "complete", done.result["notes"]
    assert lacking(findings(done)["nic.mtu"]["verdict"], "refused: not reached", "cluster's network") == []
    as_before(done)


@pytest.mark.full
def test_inert_settings_are_named_the_a_a_arm_is_clean_and_nothing_is_left(campaign: Callable[..., Done]) -> None:
    done = campaign(Aim.LATENCY, "tcp.fack=on,tcp.autocorking=off", keep=False)
    assert done.result["state"] == "complete", done.result["notes"]
    assert findings(done)["tcp.fack"]["verdict"].startswith("inert: ")
    assert not findings(done)["tcp.fack"]["worth_keeping"]
    assert not claims(done.result["control"], "faster", "slower"), done.result["control"]
    as_before(done)


@pytest.mark.full
def test_what_an_interface_clamps_is_named_with_what_it_is(campaign: Callable[..., Done], two_nodes: lab.Lab) -> None:
    """TAP devices take any number of rx-frames, and keep at most 64."""
    with linked(two_nodes, delay="50us"):
        done = campaign(Aim.LATENCY, "nic.rx_frames=100", keep=False)
    assert done.result["state"] == "complete", done.result["notes"]
    assert findings(done)["nic.rx_frames"]["verdict"].startswith("clamped (asked 100, got 64): ")
    as_before(done)


@contextmanager
def firewall(made: lab.Lab) -> Iterator[None]:
    """Long chains of rules with connection tracking, which let untracked packets pass, in both nodes."""
    if shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
        skip_or_fail("no nft here: apt install nftables")
    long = [f"tcp dport {20000 + i} ct state invalid drop" for i in range(RULES)]
    hook = ["type filter hook input priority 0", "policy accept", "ct state untracked accept", *["jump rules"] * TIMES]
    chain = f"table inet long {{\nchain rules {{ {'; '.join(long)}; }}\nchain input {{ {'; '.join(hook)}; }}\n}}"
    for node in ("n1", "n2"):
        loaded = ssh(made, node, f"printf '%s' '{chain}' | nft -f -")
        assert loaded.returncode == 0, loaded.stderr
    try:
        yield
    finally:
        for node in ("n1", "n2"):
            ssh(made, node, "nft delete table inet long")


@pytest.mark.alone
def test_a_firewalls_cost_is_seen_and_the_bypass_kept(two_nodes: lab.Lab, campaign: Callable[..., Done]) -> None:
    with firewall(two_nodes), disturbance() as taken:
        done = campaign(Aim.LATENCY, "firewall.bypass")
    try:
        assert done.result["state"] == "complete", done.result["notes"]
        bypass, kept = findings(done)["firewall.bypass"], [one["name"] for one in done.result["kept"]]
        silent = "main" in done.result["alarms"]  # the A/A arm differs from itself, by chance once in twenty
        if not silent and (taken.at_rest or bypass["judgement"] != "none"):
            assert bypass["judgement"] == "faster", (bypass["effect"], taken)
            assert kept == ["firewall.bypass"]
            written = json.loads((done.path / "kept.json").read_text())["kept"]
            assert written[0]["effect"]["low"] > 0
        else:  # where something takes CPUs away it is not always to be seen
            assert not kept
    finally:
        results = tune_undo.revert(Inventory.from_lab(two_nodes), done.result["campaign"])
    assert {one["outcome"] for one in results} == ({"reverted"} if kept else set())


def test_an_interrupt_leaves_every_node_as_before(campaign: Callable[..., Done]) -> None:
    done = campaign(Aim.LATENCY, "nic.mtu=1400,nic.gro=false", watch=InterruptAfter(9))
    assert done.exit_code == 130
    assert done.result["rows"]
    as_before(done)


def test_nothing_is_written_by_a_dry_run(two_nodes: lab.Lab) -> None:
    before = ssh(two_nodes, "n1", "ip -j link; find /var/lib/wulf -type f").stdout
    plan = plan_object(plan_only(Inventory.from_lab(two_nodes), CampaignRequest(Aim.THROUGHPUT)))
    assert {"nic.mtu"} <= {one["name"] for one in plan["settings"]}
    assert ssh(two_nodes, "n1", "ip -j link; find /var/lib/wulf -type f").stdout == before
    assert any(lacking(one["reason"], "machine", "nodes share") == [] for one in plan["omitted"])


@pytest.mark.full
def test_a_killed_node_is_named_and_the_other_is_as_before(tmp_path: Path, netns: None) -> None:
    with lab.up(2, keep=False) as made:
        inventory = Inventory.from_lab(made)

        class Kill(Unwatched):
            killed = False

            def on_progress(self, progress: Progress) -> None:
                if progress.done == 5 and not self.killed:
                    self.killed = True
                    made.kill_node("n2")
                    time.sleep(0.2)

        with RunWriter(tmp_path / "run", "tune", {"seed": 5}) as writer:
            request = CampaignRequest(Aim.LATENCY, "nic.mtu=1400,nic.gro=false", seed=5, quick=True)
            done = tune(inventory, request, writer, watch=Kill())
        assert done.exit_code == 3
        assert done.result["rows"]
        assert "mtu 1500" in ssh(made, "n1", "ip link show eth0").stdout


QUIET = (
    "nic.gro=false,nic.tso=false,nic.napi_threaded=on,tcp.autocorking=off,tcp.no_metrics_save=on,"
    "tcp.fack=on,nic.rx_frames=100"
)
"""None of them makes a single message faster, nor leaves more of a link's rate for data."""


def improvements(made: lab.Lab, pairs: int) -> list[float]:
    """Shares of the round trip that the firewall costs, one of each pair of runs: measured beside any campaign."""
    found = []
    for _ in range(pairs):
        with firewall(made):
            slow = round_trip(made)
        found.append(1 - round_trip(made) / slow)
    return found


def round_trip(made: lab.Lab) -> float:
    """Seconds, by one short measurement of the pair."""
    words = ["net", "pingpong", "n1", "n2", "--lab", "--seconds", "0.5", "--json"]
    env = os.environ | {"WULF_LAB": made.name}
    done = subprocess.run(
        [sys.executable, "-m", "wulf.cli.main", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    (found,) = [one["value"] for one in records if one["metric"] == "rtt"]
    return float(found)


def check_company(done: Done) -> None:
    """What does nothing is said to, inert and clamped ones by name; the method itself does nothing either."""
    assert done.result["state"] == "complete", done.result["notes"]
    found = findings(done)
    assert found["tcp.fack"]["verdict"].startswith("inert: ")
    assert found["nic.rx_frames"]["verdict"].startswith("clamped (asked 100, got 64): ")
    # a delayed or slowed link ends in a TAP device, which never joins segments
    assert done.result["omitted"] == [{"name": "nic.tso", "reason": "is so already on every node"}]
    names = {one.partition("=")[0] for one in QUIET.split(",")} - {"nic.tso"}
    faster = [found[name] for name in names if claims(found[name]["effect"], "faster")]
    assert not faster, faster
    assert not claims(done.result["control"], "faster", "slower"), done.result["control"]
    as_before(done)


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_latency_over_all_at_once(two_nodes: lab.Lab, campaign: Callable[..., Done]) -> None:
    """What rules cost is known by measurement alone, as the campaign's effect is: the two intervals have to overlap.

    Of eight pairs, half before the campaign and half after it, the least and the largest enclose the true cost in 254
    of 256 cases, and whatever the machine did to either half.
    """
    with linked(two_nodes, delay="50us"):
        planted = improvements(two_nodes, 4)
        with firewall(two_nodes):
            done = campaign(Aim.LATENCY, f"firewall.bypass,nic.mtu=1400,{QUIET}", keep=False)
        planted += improvements(two_nodes, 4)
    check_company(done)
    found = findings(done)
    assert found["firewall.bypass"]["judgement"] == "faster", found["firewall.bypass"]
    effect = found["firewall.bypass"]["effect"]
    print(f"\nplanted {[round(one, 3) for one in sorted(planted)]}, found {effect}")
    assert effect["improvement_low"] <= max(planted)
    assert min(planted) <= effect["improvement_high"]
    assert not claims(found["nic.mtu"]["effect"], "faster", "slower"), found["nic.mtu"]


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_throughput_over_all_at_once(two_nodes: lab.Lab, campaign: Callable[..., Done], long_streams: None) -> None:
    """Others run beside it, and take from the link what a larger MTU gives: the planted effect is claimed alone."""
    with linked(two_nodes, rate=RATE, mtu="9000"), reno(two_nodes):
        done = campaign(Aim.THROUGHPUT, f"nic.mtu=1500,{QUIET}", keep=False)
    check_company(done)
    effect = findings(done)["nic.mtu"]["effect"]
    assert effect is not None
    assert not claims(effect, "faster"), effect


@pytest.mark.full
def test_segments_that_a_processor_cuts_cost_throughput(campaign: Callable[..., Done], long_streams: None) -> None:
    """Between veth devices a segment stays whole; without TSO the sender's processor cuts each to packets."""
    done = campaign(Aim.THROUGHPUT, "nic.tso=false", keep=False)
    assert done.result["state"] == "complete", done.result["notes"]
    found = findings(done)["nic.tso"]
    print(f"\nfound {found['effect']}")
    assert found["effect"]["judgement"] == "slower", found
    assert not found["worth_keeping"]
    as_before(done)
