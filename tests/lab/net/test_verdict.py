"""Each rule of the verdict on a live case that causes it; and a healthy pair, which nobody accuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import skip_or_fail, ssh
from wulf import lab as labs
from wulf.core.findings import Severity
from wulf.lab import linker
from wulf.store.run import Run, read_run
from wulf.workflow.engine.baseline import LEAST_IDLE_SECONDS

pytestmark = pytest.mark.lab
WULF = [sys.executable, "-m", "wulf.cli.main"]
KEEP = os.environ.get("WULF_KEEP_RUNS")
"""Where the runs are kept, from which tests/unit/measure/recorded is made."""


@pytest.fixture(scope="module")
def two(netns: None) -> Iterator[labs.Lab]:
    with labs.up(2, keep=True, name=f"verdict-{os.getpid()}") as made:
        yield made


@pytest.fixture
def out(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return Path(KEEP, request.node.name) if KEEP else tmp_path / "run"


def measure(made: labs.Lab, out: Path, *words: str, where: tuple[str, ...] = ("--lab",)) -> Run:
    done = subprocess.run(
        [*WULF, *words, *where, "--out", str(out)],
        capture_output=True, text=True, timeout=240, check=False, env=os.environ | {"WULF_LAB": made.name},
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    return read_run(out)


def verdicts(run: Run) -> dict[str, dict[str, Any]]:
    """Rule → verdict, of the run's one primary record."""
    (held,) = [r.bottleneck for r in run.records if r.bottleneck]
    return {one["rule"]: one for one in held}


def accused(run: Run) -> list[str]:
    return [f.text for f in run.findings if f.kind == "bottleneck" and f.severity is not Severity.INFO]


def run_in(made: labs.Lab, node: str, command: str) -> None:
    done = ssh(made, node, command)
    assert done.returncode == 0, done.stderr


@contextmanager
def tap_wire(made: labs.Lab, **asked: Any) -> Iterator[tuple[str, ...]]:
    """The wire, and the options with which wulf measures over it."""
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        skip_or_fail("a TAP interface in a node takes root and /dev/net/tun")
    pids = [node["process"]["pid"] for node in json.loads((made.state / "lab.json").read_text())["nodes"]]
    program = Path(__file__).with_name("tap_wire.py")
    words = [sys.executable, str(program), json.dumps({"pids": pids, **asked})]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as wire:
        assert wire.stdout is not None
        assert wire.stdout.readline() == "ready\n"
        yield "--nodes", "n1,n2", "--ssh-config", str(made.ssh_config), "--network", "10.99.0.0/24"


@pytest.mark.alone
def test_a_healthy_pair_is_not_accused(two: labs.Lab, out: Path) -> None:
    run = measure(two, out, "net", "pingpong", "n1", "n2")
    assert accused(run) == []
    before, after = run.baseline["before"]["n1"], run.baseline["after"]["n2"]
    assert LEAST_IDLE_SECONDS < before["seconds"] < 60
    assert after["counters"]["cpu"]["all"]
    (during,) = [r["during"]["client"] for r in run.replicates[:1]]
    assert during["tcp"]["counts"]["segs_out"] > 100
    assert during["frequency"]["value"] or during["frequency"]["reason"]


@pytest.mark.alone
@pytest.mark.full
def test_the_rate_that_was_asked_for(two: labs.Lab, out: Path) -> None:
    run = measure(two, out, "net", "stream", "n1", "n2", "--rate", "1e6", "--bytes", "10000", "--quick")
    assert set(verdicts(run)) == {"asked-rate"}


@pytest.mark.alone
def test_one_core_for_both_ends(two: labs.Lab, out: Path) -> None:
    run = measure(two, out, "net", "stream", "n1", "n2", "--quick")
    found = verdicts(run)["cpu-bound"]
    assert found["evidence"][0]["value"] >= 0.95
    assert accused(run) == []


@pytest.mark.alone
def test_a_small_window(two: labs.Lab, out: Path) -> None:
    run = measure(two, out, "net", "stream", "n1", "n2", "--rcvbuf", "8192", "--quick")
    found = verdicts(run)["window-bound"]
    assert found["subject"] == "n2"
    assert "--rcvbuf 8192 was asked for" in found["text"]


@pytest.mark.alone
def test_a_small_buffer_for_datagrams(two: labs.Lab, out: Path) -> None:
    words = ("--transport", "udp", "--rcvbuf", "2048", "--quick")
    run = measure(two, out, "net", "stream", "n1", "n2", *words)
    found = verdicts(run)["drop-bound"]
    assert (found["subject"], found["evidence"][1]["metric"]) == ("n2", "snmp.Udp.RcvbufErrors")


@pytest.mark.alone
@pytest.mark.full
def test_datagrams_faster_than_the_senders_own_queue(two: labs.Lab, out: Path) -> None:
    run_in(two, "n1", "tc qdisc add dev eth0 root tbf rate 50mbit burst 16k limit 30k")
    try:
        run = measure(two, out, "net", "stream", "n1", "n2", "--transport", "udp", "--quick")
    finally:
        run_in(two, "n1", "tc qdisc del dev eth0 root")
    found = verdicts(run)["drop-bound"]
    assert (found["subject"], found["evidence"][1]["metric"]) == ("n1", "snmp.Udp.SndbufErrors")
    assert "tbf" in found["text"]


