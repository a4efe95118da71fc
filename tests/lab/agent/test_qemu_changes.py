"""Changes on virtual machines: the power fails, a node reboots, a login ends with all its processes, sudo is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.lab.changing import Agent, Reached, agent
from tests.lab.interrupting import InterruptAfter
from tests.lab.machines import PATIENCE, ask, assert_as_before, await_boot, boot_id, dump, put, run
from tests.processes import wait_until
from wulf import lab
from wulf.agent import bundle
from wulf.agent.changes.watch import atboot
from wulf.cluster.inventory import Inventory
from wulf.measure.engine.watcher import Unwatched
from wulf.store.run import RunWriter
from wulf.tune.setting import Aim
from wulf.workflow.engine.done import Done
from wulf.workflow.tune import undo as tune_undo
from wulf.workflow.tune.audit import audit
from wulf.workflow.tune.prepare import CampaignRequest
from wulf.workflow.tune.run import tune

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(3600)]

AGENT = Path("/opt/wulf-agent")
JOURNAL = "/var/lib/wulf/changes/journal.jsonl"
AT = "/run/at-the-step"
ALIVE = 60
"""Seconds: an emulated node on a busy host may be silent for a while."""
CONFIRM = 150.0
"""Seconds: two emulated nodes, of which one may have twice the CPU that the other has."""
LEASE = 3600.0
"""Seconds: no watchdog may come before the fault does."""

STOPS_AT = f"""
import dataclasses, sys, time
from pathlib import Path
from wulf.agent.changes import operations
live, at = operations.live, sys.argv.pop()
def step(name):
    if name == at:
        Path("{AT}").touch()
        time.sleep({LEASE})
operations.live = lambda: dataclasses.replace(live(), step=step)
from wulf.agent.__main__ import main
sys.exit(main([]))
"""
"""An agent that stands still at a step."""


def setting(name: str, mechanism: str, target: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    return {"name": name, "mechanism": mechanism, "target": target, "place": place, "value": value}


LOWAT = setting("tcp.notsent_lowat", "sysctl", {"key": "net.ipv4.tcp_notsent_lowat"}, "", 16384)
COALESCE = setting("nic.rx_usecs", "ethtool", {"topic": "coalesce", "field": "rx_usecs", "scale": 1e-6}, "eth0", 0.001)
AT_BOOT = setting("irq.balance_enabled", "service", {"unit": "irqbalance", "what": "enabled"}, "", "disabled")
CHANGES = [LOWAT, COALESCE, AT_BOOT]


@pytest.fixture(scope="module")
def pair(machines: lab.Lab, tmp_path_factory: pytest.TempPathFactory) -> lab.Lab:
    """The machines, each with the agent's file."""
    content = bundle.build(tmp_path_factory.mktemp("agent")).read_bytes()
    for node in ("n1", "n2"):
        put(machines, node, content, str(AGENT))
    return machines


@contextmanager
def session(made: Reached, node: str, *code: str, sudo: bool = False) -> Iterator[Any]:
    python = (*(("sudo", "-n") if sudo else ()), "python3")
    with agent(made, node, AGENT, *code, python=python, alive=ALIVE) as opened:
        yield opened


def stand_still(made: lab.Lab, node: str, step: str) -> None:
    """Let an agent begin a change, and perhaps take it back, until it stands at the step: its data are on the disk."""
    run(made, node, f"rm -f {AT}")  # of a test before that did not come to its power cut
    with agent_left_alone(made, node, step) as begun:
        apply = {"campaign": "c1", "by": "me@head", "settings": CHANGES, "confirm": LEASE, "lease": LEASE}
        if "undo" in step or "back" in step:
            begun.ask("change_apply", **apply)  # a revert is refused while settings are being changed
            begun.send("change_revert", campaign="c1")
        else:
            begun.send("change_apply", **apply)
        assert wait_until(lambda: ask(made, node, f"test -e {AT}").returncode == 0, PATIENCE), f"{node}: never {step}"


@contextmanager
def agent_left_alone(made: lab.Lab, node: str, step: str) -> Iterator[Any]:
    """An agent that nobody takes leave of."""
    begun = Agent(made, node, AGENT, (STOPS_AT, step), ("python3",), ALIVE)
    try:
        yield begun
    finally:
        begun.ssh.kill()
        begun.ssh.wait()


def start_irqbalance(made: lab.Lab, *nodes: str) -> None:
    """On nodes that may have booted while it was disabled: it is enabled again, and the next boot would start it."""
    for node in nodes:
        run(made, node, "systemctl start irqbalance")


def await_taken_back(made: lab.Lab, node: str) -> None:
    """Until the boot has taken back what it has kept."""
    unit = str(atboot.UNITS / atboot.UNIT)
    assert wait_until(lambda: ask(made, node, f"test -e {unit}").returncode != 0, PATIENCE), unit


def outcomes(results: list[dict[str, Any]]) -> dict[str, str]:
    return {one["name"]: one["outcome"] for one in results}


