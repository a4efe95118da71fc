"""What goes wrong between here and a node, over a real sshd: each in plain words, with what to do next."""

import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wording import lacking
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.programs import Program
from wulf.cluster.session import SessionLost
from wulf.cluster.ssh.direct import SshLauncher

from .private_sshd import ROOT

needs_root = pytest.mark.skipif(not ROOT, reason="file systems of a test's own need root")


@pytest.fixture
def open_one(sshd, program):
    """Open the test program on one host; the answer is (session or None, error or None, note or None)."""
    launchers = []

    def open_on(name, the_program=program, ssh=None, timeout=30.0):
        inventory = Inventory((Node(name, ssh=ssh),), ssh_config=sshd.config)
        launcher = SshLauncher(inventory)
        launchers.append(launcher)
        opened = launcher.open(inventory.nodes, the_program, timeout)
        return opened.sessions.get(name), opened.failed.get(name), opened.notes.get(name)

    yield open_on
    for launcher in launchers:
        launcher.close()


def cached(sshd, name):
    return sshd.base / "caches" / name / "wulf" / "bin"


def test_the_copy_is_private_verified_and_kept(sshd, open_one, program):
    session, error, note = open_one(sshd.host("copied"))
    assert (error, note) == (None, None)
    assert session.request("ping")["ok"]
    directory = cached(sshd, "copied")
    copy = directory / f"test-session-{program.digest}"
    assert [entry.name for entry in directory.iterdir()] == [copy.name]
    assert directory.stat().st_mode & 0o777 == 0o700
    assert copy.stat().st_mode & 0o777 == 0o700
    before = copy.stat()
    assert open_one("copied")[0].request("ping")["ok"]
    assert (copy.stat().st_ino, copy.stat().st_mtime) == (before.st_ino, before.st_mtime)


def test_a_damaged_copy_is_replaced(sshd, open_one, program):
    name = sshd.host("damaged")
    assert open_one(name)[0]
    copy = cached(sshd, name) / f"test-session-{program.digest}"
    copy.write_text(copy.read_text().replace('"hello"', '"howdy"'))
    session, error, _ = open_one(name)
    assert error is None
    assert session.greeting["hello"] == "test-session"
    assert copy.read_bytes() == program.path.read_bytes()


def test_a_native_program_is_executed_itself(sshd, open_one, program):
    native = replace(program, python=False, arch=platform.machine())
    session, error, _ = open_one(sshd.host("native"), native)
    assert error is None
    assert session.request("environment")["argv"][0].endswith(f"test-session-{program.digest}")


def test_a_node_of_another_machine_gets_its_own_build(sshd, open_one, tmp_path, program):
    for arch in ("pdp11", platform.machine()):
        (tmp_path / arch).mkdir()
        shutil.copy(program.path, tmp_path / arch / "test-session")
    foreign = Program.of(tmp_path / "pdp11" / "test-session", arch="pdp11")
    session, error, _ = open_one(sshd.host("mixed"), foreign)
    assert error is None
    assert session.request("ping")["ok"]


def test_concurrent_copies_into_one_home(sshd, program):
    names = [sshd.host(f"shared{i}", cache="caches/shared") for i in range(8)]
    inventory = Inventory(tuple(map(Node, names)), ssh_config=sshd.config)
    with SshLauncher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, program)
        assert opened.failed == {}
        assert all(session.request("ping")["ok"] for session in opened.sessions.values())
    assert [entry.name for entry in cached(sshd, "shared").iterdir()] == [f"test-session-{program.digest}"]


def test_old_versions_are_removed_when_a_new_one_comes(sshd, open_one, program):
    name = sshd.host("aged")
    cached(sshd, name).mkdir(parents=True, mode=0o700)
    old, recent = (cached(sshd, name) / f"test-session-{which}" for which in ("old", "recent"))
    for path in (old, recent):
        path.write_text("")
    month_ago = time.time() - 40 * 86400
    os.utime(old, (month_ago, month_ago))
    assert open_one(name)[0]
    assert not old.exists()
    assert recent.exists()


