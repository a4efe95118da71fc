"""Settings of real nodes are changed, and come back: by themselves where nobody is left to take them back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.changing import KILLED_AT, Refusal, agent, agent_tree
from tests.lab.conftest import ssh
from tests.processes import wait_until
from tests.running.tiers import first_of
from tests.wording import lacking
from wulf import lab
from wulf.agent import bundle

pytestmark = pytest.mark.lab

PATIENCE = 60.0
STATE = "/var/lib/wulf/changes"


def sysctl(key: str, value: Any) -> dict[str, Any]:
    return {"name": f"tcp.{key}", "mechanism": "sysctl", "target": {"key": key}, "place": "", "value": value}


def shell(name: str, read: str, write: str, value: str) -> dict[str, Any]:
    return {"name": name, "mechanism": "shell", "target": {"read": read, "write": write}, "place": "", "value": value}


LOWAT = sysctl("net.ipv4.tcp_notsent_lowat", 16384)
QUEUE = shell("nic.queue", "cat /sys/class/net/eth0/tx_queue_len", "ip link set eth0 txqueuelen {value}", "77")
MTU = shell("nic.mtu", "cat /sys/class/net/eth0/mtu", "ip link set eth0 mtu {value}", "1400")
DOWN = shell(
    "nic.state", "ip link show eth0 | grep -q ',UP' && echo up || echo down", "ip link set eth0 {value}", "down"
)
DROP = shell(
    "firewall.drop",
    "ip rule show pref 5 | grep -q blackhole && echo on || echo off",
    "[ {value} = on ] && ip rule add pref 5 blackhole || ip rule del pref 5",
    "on",
)
WRONG_MTU = {**MTU, "value": "68"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return agent_tree(tmp_path_factory.mktemp("agent"))


def dump(made: lab.Lab, node: str = "n1") -> str:
    """Settings of a node that the tests change, and more of their kind."""
    command = "ip -d link show eth0; ip addr show eth0 | grep 'inet '; "
    command += "ip rule; sysctl -a 2>/dev/null | grep ^net.ipv4.tcp | grep -v -e mem -e metrics -e fastopen_key"
    return ssh(made, node, command).stdout


def watched(made: lab.Lab, node: str = "n1") -> bool:
    return ssh(made, node, "pgrep -f [-]-watchdog").stdout != ""


@pytest.fixture(scope="module")
def two_nodes(netns: None) -> Iterator[lab.Lab]:
    """A lab of their own: TCP remembers of a network that was cut how late answers came (ip-tcp_metrics(8)), and what
    is lost on a busy machine is then sent again so late that ssh gives up: at times, in the tests that come after.
    """
    with lab.up(2, keep=False) as made:
        yield made


def test_a_campaign_leaves_a_node_as_it_was(two_nodes: lab.Lab, tree: Path) -> None:
    before = dump(two_nodes)
    with agent(two_nodes, "n1", tree) as first:
        done = first.ask("change_apply", campaign="c1", by="me@head", settings=[LOWAT, QUEUE, MTU], confirm=PATIENCE)
        assert [(each["name"], each["outcome"], each["after"]) for each in done["results"]] == [
            (LOWAT["name"], "applied", 16384), ("nic.queue", "applied", "77"), ("nic.mtu", "applied", "1400"),
        ]  # fmt: skip
        assert watched(two_nodes)
        with pytest.raises(Refusal, match="same-session"):
            first.ask("change_confirm", campaign="c1", change=done["change"])
        with agent(two_nodes, "n1", tree) as second:
            assert second.ask("change_confirm", campaign="c1", change=done["change"])["confirmed"] == [1]
            with pytest.raises(Refusal, match="campaign c1 of me@head"):
                second.ask("change_apply", campaign="c2", by="you@desk", settings=[LOWAT])
        assert dump(two_nodes) != before
        assert first.ask("change_status")["problems"] == []
        outcomes = [each["outcome"] for each in first.ask("change_revert", campaign="c1")["results"]]
        assert outcomes == ["reverted"] * 3
        first.ask("change_end", campaign="c1")
    assert dump(two_nodes) == before
    assert wait_until(lambda: not watched(two_nodes), PATIENCE)
    assert not Path("/var/lib/wulf").exists() or not (Path(STATE) / "journal.jsonl").exists()  # the host's


@pytest.mark.parametrize("cut", first_of([DOWN, DROP, WRONG_MTU]), ids=["link down", "all dropped", "wrong MTU"])
def test_a_change_that_cuts_the_network_is_taken_back_by_the_node(two_nodes: lab.Lab, tree: Path, cut: dict) -> None:
    before = dump(two_nodes)
    with agent(two_nodes, "n1", tree) as session:
        session.send("change_apply", campaign="c1", settings=[LOWAT, cut], confirm=2.0, lease=PATIENCE)
        assert wait_until(lambda: ssh_at_once(two_nodes, f"grep -l undone {STATE}/journal.jsonl"), PATIENCE)
    assert dump(two_nodes) == before
    with agent(two_nodes, "n1", tree) as session:
        found = session.ask("change_status")
        assert (found["open"], found["left"], found["problems"]) == ([], [], [])
        assert [each["name"] for each in found["taken_back"]] == [LOWAT["name"], cut["name"]]
        with pytest.raises(Refusal, match="was not confirmed within 2 s"):
            session.ask("change_confirm", campaign="c1", change=1)
        session.ask("change_end", campaign="c1")
    assert ssh(two_nodes, "n1", f"ls {STATE}/watchdog.log").returncode == 0


def ssh_at_once(made: lab.Lab, command: str) -> bool:
    """Whether a command succeeds on n1 that may be cut off."""
    words = ["ssh", "-F", str(made.ssh_config), "-o", "ConnectTimeout=1", "-o", "ServerAliveInterval=1", "n1", command]
    try:
        return (
            subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=5, check=False).returncode == 0
        )
    except subprocess.TimeoutExpired:
        return False


@pytest.mark.parametrize("whom", ["agent", "ssh"])
def test_killed_it_is_taken_back_by_the_node(two_nodes: lab.Lab, tree: Path, whom: str) -> None:
    before = dump(two_nodes)
    with agent(two_nodes, "n1", tree) as session:
        session.ask("change_apply", campaign="c1", settings=[LOWAT, QUEUE], confirm=PATIENCE, lease=2.0)
        if whom == "agent":
            assert ssh(two_nodes, "n1", f"kill -9 {session.pid}").returncode == 0
        else:
            os.kill(session.ssh.pid, signal.SIGKILL)
    assert wait_until(lambda: not watched(two_nodes), PATIENCE)
    assert dump(two_nodes) == before


STEPS = ["wrote nic.queue"]
MORE_STEPS = ["lock", "arm", "armed", "journaled write", "write nic.queue", "journaled wrote", "deadlines"]


@pytest.mark.full
@pytest.mark.parametrize("step", [*STEPS, *(pytest.param(step, marks=pytest.mark.full) for step in MORE_STEPS)])
def test_killed_at_a_step_nothing_stays(two_nodes: lab.Lab, tree: Path, step: str) -> None:
    before = dump(two_nodes)
    with agent(two_nodes, "n1", tree, KILLED_AT, step) as session:
        session.send("change_apply", campaign="c1", settings=[LOWAT, QUEUE], confirm=1.0, lease=1.5)
    assert wait_until(lambda: not watched(two_nodes), PATIENCE)
    assert dump(two_nodes) == before
    with agent(two_nodes, "n1", tree) as session:
        assert session.ask("change_status")["open"] == []
        session.ask("change_end", campaign="c1")


def test_a_watchdog_that_was_killed_is_followed_by_its_twin(two_nodes: lab.Lab, tree: Path) -> None:
    before = dump(two_nodes)
    with agent(two_nodes, "n1", tree) as session:
        armed = session.ask("change_apply", campaign="c1", settings=[LOWAT], confirm=PATIENCE)["watchdog"]
        ssh(two_nodes, "n1", f"kill -9 {armed['pid']}")

        def follower() -> int | None:
            found = session.ask("change_status")["watchdog"]
            return found["pid"] if found else None

        assert wait_until(lambda: follower() not in (None, armed["pid"]), PATIENCE)
        assert session.ask("change_status")["problems"] == []
        session.ask("change_revert")
        session.ask("change_end", campaign="c1")
    assert wait_until(lambda: not watched(two_nodes), PATIENCE)
    assert dump(two_nodes) == before


KILL_ALL = "while pkill -9 -f [-]-watchdog; do :; done"
"""The watchdog and its twin: one that sees the other end starts another."""


@pytest.mark.full
def test_a_watchdog_that_was_killed_with_its_twin_is_missed_and_replaced(two_nodes: lab.Lab, tree: Path) -> None:
    with agent(two_nodes, "n1", tree) as session:
        session.ask("change_apply", campaign="c1", settings=[LOWAT], confirm=PATIENCE)
        ssh(two_nodes, "n1", KILL_ALL)
        assert "the watchdog has ended" in session.ask("change_status")["problems"][0]
        assert session.ask("change_renew", campaign="c1")["watchdog"]["started"]
        assert session.ask("change_status")["problems"] == []
        session.ask("change_revert")
        session.ask("change_end", campaign="c1")


@pytest.mark.full
def test_by_hand_with_the_agent_that_the_change_left_on_the_node(two_nodes: lab.Lab, tmp_path: Path) -> None:
    before = dump(two_nodes)
    program = f"{sys.executable} {bundle.build(tmp_path)}"
    request = '{"id": 1, "op": "change_apply", "campaign": "c1", "by": "me@head", "settings": [%s], "confirm": 60}'
    setting = '{"name": "tcp.lowat", "mechanism": "sysctl", "target": {"key": "net.ipv4.tcp_notsent_lowat"}, '
    setting += '"place": "", "value": 16384}'
    done = ssh(two_nodes, "n1", f"echo '{request % setting}' | {program}")
    assert '"outcome": "applied"' in done.stdout, done
    (tmp_path / bundle.NAME).unlink()
    by_hand = f"{sys.executable} {STATE}/{bundle.NAME}"
    shown = ssh(two_nodes, "n1", f"{by_hand} --changes")
    assert shown.returncode == 1
    held = ("campaign c1 of me@head ", "\nopen: tcp.lowat: was 4294967295, written 16384")
    assert lacking(shown.stdout, *held) == []
    back = ssh(two_nodes, "n1", f"{by_hand} --revert c1; {by_hand} --changes; {by_hand} --revert")
    reverted = back.stdout.splitlines()[0]
    assert reverted.startswith("reverted: tcp.lowat: ")
    assert lacking(reverted, "now 4294967295", "was 4294967295", "written 16384") == []
    assert back.stdout.endswith("nothing is changed here\n")
    assert back.returncode == 0
    assert dump(two_nodes) == before
    ssh(two_nodes, "n1", f"""echo '{{"id": 1, "op": "change_end", "campaign": "c1"}}' | {by_hand}""")
    assert wait_until(lambda: not watched(two_nodes), PATIENCE)


def test_a_full_disk_stops_what_is_new_and_not_the_way_back(two_nodes: lab.Lab, tree: Path) -> None:
    before = dump(two_nodes)
    assert ssh(two_nodes, "n1", "mount -t tmpfs -o size=2m none /var/lib/wulf").returncode == 0
    try:
        with agent(two_nodes, "n1", tree) as session:
            session.ask("change_apply", campaign="c1", settings=[LOWAT], confirm=PATIENCE)
            ssh(two_nodes, "n1", "dd if=/dev/zero of=/var/lib/wulf/full bs=4k; cat /dev/zero >>/var/lib/wulf/full")
            with pytest.raises(Refusal, match=r"nothing was begun.* bytes left"):
                session.ask("change_apply", campaign="c1", settings=[QUEUE])
            (result,) = session.ask("change_revert")["results"]
            assert (result["outcome"], result["now"]) == ("reverted", result["before"])
        assert dump(two_nodes) == before
    finally:
        ssh(two_nodes, "n1", f"{KILL_ALL}; umount -l /var/lib/wulf; rm -r /run/wulf-changes")


@pytest.mark.full
@pytest.mark.parametrize(
    "step", ["written back nic.queue", pytest.param("write back nic.queue", marks=pytest.mark.full)]
)
def test_killed_on_the_way_back_another_goes_it(two_nodes: lab.Lab, tree: Path, step: str) -> None:
    before = dump(two_nodes)
    with agent(two_nodes, "n1", tree, KILLED_AT, step) as session:
        session.ask("change_apply", campaign="c1", settings=[LOWAT, QUEUE], confirm=PATIENCE)
        session.send("change_revert", campaign="c1")
        session.ssh.wait(PATIENCE)
    with agent(two_nodes, "n1", tree) as session:
        assert {each["name"] for each in session.ask("change_status")["open"]} == {LOWAT["name"], "nic.queue"}
        assert [each["outcome"] for each in session.ask("change_revert")["results"]] == ["reverted"] * 2
        session.ask("change_end", campaign="c1")
    assert dump(two_nodes) == before


def test_a_node_sees_the_hosts_var_lib_and_has_a_wulf_of_its_own(two_nodes: lab.Lab) -> None:
    def seen(node: str) -> set[str]:
        return set(ssh(two_nodes, node, "ls -A /var/lib").stdout.split()) - {"wulf"}

    assert seen("n1") == {path.name for path in Path("/var/lib").iterdir()} - {"wulf"}
    mode = ssh(two_nodes, "n1", "touch /var/lib/wulf/mine && stat -c %a /var/lib/wulf").stdout
    assert mode == "700\n"
    assert "mine" not in ssh(two_nodes, "n2", "ls -A /var/lib/wulf").stdout
    assert not Path("/var/lib/wulf/mine").exists()