def as_before(results: list[dict[str, Any]]) -> bool:
    return all(one["now"] == one["before"] for one in results)


NOT_BEGUN: dict[str, str] = {}
ONE = {LOWAT["name"]: "stale"}
ALL = {LOWAT["name"]: "stale", COALESCE["name"]: "stale"}
"""That are open after a boot, which has taken back by itself what it had kept: AT_BOOT."""
STEPS = [
    (("journal write", NOT_BEGUN), ("journaled write", ONE)),
    ((f"wrote {AT_BOOT['name']}", ALL), (f"written back {AT_BOOT['name']}", ALL)),
]


@pytest.mark.parametrize("steps", STEPS, ids=lambda steps: ", ".join(step for step, _ in steps))
def test_after_a_power_cut_at_a_step_all_is_accounted_for(pair: lab.Lab, steps: Any) -> None:
    """What the journal had announced is named after the boot, and closed; what outlives a boot is taken back."""
    before = dump(pair)
    wanted = dict(zip(("n1", "n2"), steps, strict=True))
    for node, (step, _) in wanted.items():
        stand_still(pair, node, step)
    for node in wanted:
        pair.kill_node(node)
    for node in wanted:
        pair.power_on(node, say=print)
    for node, (step, expected) in wanted.items():
        await_taken_back(pair, node)
        with session(pair, node) as found:
            told = found.ask("change_status")
            assert [one["name"] for one in told["taken_back"]] == ([AT_BOOT["name"]] if expected == ALL else []), step
            assert {one["name"] for one in told["open"]} == set(expected), step
            assert bool(told["problems"]) == bool(expected), told["problems"]
            back = found.ask("change_revert")["results"]
            assert outcomes(back) == expected, step
            assert as_before(back), back
            assert found.ask("change_revert")["results"] == []
            found.ask("change_end", campaign="c1")
            assert found.ask("change_status")["problems"] == []
    start_irqbalance(pair, *wanted)
    assert_as_before(before, dump(pair))


def test_a_reboot_in_the_middle_is_no_silent_way_back(pair: lab.Lab) -> None:
    """A node that boots while changes wait for their controller: they are named, none is taken for reverted."""
    before, boot = dump(pair), boot_id(pair, "n1")
    with session(pair, "n1") as first, session(pair, "n1") as second:
        done = first.ask("change_apply", campaign="c1", by="me@head", settings=CHANGES, confirm=LEASE, lease=LEASE)
        assert {one["outcome"] for one in done["results"]} == {"applied"}
        second.ask("change_confirm", campaign="c1", change=done["change"])
        pair.exec("n1", ["systemctl", "reboot"])
    await_boot(pair, "n1", boot)
    await_taken_back(pair, "n1")
    (told, _) = tune_undo.status(Inventory.from_lab(pair))
    assert {one["name"]: one["stale"] for one in told["open"]} == {LOWAT["name"]: True, COALESCE["name"]: True}
    assert [one["name"] for one in told["taken_back"]] == [AT_BOOT["name"]]
    assert run(pair, "n1", "systemctl is-active irqbalance || true") == "inactive"
    back = tune_undo.revert(Inventory.from_lab(pair), "c1")
    assert outcomes(back) == ALL
    assert as_before(back)
    start_irqbalance(pair, "n1")
    assert_as_before(before, dump(pair))


CAMPAIGN = "nic.rx_usecs=0:0.001,tcp.autocorking=off,irq.balance_enabled=disabled"


class _WhenWritten(Unwatched):
    """Cuts the power of n2 as soon as its journal says that a second campaign's setting was written there."""

    def __init__(self, made: lab.Lab) -> None:
        self._made = made
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        command = f"until [ $(grep -c wrote {JOURNAL} 2>/dev/null || echo 0) -ge 2 ]; do sleep 0.5; done"
        run(self._made, "n2", command)
        self._made.kill_node("n2")

    def join(self) -> None:
        self._thread.join()


def campaign(made: lab.Lab, folder: Path, settings: str, watch: Any = None, **request: Any) -> Done:
    inventory = request.pop("inventory", None) or Inventory.from_lab(made)
    with RunWriter(folder, "tune", {"seed": 5, "nodes": list(inventory.names)}) as writer:
        asked = CampaignRequest(Aim.LATENCY, settings, seed=5, quick=True, keep=False, confirm=CONFIRM, **request)
        return tune(inventory, asked, writer, watch=watch or Unwatched())


def test_power_cut_in_a_campaign_leaves_one_node_as_before_and_the_other_accounted_for(
    pair: lab.Lab, tmp_path: Path
) -> None:
    before = dump(pair)
    cut = _WhenWritten(pair)
    done = campaign(pair, tmp_path / "run", CAMPAIGN, cut)
    cut.join()
    assert done.exit_code == 3
    assert done.result["state"] == "failed"
    assert {one["node"] for one in done.result["leftovers"]} == {"n2"}, done.result["leftovers"]
    pair.power_on("n2", say=print)
    await_taken_back(pair, "n2")
    told = {one["node"]: one for one in tune_undo.status(Inventory.from_lab(pair))}
    assert told["n1"]["open"] == []
    assert told["n2"]["open"], told["n2"]
    back = tune_undo.revert(Inventory.from_lab(pair), done.result["campaign"])
    assert {one["node"] for one in back} == {"n2"}
    assert {one["outcome"] for one in back} <= {"stale", "reverted"}, back
    assert as_before(back), back
    assert tune_undo.revert(Inventory.from_lab(pair), None) == []
    start_irqbalance(pair, "n2")
    assert_as_before(before, dump(pair))


