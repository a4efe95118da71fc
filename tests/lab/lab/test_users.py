"""Without root, beside root, and where nothing is allowed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lab.conftest import PATIENCE_S, SOURCES, UNPRIVILEGED, host_state, left_of, skip_or_fail, ssh
from tests.processes import wait_until
from tests.wording import lacking
from wulf import lab
from wulf.core.errors import LabError

pytestmark = pytest.mark.lab

REPORT = """
import json, os, subprocess, sys, wulf.lab
def ssh(lab, node, command):
    words = ["ssh", "-F", str(lab.ssh_config), node, command]
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.split()
with wulf.lab.up(3, rates={"n3": "100mbit"}, name=os.environ.get("LAB", "lab")) as lab:
    print(json.dumps({
        "uid": os.getuid(), "backend": lab.backend, "note": lab.note,
        "hosts": [ssh(lab, node.name, "hostname")[0] for node in lab.nodes],
        "queues": [ssh(lab, node.name, "tc qdisc show dev eth0")[1] for node in lab.nodes],
        "within": ssh(lab, "n1", "id -u; ip link set eth0 mtu 1300 && cat /sys/class/net/eth0/mtu; tty"),
    }), flush=True)
    sys.stdin.readline()
"""


def test_unprivileged_user_has_a_real_lab_beside_that_of_root(
    nobody: Callable[[str], list[str]], lab_name: str
) -> None:
    before = host_state()
    words = nobody("import os; os.environ['LAB'] = " + repr(lab_name) + REPORT)
    with (
        lab.up(3, name=lab_name) as ours,  # the same name, the same addresses
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/") as other,
    ):
        theirs = json.loads(other.stdout.readline())
        assert (theirs["uid"], theirs["backend"], theirs["note"]) == (UNPRIVILEGED, "netns", None)
        assert theirs["hosts"] == ["n1", "n2", "n3"]
        assert theirs["queues"] == ["noqueue", "noqueue", "tbf"]
        assert theirs["within"][:2] == [str(UNPRIVILEGED), "1300"]
        assert ssh(ours, "n1", "cat /sys/class/net/eth0/mtu").stdout == "1500\n"
        assert host_state() == before
        other.communicate("\n", timeout=30)
        assert other.returncode == 0
        assert ssh(ours, "n3", "hostname").stdout == "n3\n"
    left = subprocess.run(
        ["pgrep", "-u", str(UNPRIVILEGED), "-f", lab_name], capture_output=True, text=True, check=False
    )
    assert left.stdout == ""


def test_unprivileged_ephemeral_lab_ends_with_its_owner(nobody: Callable[[str], list[str]], lab_name: str) -> None:
    code = f"import time, wulf.lab; wulf.lab.up(2, keep=False, name={lab_name!r}); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen(nobody(code), stdout=subprocess.PIPE, text=True, cwd="/") as owner:
        assert owner.stdout.readline() == "1\n"
        owner.kill()
    find = ["pgrep", "-u", str(UNPRIVILEGED), "-f", lab_name]
    assert wait_until(lambda: subprocess.run(find, capture_output=True, check=False).returncode == 1, PATIENCE_S)


def without_rights(code: str, *, user_namespaces: bool) -> subprocess.CompletedProcess[str]:
    """Run Python as root without the rights over mounts and networks, as in a container."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root with setpriv can give up its rights")
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode != 0:
        skip_or_fail("root may make no user namespace here (in a chroot the kernel allows none)")
    words = ["setpriv", "--bounding-set=-sys_admin,-net_admin", "--inh-caps=-all", sys.executable, "-c", code]
    if not user_namespaces:  # the limit is that of a user namespace made for this alone
        words = ["unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "-", *words]
    return subprocess.run(
        words, capture_output=True, text=True, input="\n", check=False, env=os.environ | {"PYTHONPATH": SOURCES}
    )


def test_root_without_rights_uses_a_user_namespace(netns: None, lab_name: str) -> None:
    ran = without_rights(f"import os; os.environ['LAB'] = {lab_name!r}" + REPORT, user_namespaces=True)
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert (report["backend"], report["hosts"]) == ("netns", ["n1", "n2", "n3"])
    assert report["queues"] == ["noqueue", "noqueue", "tbf"]


IN_A_CHROOT = """
mount --make-rprivate / && mount --rbind / "$1" && mount -t tmpfs tmpfs "$1/etc" || exit
cp -a /etc/. "$1/etc/" && rm -f "$1/etc/hosts" && exec chroot "$1" "$2" -c "$3"
"""
"""As a container without /etc/hosts."""


@pytest.mark.skipif(os.geteuid() != 0, reason="changes its root: needs root")
def test_in_a_chroot_without_hosts_nodes_are_whole(netns: None, lab_name: str, tmp_path: Path) -> None:
    asked = f"getent hosts n2; ssh -o BatchMode=yes n2 hostname; test -d /proc/{os.getpid()}; echo $?"
    code = f"""from wulf import lab
with lab.up(2, name={lab_name!r}) as made:
    made.exec("n1", ["sh", "-c", {asked!r}])"""
    words = ["unshare", "--mount", "sh", "-c", IN_A_CHROOT, "sh", str(tmp_path), sys.executable, code]
    environment = os.environ | {"PYTHONPATH": SOURCES}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert [line.split() for line in done.stdout.splitlines()] == [["fd77::2", "n2"], ["n2"], ["1"]], done.stderr
    assert left_of(lab_name) == []


def test_where_nothing_is_allowed_it_is_loopback_said_aloud(netns: None, lab_name: str) -> None:
    code = f"""
import wulf.lab
print(wulf.lab.probe_backend()[0])
made = wulf.lab.up(3, rates={{"n3": "200mbit"}}, name={lab_name!r})
print(made.backend, made.ssh_config, made.nodes[2].rate, made.nodes[2].address)
print(made.note)
print(made.down())
try:
    wulf.lab.up(1, name={lab_name!r}, backend="netns")
except wulf.core.errors.LabError as error:
    print(error.what)
"""
    ran = without_rights(code, user_namespaces=False)
    assert ran.returncode == 0, ran.stderr
    backend, made, note, _, refusal = ran.stdout.splitlines()
    assert backend == "loopback"
    assert made == "loopback None None 127.0.0.1"
    assert "Operation not permitted" in note
    assert "n3 to 200mbit" in note
    assert "user.max_user_namespaces is 0" in note
    assert refusal.startswith("namespaces are not allowed here")


def test_loopback(lab_name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with lab.up(3, name=lab_name, backend="loopback") as made:
        assert [(node.name, node.address) for node in made.nodes] == [(f"n{i}", "127.0.0.1") for i in (1, 2, 3)]
        assert lacking(made.note, "loopback: ", "only names on 127.0.0.1") == []
        assert made.exec("n2", ["sh", "-c", "pwd; exit 5"]) == 5
        assert capfd.readouterr().out == "/\n"
        assert made.exec("n2", ["no-such-program"]) == 127
        with pytest.raises(LabError, match="n2: can't set a rate: loopback"):
            made.set_rate("n2", "1gbit")
        with pytest.raises(LabError, match="n2: a loopback node can't be killed"):
            made.kill_node("n2")
        assert lab.find(lab_name) is not None
    assert lab.find(lab_name) is None
    with pytest.raises(LabError, match="can't set a rate"):
        lab.up(2, rate="1gbit", name=lab_name, backend="loopback")


def test_loopback_lab_of_a_dead_owner_is_stale(lab_name: str) -> None:
    code = f"import os, wulf.lab; wulf.lab.up(1, name={lab_name!r}, backend='loopback', keep=False); os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert lab.find(lab_name) is None
    assert lab_name not in [one.name for one in lab.all_labs()]
