"""The watchdog as a process: how it is started, what it answers, when it ends, and what it takes back."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.processes import text_when_there, wait_until
from tests.unit.agent.changes.forked import ForkedNode, in_child, kill
from tests.unit.agent.changes.machine import START, FakeNode, setting
from wulf.agent.changes import keep
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.state import deadlines, lock
from wulf.agent.changes.status import status
from wulf.agent.changes.watch import arming, twin, watchdog
from wulf.agent.changes.watch.arming import NotArmed, Started
from wulf.agent.changes.watch.twin import Twin
from wulf.agent.processes.process import started

HANGS = 60.0


@pytest.fixture
def forked(tmp_path: Path) -> ForkedNode:
    return ForkedNode(tmp_path)


def ended(node: ForkedNode) -> bool:
    return wait_until(node.nobody_watches, HANGS)


def change(node: ForkedNode, confirm: float = HANGS, lease: float = HANGS) -> dict[str, Any]:
    return apply(node.host, Request("c1", "me@head", confirm, lease), [setting("mtu", 9000), setting("rings", 4096)])


def test_it_answers_what_it_waits_for_and_ends_with_the_campaign(forked: ForkedNode) -> None:
    armed = change(forked)["watchdog"]
    known = deadlines.load(forked.host)
    assert armed["started"] == "forked"
    assert arming.ask(forked.host) == {"pid": armed["pid"], "serial": known.serial, "until": known.next}
    assert "started" not in keep.renew(forked.host, "c1")["watchdog"]
    take_back(forked.host)
    keep.end(forked.host, "c1")
    assert ended(forked)


@pytest.mark.parametrize(("confirm", "lease"), [(0.05, HANGS), (HANGS, 0.05)])
def test_silence_brings_all_back(forked: ForkedNode, confirm: float, lease: float) -> None:
    change(forked, confirm, lease)
    assert wait_until(lambda: forked.settings.load() == START, HANGS)
    with lock.guard(forked.host):  # it has finished
        assert forked.settings.load() == START
    found = status(forked.host)
    assert found["open"] == []
    assert [each["name"] for each in found["taken_back"]] == ["nic.mtu", "nic.rings"]
    assert (lock.holder(forked.host) is None) == (lease < confirm)
    again = apply(forked.host, Request("c1", "me@head"), [setting("gro", False)])
    assert again["taken_back"] == ["nic.mtu", "nic.rings"]
    take_back(forked.host)
    keep.end(forked.host, "c1")
    assert ended(forked)


@pytest.mark.parametrize("locked", [True, False], ids=["the lock is sound", "nor is the lock"])
def test_deadlines_that_nobody_understands_are_over(forked: ForkedNode, locked: bool) -> None:
    change(forked)
    if not locked:
        (forked.run / lock.LOCK).write_text("{")
    (forked.run / deadlines.NAME).write_text("{")
    arming.ask(forked.host)  # wakes it
    assert ended(forked)
    assert forked.settings.load() == START


def test_an_agent_that_hangs_is_ended(forked: ForkedNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "OVERDUE", 0.05)
    forked.act = lambda _, name: name == "wrote nic.mtu" and time.sleep(HANGS)
    assert in_child(lambda: change(forked, confirm=0.05, lease=0.1)) == -9
    assert ended(forked)
    assert forked.settings.load() == START


def test_where_journal_and_copy_are_damaged_it_goes_by_its_memory(forked: ForkedNode) -> None:
    change(forked)
    arming.ask(forked.host)
    damage(forked)
    over(forked)
    assert ended(forked)
    assert forked.settings.load() == START
    found = status(forked.host)
    assert (found["open"], found["problems"]) == ([], [])
    assert [each["name"] for each in found["taken_back"]] == ["nic.mtu", "nic.rings"]


def test_where_nothing_of_a_journal_can_be_trusted_it_waits(forked: ForkedNode) -> None:
    """Nothing is guessed; and nobody but it knows when that was put right."""
    forked.paired = False
    change(forked)
    kill(forked.watchdog_pid() or 0)
    sound = [path.read_bytes() for path in journals(forked)]
    damage(forked)
    over(forked)
    arming.arm(forked.host, deadlines.load(forked.host).serial, forked.start)  # type: ignore[union-attr]
    found = status(forked.host)
    assert "is damaged" in found["problems"][0]
    assert forked.value("mtu") == 9000
    assert text_when_there(forked.folder / arming.LOG).count("is damaged") == 1
    for path, content in zip(journals(forked), sound, strict=True):
        path.write_bytes(content)
    arming.ask(forked.host)  # wakes it
    assert ended(forked)
    assert forked.settings.load() == START


def journals(node: ForkedNode) -> tuple[Path, Path]:
    return node.folder / "journal.jsonl", node.run / "journal.jsonl"


def damage(node: ForkedNode) -> None:
    """Both."""
    path, copy = journals(node)
    path.write_bytes(path.read_bytes().replace(b"9000", b"8000", 1))
    copy.write_text("not a line\n")


def over(node: ForkedNode) -> None:
    """The controller has been silent for too long, only now."""
    known = deadlines.load(node.host)
    assert known is not None
    known.lease_until = 0.0
    deadlines.save(node.host, known)
    arming.ask(node.host)  # wakes it


def test_only_one_watches(forked: ForkedNode) -> None:
    change(forked)
    watchdog.watch(forked.host)  # returns at once
    take_back(forked.host)
    keep.end(forked.host, "c1")
    assert ended(forked)


class TestTwin:
    """Another process goes on when the watchdog is killed."""

    def test_goes_on_and_has_one_of_its_own(self, forked: ForkedNode) -> None:
        change(forked, lease=30.0)
        known = deadlines.load(forked.host)
        seen = [forked.watchdog_pid()]
        for _ in range(3):
            kill(seen[-1])
            await_watchdog(forked, seen)
            seen.append(forked.watchdog_pid())
            assert arming.ask(forked.host) == {"pid": seen[-1], "serial": known.serial, "until": known.next}
        assert status(forked.host)["problems"] == []
        over(forked)
        assert ended(forked)
        assert forked.settings.load() == START

    def test_that_is_killed_is_followed_by_another(self, forked: ForkedNode) -> None:
        change(forked)
        watches, waits = forked.watchdog_pids()
        kill(waits)
        assert wait_until(lambda: waits not in forked.watchdog_pids() and len(forked.watchdog_pids()) == 2, HANGS)
        kill(watches)
        await_watchdog(forked, [watches])
        take_back(forked.host)
        keep.end(forked.host, "c1")
        assert ended(forked)

    def test_holds_nothing_that_its_watchdog_had_locked(self, forked: ForkedNode) -> None:
        """Killed on the way back, with the guard in its hands: the other one has to get that."""
        forked.watchdog_act = lambda _, name: name == "written back nic.rings" and kill(os.getpid())
        change(forked, lease=0.05)
        assert ended(forked)
        assert forked.settings.load() == START
        with lock.guard(forked.host, patience=0.0):
            pass

    def test_ends_with_its_watchdog_when_nothing_is_waited_for(self, forked: ForkedNode) -> None:
        change(forked)
        (_, waits) = forked.watchdog_pids()
        take_back(forked.host)
        keep.end(forked.host, "c1")
        assert ended(forked)
        assert wait_until(lambda: not Path(f"/proc/{waits}").exists(), HANGS)

    def test_is_one_alone(self, forked: ForkedNode) -> None:
        """Where another waits already, a watchdog does without, and does not try again."""
        with lock.opened(forked.host, twin.WAITS) as held:
            assert lock.try_lock(held)
            mine = Twin(forked.host, begin=lambda: None)
            mine.live()
        mine.live()
        assert mine.ends == []

    def test_that_is_too_slow_is_none(self, forked: ForkedNode, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(twin, "PATIENCE", 0.01)
        mine = Twin(forked.host, begin=lambda: time.sleep(HANGS))
        mine.live()
        assert mine.ends == []

    def test_has_so_many_lives_and_tells_the_log_why_they_ended(
        self, forked: ForkedNode, capfd: pytest.CaptureFixture[str]
    ) -> None:
        def fails() -> None:
            raise RuntimeError("a defect")

        mine = Twin(forked.host, begin=fails, lives=3)
        mine.live()
        assert mine.ends == []
        assert capfd.readouterr().err.count("RuntimeError: a defect\n") == 3


def await_watchdog(node: ForkedNode, ended: list[int | None]) -> None:
    """Another one than those that have ended."""
    assert wait_until(lambda: node.watchdog_pid() not in (None, *ended), HANGS)


def test_one_that_does_not_come_up_is_told(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arming, "PATIENCE", 0.05)
    node.run.mkdir()
    with pytest.raises(NotArmed, match="did not answer within"):
        arming.arm(node.host, 1, lambda _: Started("never"))

    def fails(_: Any) -> Started:
        raise OSError(11, "Resource temporarily unavailable")

    with pytest.raises(NotArmed, match="can't be started"):
        arming.arm(node.host, 1, fails)


@pytest.mark.parametrize(("pid", "starts"), [(os.getpid(), 1), (None, 3)], ids=["lives", "has ended"])
def test_one_that_is_slow_to_start_gets_no_second_beside_it(
    node: FakeNode, monkeypatch: pytest.MonkeyPatch, pid: int | None, starts: int
) -> None:
    """A node under load would be busy with watchdogs that all start, and none would be there in time."""
    ticks = itertools.count()
    monkeypatch.setattr(arming, "PATIENCE", 2.5)
    monkeypatch.setattr(arming, "RESTART", 1.0)
    monkeypatch.setattr(arming.time, "monotonic", lambda: 0.1 * next(ticks))
    monkeypatch.setattr(arming.time, "sleep", lambda _: None)
    node.run.mkdir()
    started: list[Started] = []

    def start(_: Any) -> Started:
        started.append(Started("slowly", pid))
        return started[-1]

    with pytest.raises(NotArmed):
        arming.arm(node.host, 1, start)
    assert len(started) == starts


class TestStarting:
    @pytest.fixture
    def ran(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        commands: list[list[str]] = []

        def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
            commands.append(command)
            return subprocess.CompletedProcess(command, self.status, stdout="4711\n")

        monkeypatch.setattr(arming.subprocess, "run", run)
        monkeypatch.setattr(arming, "systemd_runs", lambda: True)
        return commands

    status = 0

    def test_as_a_unit_where_systemd_runs(self, node: FakeNode, ran: list[list[str]]) -> None:
        node.run.mkdir()
        started = arming.start_watchdog(node.host)
        assert started.how.startswith("systemd unit wulf-watchdog-")
        assert started.pid == 4711
        command, asked = ran
        assert asked == ["systemctl", "show", "--property=MainPID", "--value", started.how.split()[-1]]
        assert command[:3] == ["systemd-run", "--quiet", "--collect"]
        assert f"--setenv=WULF_STATE={node.folder.parent}" in command
        assert "--property=Restart=on-failure" in command
        assert "--property=StartLimitIntervalSec=0" in command
        assert command[-5:] == [sys.executable, "-m", "wulf.agent", "--watchdog", "--twin"]

    def test_else_as_a_session_of_its_own(
        self, node: FakeNode, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        node.run.mkdir()
        monkeypatch.setattr(TestStarting, "status", 1)
        assert arming.start_watchdog(node.host) == ("session of its own", 4711)
        assert [command[0] for command in ran] == ["systemd-run", sys.executable]
        assert ran[-1][-1] == "--twin"


def test_a_session_of_its_own_tells_its_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os; print(os.getpid(), os.getsid(0) != os.getpid(), flush=True)"]
    pid = arming._start_session(command, dict(os.environ), tmp_path / "log")
    assert text_when_there(tmp_path / "log") == f"{pid} True\n"


def test_the_real_one_starts_outlives_its_starter_and_ends(tmp_path: Path) -> None:
    """Without deadlines it ends at once; its parent is gone by then."""
    (tmp_path / "changes").mkdir()
    environment = {**os.environ, "WULF_STATE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "wulf.agent", "--watchdog"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=HANGS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"]
AS_ROOT = ["unshare", "--mount", "--propagation", "private"]
ONCE = [("read-only", "watchdog"), ("full", "twin"), ("gone", "person")]
WITHOUT_A_DISK = [*product(("read-only", "full", "gone"), ("watchdog", "twin", "person"))]


@pytest.mark.parametrize(
    ("kind", "who"),
    [*ONCE, *(pytest.param(*each, marks=pytest.mark.full) for each in WITHOUT_A_DISK if each not in ONCE)],
)
def test_no_change_stays_for_want_of_a_disk(tmp_path: Path, kind: str, who: str) -> None:
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs user namespaces, for a disk of its own")
    goes_back_without_a_disk(UNSHARE, tmp_path, kind, who)


@pytest.mark.parametrize(
    "who", ["twin", "agent", "stuck", *(pytest.param(who, marks=pytest.mark.full) for who in ("watchdog", "person"))]
)
def test_no_change_stays_for_a_disk_that_is_silent(tmp_path: Path, who: str) -> None:
    """Frozen, so that whoever writes to it waits in the kernel, and can't be killed."""
    trial = "truncate -s 8M image && mkfs.ext4 -q image && mount -o loop image /mnt"
    if subprocess.run([*AS_ROOT, "sh", "-c", trial], cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs root, mkfs.ext4 and loop devices, for a disk that can be frozen")
    goes_back_without_a_disk(AS_ROOT, tmp_path, "silent", who)


def goes_back_without_a_disk(unshare: list[str], folder: Path, kind: str, who: str) -> None:
    words = [*unshare, sys.executable, "-m", "tests.process.agent.changes.lost_disk", str(folder), kind, who]
    done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    back = ["reverted", "reverted"] if who == "person" else []
    assert told == {"changed": True, "back": True, "ended": True, "told": back, "open": []}


@pytest.mark.skipif(os.geteuid() != 0, reason="more memory than a user may lock")
def test_what_it_comes_to_know_is_in_locked_memory_too() -> None:
    """The journal is read after it has settled."""
    program = (
        "from wulf.agent.changes.watch.watchdog import settle\n"
        "def locked(): return next(int(line.split()[1]) for line in open('/proc/self/status') if 'VmLck' in line)\n"
        "settle(); before = locked(); more = bytearray(64 << 20); print(before, locked())"
    )
    before, after = map(int, subprocess.check_output([sys.executable, "-c", program], text=True).split())
    assert before > 0
    assert after - before >= 64 << 10


def test_one_that_is_asked_to_end_has_failed() -> None:
    """Else systemd does not start it anew."""
    program = "from wulf.agent.changes.watch.watchdog import settle; import time; settle(); print(flush=True); "
    with subprocess.Popen([sys.executable, "-c", f"{program}time.sleep(600)"], stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        one.stdout.readline()
        one.terminate()
        assert one.wait(HANGS) == 1


def test_a_number_that_another_process_has_got_is_nobodys(node: FakeNode) -> None:
    with lock.guard(node.host):
        with pytest.raises(lock.Busy) as busy, lock.guard(node.host, 0.0):
            pass
        assert busy.value.holder == os.getpid()
        path = node.run / lock.GUARD
        path.write_text(f"{os.getpid():<10} {1.0:<20.3f} {'17':<20}\n")
        with pytest.raises(lock.Busy) as busy, lock.guard(node.host, 0.0):
            pass
        assert busy.value.holder is None
    assert path.read_text().split() == [], "whoever holds it next may not be able to say so"


def test_only_the_process_that_held_the_guard_is_killed() -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        began = started(other.pid)
        watchdog._end(other.pid, "17")
        assert other.poll() is None
        watchdog._end(other.pid, began)
        assert other.wait(HANGS) == -9
    watchdog._end(other.pid, began)  # gone: nothing happens