USER = "tuner"


class Users:
    """Ways to the nodes by another login."""

    def __init__(self, made: lab.Lab, config: Path) -> None:
        self.ssh_config: Path | None = config
        self.made = made

    @property
    def inventory(self) -> Inventory:
        return replace(Inventory.from_lab(self.made), ssh_config=self.ssh_config)


@pytest.fixture(scope="module")
def as_user(pair: lab.Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    """The lab as a login sees it that is not root: with sudo for anything."""
    words = [
        f"(id {USER} >/dev/null 2>&1 || useradd -m -s /bin/sh {USER})",
        f"install -d -m 700 -o {USER} -g {USER} /home/{USER}/.ssh",
        f"install -m 600 -o {USER} -g {USER} /root/.ssh/authorized_keys /home/{USER}/.ssh/authorized_keys",
        f"echo '{USER} ALL=(root) NOPASSWD: ALL' > /etc/sudoers.d/{USER}",
    ]  # fmt: skip
    for node in ("n1", "n2"):
        run(pair, node, " && ".join(words))
    config = tmp_path_factory.mktemp("user") / "ssh_config"
    config.write_text(Path(str(pair.ssh_config)).read_text().replace("User root", f"User {USER}"))
    yield Users(pair, config)
    for node in ("n1", "n2"):
        run(pair, node, f"rm /etc/sudoers.d/{USER}; loginctl terminate-user {USER}; sleep 1; userdel -r {USER} || true")


def test_a_login_with_sudo_audits_tunes_and_takes_back(pair: lab.Lab, as_user: Users, tmp_path: Path) -> None:
    before = dump(pair)
    assert run(as_user, "n1", "whoami; sudo -n whoami").split() == [USER, "root"]
    with RunWriter(tmp_path / "audit", "audit", {"nodes": ["n1", "n2"]}) as writer:
        audited = audit(as_user.inventory, writer)
    assert audited.exit_code in (0, 1), audited
    done = campaign(pair, tmp_path / "run", "nic.rx_usecs=0", InterruptAfter(3), inventory=as_user.inventory)
    assert done.result["state"] == "interrupted", done.result["notes"]
    assert done.result["dumps"]["same"], done.result["dumps"]
    assert tune_undo.revert(as_user.inventory, None) == []
    assert_as_before(before, dump(pair))


def test_a_login_that_is_ended_with_all_its_processes_leaves_the_watchdog(pair: lab.Lab, as_user: Users) -> None:
    """logind kills whatever a login has started, detached or not; the watchdog is a unit, and takes the change back."""
    before = dump(pair, "n1")
    killing = "/etc/systemd/logind.conf.d/lab.conf"
    run(pair, "n1", f"mkdir -p /etc/systemd/logind.conf.d; printf '[Login]\\nKillUserProcesses=yes\\n' > {killing}")
    run(pair, "n1", "systemctl restart systemd-logind")
    try:
        with session(as_user, "n1", sudo=True) as begun:
            run(as_user, "n1", "setsid sleep 3600 >/dev/null 2>&1 </dev/null & sleep 1")
            begun.send("change_apply", campaign="c1", by="me@head", settings=CHANGES, confirm=60.0, lease=LEASE)
            assert wait_until(lambda: ask(pair, "n1", f"grep -c wrote {JOURNAL}").stdout.strip() == "3", PATIENCE)
            assert "wulf-watchdog-" in run(pair, "n1", "systemctl list-units --plain --no-legend 'wulf-watchdog-*'")
            run(pair, "n1", f"loginctl terminate-user {USER}")
            assert begun.ssh.wait(PATIENCE) != 0
        assert run(pair, "n1", f"pgrep -u {USER} sleep || true") == ""
        assert wait_until(lambda: ask(pair, "n1", f"grep -c '\"undone\"' {JOURNAL}").stdout.strip() == "3", PATIENCE)
    finally:
        run(pair, "n1", f"rm {killing}; systemctl restart systemd-logind")
    with session(pair, "n1") as found:
        told = found.ask("change_status")
        assert (told["open"], told["problems"]) == ([], [])
        assert {one["name"] for one in told["taken_back"]} == {one["name"] for one in CHANGES}
        found.ask("change_end", campaign="c1")
        assert wait_until(lambda: not ask(pair, "n1", "pgrep -f [-]-watchdog").stdout, PATIENCE), "its lease is over"
    assert_as_before(before, dump(pair, "n1"))