def test_nobody_can_read_a_key_in_the_process_list(sshd, open_one):
    session, _, _ = open_one(sshd.host("secret"))
    key = "c0ffee" * 5
    session.request("echo", text=key)
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):  # other tests' processes end meanwhile
            lines.append(path.read_bytes())
    assert any(b"ssh" in line for line in lines)
    assert not any(key.encode() in line for line in lines)


def test_a_login_script_that_talks_is_no_obstacle(sshd, open_one):
    bashrc = sshd.base / "home" / ".bashrc"
    bashrc.write_text("echo Welcome to the cluster\n")
    try:
        name = sshd.host("chatty")
        if "Welcome" not in sshd.run(name, "true").stdout:
            pytest.skip("the login shell here reads no ~/.bashrc")
        session, error, _ = open_one(name)
    finally:
        bashrc.unlink()
    assert error is None
    assert session.request("ping")["ok"]


def test_an_unknown_name(sshd, open_one):
    sshd.host("any")
    _, error, _ = open_one("n99", ssh="no-such-node.invalid")
    assert lacking(error.what, "n99: ", "no-such-node.invalid can't be resolved") == []
    assert "ssh_config" in error.next_step


def test_a_closed_port(sshd, open_one):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    _, error, _ = open_one(sshd.host("closed", Port=free))
    assert "closed: it refused the ssh connection" in error.what
    assert "sshd" in error.next_step


def test_a_node_that_does_not_answer(sshd, open_one):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        sshd.host("silent", Port=silent.getsockname()[1])
        began = time.monotonic()
        _, error, _ = open_one("silent", timeout=1.0)
        assert time.monotonic() - began < 30
    assert error.what.startswith("silent: test-session ")
    assert error.what.endswith("within 1 s")
    assert error.next_step


def test_a_changed_host_key(sshd, open_one):
    sshd.write_known("other_key", "known_wrong")
    known = sshd.base / "known_wrong"
    _, error, _ = open_one(sshd.host("changed", UserKnownHostsFile=known))
    assert "changed: its host key is not " in error.what
    assert f"{known}:1" in error.what
    assert "ssh-keygen" in error.next_step


def test_an_unknown_host_key(sshd, open_one):
    (sshd.base / "known_none").write_text("")
    for checking in ("yes", "ask"):
        _, error, _ = open_one(
            sshd.host("stranger", UserKnownHostsFile=sshd.base / "known_none", StrictHostKeyChecking=checking)
        )
        assert "stranger: its host key is not known" in error.what
        assert "by hand" in error.next_step


def test_a_key_that_is_not_accepted(sshd, open_one):
    _, error, _ = open_one(sshd.host("locked", IdentityFile=sshd.base / "other_key"))
    assert lacking(error.what, "locked: ", "(it accepts: publickey)") == []
    assert "ssh-copy-id" in error.next_step


def test_a_broken_ssh_config(sshd, open_one):
    _, error, _ = open_one(sshd.host("broken", NoSuchOption="yes"))
    sshd.host("broken")
    assert "ssh can't use its configuration" in error.what


def test_a_node_of_another_machine_without_a_build(sshd, open_one, program):
    _, error, _ = open_one(sshd.host("foreign"), replace(program, arch="pdp11", python=False))
    assert lacking(error.what, f"the node is {platform.machine()}", "test-session", "built for pdp11 only") == []
    assert "build it" in error.next_step


def test_a_node_without_python(sshd, open_one):
    path = sshd.base / "bin"
    path.mkdir()
    for tool in ("sh", "uname", "id", "sha256sum", "mkdir", "chmod", "mktemp", "cat", "mv", "rm", "find"):
        (path / tool).symlink_to(shutil.which(tool))
    (path / "python3").write_text("#!/bin/sh\nexit 1\n")  # as one that is too old answers
    (path / "python3").chmod(0o755)
    bashrc = sshd.base / "home" / ".bashrc"
    bashrc.write_text(f"PATH={sshd.inside}/bin\n")
    try:
        name = sshd.host("pythonless")
        if sshd.run(name, "echo $PATH").stdout.strip().removeprefix(str(sshd.inside)) != "/bin":
            pytest.skip("the login shell here reads no ~/.bashrc")
        _, error, _ = open_one(name)
    finally:
        bashrc.unlink()
    assert lacking(error.what, "pythonless: test-session ", "Python 3.9 or newer") == []
    assert error.next_step