@pytest.mark.alone
@pytest.mark.full
def test_losses_that_no_end_counts(two: labs.Lab, out: Path) -> None:
    two.set_rate("n2", "50mbit")
    try:
        words = ("--transport", "udp", "--rate", "10e6", "--rcvbuf", "4000000", "--quick")
        run = measure(two, out, "net", "stream", "n1", "n2", *words)
    finally:
        two.set_rate("n2", None)
    found = verdicts(run)["drop-bound"]
    assert "neither end counts a drop" in found["text"]


@pytest.mark.alone
def test_a_shaped_link(two: labs.Lab, out: Path) -> None:
    two.set_rate("n2", "100mbit")
    try:
        run = measure(two, out, "net", "stream", "n1", "n2", "--seconds", "0.5", "--quick")
    finally:
        two.set_rate("n2", None)
    found = verdicts(run)
    assert found["shaped"]["subject"] == "n2"
    assert accused(run) == []


@pytest.mark.full
def test_one_way_is_slower(two: labs.Lab, out: Path) -> None:
    run_in(two, "n2", "tc qdisc add dev eth0 root tbf rate 50mbit burst 16k latency 50ms")
    try:
        run = measure(two, out, "net", "pairs", "--quick")  # as a survey, without its sweep of sizes
    finally:
        run_in(two, "n2", "tc qdisc del dev eth0 root")
    (found,) = [f for f in run.findings if f.text.startswith("asymmetric")]
    assert found.subject == "n2>n1"


@pytest.mark.alone
@pytest.mark.full
def test_a_full_link(two: labs.Lab, out: Path) -> None:
    with tap_wire(two, speed=20, rate=20e6) as where:
        run = measure(two, out, "net", "stream", "n1", "n2", "--seconds", "0.5", "--quick", where=where)
    assert next(iter(verdicts(run))) == "link-bound"
    assert accused(run) == []


@pytest.mark.alone
@pytest.mark.full
def test_datagrams_that_a_full_link_leaves_with_the_sender(two: labs.Lab, out: Path) -> None:
    with tap_wire(two, speed=20, rate=20e6, waits=True) as where:
        # A fifth more than the wire takes: of a flood a hundred times as fast, no acknowledgement of the run's own
        # conversation would find room in the device's queue either.
        words = ("--transport", "udp", "--rate", "3e6", "--seconds", "0.5", "--quick")
        found = verdicts(measure(two, out, "net", "stream", "n1", "n2", *words, where=where))
    assert next(iter(found)) == "link-bound"
    assert (found["drops"]["subject"], found["drops"]["evidence"][1]["metric"]) == ("n1", "nic.tx_dropped")


@pytest.mark.full
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_path_that_drops_full_packets_without_a_word(two: labs.Lab, out: Path, transport: str) -> None:
    # On the way from n1 to n2, while both their devices keep their MTU. The switch's own has 1400 B by n2's port, so
    # that the ssh of who measures still passes; a bridge may fragment datagrams anew, a line never does.
    two.set_link("n2", {"mtu": "1400"}, direction="in")
    two.set_link("n1", {"delay": "0"})
    try:
        linker.request(two.state, "set", name="n1", direction="out", params={"mtu": 1400})
        words = ("--transport", transport, "--bytes", "4000", "--timeout", "0.5", "--seconds", "0.1", "--quick")
        run = measure(two, out, "net", "pingpong", "n1", "n2", *words)
        small = measure(two, out.with_name(f"{out.name}-small"), "net", "pingpong", "n1", "n2", "--quick")
    finally:
        for node in ("n1", "n2"):
            two.set_link(node, {}, emulator="none")
    found = verdicts(run)
    assert next(iter(found)) == "path-mtu"
    assert "black hole" in found["path-mtu"]["text"]
    assert "path-mtu" not in verdicts(small)
    assert small.records[0].value, small.records[0].reason


@pytest.mark.alone
@pytest.mark.full
def test_gathered_interrupts(two: labs.Lab, out: Path) -> None:
    with tap_wire(two, tick=0.01) as where:
        run = measure(two, out, "net", "pingpong", "n1", "n2", "--seconds", "4", "--quick", where=where)
    found = verdicts(run)["interrupt-moderated"]
    assert found["evidence"][0]["value"] == pytest.approx(0.01, rel=0.1)


@pytest.mark.alone
@pytest.mark.full
def test_half_a_duplex(two: labs.Lab, out: Path) -> None:
    with tap_wire(two, speed=100, duplex=["full", "half"]) as where:
        run = measure(two, out, "net", "pingpong", "n1", "n2", "--quick", where=where)
    found = verdicts(run)["duplex-mismatch"]
    assert (found["subject"], "n1 says full and n2 says half" in found["text"]) == ("n2", True)


@pytest.mark.alone
@pytest.mark.full
def test_unlike_mtus(two: labs.Lab, out: Path) -> None:
    run_in(two, "n2", "ip link set eth0 mtu 1400")
    try:
        run = measure(two, out, "net", "pingpong", "n1", "n2", "--quick")
    finally:
        run_in(two, "n2", "ip link set eth0 mtu 1500")
    assert verdicts(run)["mtu-mismatch"]["subject"] == "n2"
