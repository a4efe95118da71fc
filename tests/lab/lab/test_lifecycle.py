"""Up, reached, changed, down: and the host is as before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lab.conftest import host_state, left_of, ssh
from tests.processes import wait_until
from wulf import lab
from wulf.core.errors import LabError

pytestmark = pytest.mark.lab


def test_host_is_untouched_before_during_and_after(netns: None, lab_name: str) -> None:
    before = host_state()
    with lab.up(3, rate="500mbit", name=lab_name) as made:
        changed = ssh(made, "n1", "ip link set eth0 mtu 1400; sysctl -qw net.ipv4.tcp_sack=0")
        assert changed.returncode == 0
        assert host_state() == before
    assert host_state() == before
    assert left_of(lab_name) == []


def test_nodes_have_their_own_name_hosts_devices_and_processes(four_nodes: lab.Lab) -> None:
    answer = ssh(
        four_nodes,
        "n2",
        "hostname; echo $(getent ahostsv4 n4 | head -1); ls /sys/class/net; ls -d /proc/[0-9]* | wc -l",
    )
    name, address, *devices, processes = answer.stdout.split("\n")[:-1]
    assert name == "n2"
    if Path("/etc/hosts").exists():  # a bare machine may have none that a node's could stand in place of
        assert address.split()[0] == "10.77.0.4"
    assert sorted(devices) == ["eth0", "lo"]
    assert int(processes) < 12


def test_every_node_reaches_every_other_over_both_protocols(four_nodes: lab.Lab) -> None:
    code = "import socket,sys\nfor a in sys.argv[1:]: socket.create_connection((a, 2222), 5)"
    targets = [address for node in four_nodes.nodes for address in (node.address, node.address6) if address]
    for node in four_nodes.nodes:
        answer = ssh(four_nodes, node.name, f"{sys.executable} -c '{code}' {' '.join(targets)}")
        assert answer.returncode == 0, answer.stderr


def test_only_the_labs_key_opens_a_node(four_nodes: lab.Lab, tmp_path: Path) -> None:
    other = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    config = four_nodes.ssh_config.read_text().replace(str(four_nodes.state / "id"), str(other))
    (tmp_path / "config").write_text(config)
    words = ["ssh", "-F", tmp_path / "config", "n1", "true"]
    answer = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert answer.returncode == 255
    assert "Permission denied (publickey)" in answer.stderr


def test_host_keys_differ_and_are_checked(four_nodes: lab.Lab, tmp_path: Path) -> None:
    keys = [line.split()[2] for line in (four_nodes.state / "known_hosts").read_text().splitlines()]
    assert len(set(keys)) == 4
    swapped = tmp_path / "config"
    swapped.write_text(four_nodes.ssh_config.read_text().replace("HostKeyAlias n1", "HostKeyAlias n2"))
    words = ["ssh", "-F", swapped, "n1", "true"]
    answer = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert answer.returncode == 255
    assert "Host key verification failed" in answer.stderr


def test_state_is_private(four_nodes: lab.Lab) -> None:
    for path in (four_nodes.state, four_nodes.state.parent, four_nodes.state / "nodes"):
        assert path.stat().st_mode & 0o077 == 0
    assert (four_nodes.state / "id").stat().st_mode & 0o077 == 0


def test_exec_passes_streams_and_status(four_nodes: lab.Lab, capfd: pytest.CaptureFixture[str]) -> None:
    assert four_nodes.exec("n4", ["sh", "-c", "hostname; pwd; exit 7"]) == 7
    assert capfd.readouterr().out.split() == ["n4", "/"]
    assert four_nodes.exec("n4", ["sh", "-c", "kill -TERM $$"]) == 128 + signal.SIGTERM
    assert four_nodes.exec("n4", ["no-such-program"]) == 127
    assert "can't run no-such-program" in capfd.readouterr().err


def test_a_node_has_a_home_and_a_cache_of_its_own(
    four_nodes: lab.Lab, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/of/who/calls")
    assert four_nodes.exec("n1", ["sh", "-c", 'echo "$HOME" "${XDG_CACHE_HOME-none}"']) == 0
    assert capfd.readouterr().out == "/run/home none\n"


def test_temporary_files_are_a_nodes_own(four_nodes: lab.Lab) -> None:
    """Open MPI's are named after host and process: those of another lab's n1 must not be met (ranks did not start)."""
    assert ssh(four_nodes, "n1", 'echo mine >"$TMPDIR/ompi.n1.0"').returncode == 0
    assert four_nodes.exec("n1", ["sh", "-c", 'cat "$TMPDIR/ompi.n1.0"']) == 0
    assert ssh(four_nodes, "n2", 'ls "$TMPDIR"').stdout == ""
    assert ssh(four_nodes, "n1", 'stat -c %a "$TMPDIR"; rm "$TMPDIR/ompi.n1.0"').stdout == "1777\n"


def test_what_exec_started_ends_with_the_lab(netns: None, lab_name: str) -> None:
    made = lab.up(1, name=lab_name)
    code = f"import wulf.lab; wulf.lab.find({lab_name!r}).exec('n1', ['sleep', '1000'])"
    with subprocess.Popen([sys.executable, "-c", code]) as running:
        ssh(made, "n1", "setsid sleep 1000 >/dev/null 2>&1 & until pgrep -c sleep | grep -q 2; do sleep 0.05; done")
        made.down()
        assert running.wait(5) == 0
    assert left_of(lab_name) == []


def test_exec_dies_with_its_caller(four_nodes: lab.Lab) -> None:
    code = f"import wulf.lab; wulf.lab.find({four_nodes.name!r}).exec('n1', ['sleep', '1234'])"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as running:
        assert wait_until(lambda: ssh(four_nodes, "n1", "pgrep -x sleep").returncode == 0, 10)
        os.killpg(running.pid, signal.SIGKILL)
    assert wait_until(lambda: ssh(four_nodes, "n1", "pgrep -x sleep").returncode == 1, 5)


def test_found_again_by_another_process(netns: None, lab_name: str) -> None:
    lab.up(2, name=lab_name, rates={"n2": "100mbit"})
    code = f"import wulf.lab; print([(n.name, n.rate) for n in wulf.lab.find({lab_name!r}).nodes])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[('n1', None), ('n2', '100mbit')]"
    assert lab.down(lab_name) is True
    assert lab.find(lab_name) is None
    assert lab.down(lab_name) is False


def test_default_name_comes_from_the_environment(netns: None, lab_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WULF_LAB", lab_name)
    assert lab.up(1).name == lab_name
    assert lab.find() is not None
    assert lab.down() is True


def test_the_same_name_twice_is_refused(netns: None, lab_name: str) -> None:
    lab.up(1, name=lab_name)
    with pytest.raises(LabError, match="up already"):
        lab.up(1, name=lab_name)
    assert lab.find(lab_name) is not None


def test_of_two_at_once_one_wins(netns: None, lab_name: str) -> None:
    code = f"import wulf.lab; wulf.lab.up(4, name={lab_name!r})"
    both = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert sum("LabError" in text for text in errors) == 1
    assert len(lab.find(lab_name).nodes) == 4


@pytest.mark.full
def test_power_cut(netns: None, lab_name: str) -> None:
    with lab.up(2, name=lab_name) as made:
        words = ["ssh", "-F", str(made.ssh_config), "n2", "sleep 1000"]
        with subprocess.Popen(words, stderr=subprocess.PIPE) as session:
            assert wait_until(lambda: ssh(made, "n2", "pgrep -x sleep").returncode == 0, 10)
            cut = time.monotonic()
            made.kill_node("n2")
            assert not made.is_up("n2")
            assert made.is_up("n1")
            assert ssh(made, "n1", "hostname").stdout == "n1\n"
            assert session.wait(30) == 255  # noticed by ssh's keepalive, since no farewell leaves the node
            assert time.monotonic() - cut > 2
        with pytest.raises(LabError, match="n2: the node is down"):
            made.exec("n2", ["true"])
        with pytest.raises(LabError, match="n2: the node is down"):
            made.set_rate("n2", "1gbit")


def test_json_is_whole_at_any_time(four_nodes: lab.Lab) -> None:
    data = json.loads((four_nodes.state / "lab.json").read_text())
    assert [node["name"] for node in data["nodes"]] == ["n1", "n2", "n3", "n4"]
    assert data["owner"]["pid"] == os.getpid()


def test_nodes_are_small(four_nodes: lab.Lab) -> None:
    data = json.loads((four_nodes.state / "lab.json").read_text())
    for process in (data["init"], *(node["process"] for node in data["nodes"])):
        status = Path(f"/proc/{process['pid']}/status").read_text()
        kibibytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        assert kibibytes <= 12 * 1024


def test_a_terminal_works(four_nodes: lab.Lab) -> None:
    words = ["ssh", "-tt", "-F", str(four_nodes.ssh_config), "n1", "tty; hostname"]
    shown = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert shown.stdout.split() == ["/dev/pts/0", "n1"]