@needs_root
def test_a_full_disk_falls_back_to_tmp_and_says_so(sshd, open_one, program):
    large = Program.of(_padded(program, sshd.base / "large"), "test-session", python=True)
    session, error, note = open_one(sshd.host("full", cache="full"), large)
    assert error is None
    assert session.request("ping")["ok"]
    assert "test-session is kept in /tmp there" in note
    assert "No space left on device" in note


@needs_root
def test_a_full_disk_everywhere(sshd, open_one, program):
    large = Program.of(_padded(program, sshd.base / "larger"), "test-session", python=True)
    name = sshd.host("fuller", cache="full")
    small = "mkdir -p -m 700 /tmp/wulf-0 && mount -t tmpfs -o size=64k tmpfs /tmp/wulf-0"
    assert sshd.run(name, small).returncode == 0
    try:
        _, error, _ = open_one(name, large)
    finally:
        assert sshd.run(name, "umount /tmp/wulf-0 && rm -r /tmp/wulf-0").returncode == 0
    assert lacking(error.what, "fuller: test-session ", "its disk is full") == []
    assert lacking(error.what, "/full/wulf/bin: cat: write error", "/tmp/wulf-0: cat: write error") == []
    assert error.what.count("No space left on device") == 2
    assert error.next_step == "make room there"


@pytest.mark.full
def test_a_node_that_freezes_is_noticed_within_half_a_minute(sshd, open_one):
    session, _, _ = open_one(sshd.host("frozen"))
    stat = Path(f"/proc/{session.greeting['pid']}/stat").read_text()
    server = int(stat.rpartition(")")[2].split()[1])
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(SessionLost, match="frozen: the connection was lost"):
            session.request("ping", timeout=30)
    finally:
        os.kill(server, signal.SIGCONT)


def test_the_sshd_of_a_node_goes_away(sshd, open_one):
    session, _, _ = open_one(sshd.host("gone"))
    pending = session.call("sleep", seconds=60)
    stat = Path(f"/proc/{session.greeting['pid']}/stat").read_text()
    os.kill(int(stat.rpartition(")")[2].split()[1]), 9)
    with pytest.raises(SessionLost, match="gone: the connection was lost") as caught:
        pending.result(timeout=10)
    assert caught.value.next_step


@needs_root
@pytest.mark.parametrize(("cache", "reason"), [("readonly", "read-only"), ("noexec", "noexec")])
def test_a_home_that_cannot_be_used_falls_back_to_tmp(sshd, open_one, program, cache, reason):
    native = replace(program, python=False, arch=platform.machine())
    name = sshd.host(cache, cache=cache)
    session, error, note = open_one(name, native)
    assert error is None
    assert session.request("environment")["argv"][0].startswith("/tmp/wulf-0/")
    assert reason in note
    session.close()
    assert sshd.run(name, "stat -c %a /tmp/wulf-0; rm -r /tmp/wulf-0").stdout.strip() == "700"


@needs_root
def test_somebody_elses_directory_in_tmp_is_not_used(sshd, open_one):
    name = sshd.host("squatted", cache="readonly")
    squat = "rm -rf /tmp/wulf-0; mkdir -m 777 /tmp/wulf-0 && chown 65534 /tmp/wulf-0"
    assert sshd.run(name, squat).returncode == 0
    try:
        _, error, _ = open_one(name)
    finally:
        sshd.run(name, "rm -r /tmp/wulf-0")
    assert lacking(error.what, "squatted: test-session ", "file system is read-only") == []
    assert "/tmp/wulf-0: belongs to somebody else" in error.what


def test_a_session_is_lost_when_its_connection_is_cut(sshd, open_one):
    session, _, _ = open_one(sshd.host("cut"))
    pending = session.call("sleep", seconds=60)
    mine = subprocess.run(["pgrep", "-P", str(os.getpid()), "-x", "ssh"], capture_output=True, text=True, check=True)
    for pid in mine.stdout.split():
        os.kill(int(pid), 9)
    with pytest.raises(SessionLost, match=r"cut: the ssh process .* by SIGKILL"):
        pending.result(timeout=10)


def _padded(program, path):
    path.write_bytes(program.path.read_bytes() + b"\n#" + b"x" * 200_000 + b"\n")
    return path
