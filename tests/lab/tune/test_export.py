"""Exported files at work: in a network namespace of their own, with a veth pair, and never on this host's settings."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.lab.conftest import skip_or_fail
from tests.unit.tune.make_exports import SOURCE, setting
from tests.wording import lacking
from wulf.tune.export import export
from wulf.tune.kept import Kept

pytestmark = pytest.mark.lab

SETTINGS = {
    one.name: one
    for one in (
        setting("tcp.rmem", "sysctl", {"key": "net.ipv4.tcp_rmem", "kind": "text"}),
        setting("tcp.idle", "sysctl", {"key": "net.ipv4.tcp_slow_start_after_idle", "kind": "bool"}),
        setting("net.arp_ignore", "sysctl", {"key": "net.ipv4.conf.{place}.arp_ignore"}),
        setting("nic.mtu", "link", {"attribute": "mtu"}),
        setting("nic.txqueuelen", "link", {"attribute": "txqueuelen"}),
        setting("nic.gro_max_size", "link", {"attribute": "gro_max_size"}),
        setting("irq.gro_flush", "sysfs", {"path": "sys/class/net/{nic}/gro_flush_timeout", "scale": 1e-9}),
        setting("irq.rps_cpus", "sysfs", {"path": "sys/class/net/{nic}/queues/{rx}/rps_cpus", "kind": "mask"}),
        setting("nic.gro", "ethtool", {"topic": "features", "field": "rx-gro"}),
        setting("nic.tso", "ethtool", {"topic": "features", "field": "tx-tcp-segmentation"}),
        setting("firewall.bypass", "nftables", {"what": "bypass"}),
    )
}

KEPT = [
    ("tcp.rmem", "", "4096 65536 1048576", "4096 131072 2097152"),
    ("tcp.idle", "", False, True),
    ("net.arp_ignore", "eth0.7", 1, 0),
    ("nic.mtu", "eth0.7", 1400, 1500),
    ("nic.txqueuelen", "eth0.7", 500, 1000),
    ("nic.gro_max_size", "eth0.7", 32768, 65536),
    ("irq.gro_flush", "eth0.7", 2e-5, 0.0),
    ("irq.rps_cpus", "rx-0 of eth0.7", "0", "none"),
]
"""Name, place, kept, before; the interface's dot is a trap of sysctl's names."""

BY_PROGRAM = {
    "ethtool": [("nic.gro", "eth0.7", True, False), ("nic.tso", "eth0.7", False, True)],
    "nft": [("firewall.bypass", "", "10.0.0.0/24 fd00::/64", False)],
}

PREPARE = """
set -e
mount -t sysfs none /sys
mount -t tmpfs none /run # where the script keeps its own
ip link add eth0.7 type veth peer name eth1
ip link set eth0.7 up
ip link set eth1 up
until [ "$(cat /sys/class/net/eth0.7/operstate)" = up ]; do sleep 0.01; done
echo '4096 131072 2097152' >/proc/sys/net/ipv4/tcp_rmem
set +e
dump() {
    cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_slow_start_after_idle
    cat /proc/sys/net/ipv4/conf/eth0.7/arp_ignore
    (cd /sys/class/net/eth0.7 && grep . mtu tx_queue_len gro_flush_timeout queues/rx-0/rps_cpus)
    ip -d link show
    if command -v ethtool >/dev/null; then ethtool -k eth0.7; fi
    if command -v nft >/dev/null; then nft list ruleset; fi
}
"""


@pytest.fixture
def in_namespace(netns: None, tmp_path: Path):
    def run(commands: str) -> subprocess.CompletedProcess[str]:
        words = ["unshare", "--net", "--mount", "sh", "-c", PREPARE + commands]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)

    return run


def exported(form: str) -> dict[str, str]:
    rows = [*KEPT, *(row for program, rows in BY_PROGRAM.items() if shutil.which(program) for row in rows)]
    kept = [Kept(name=name, place=place, value=value, before=before) for name, place, value, before in rows]
    return export(entries_of(kept), form).files


def entries_of(kept: list[Kept]):
    from wulf.tune.export.entry import entries

    return entries(kept, SETTINGS, SOURCE)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "wulf-settings.sh"
    path.write_text(exported("shell")["wulf-settings.sh"])
    return path


def test_the_script_applies_and_reverts_byte_by_byte(in_namespace, script, tmp_path):
    done = in_namespace("""
        dump >before
        sh wulf-settings.sh status >status-before && exit 10
        sh wulf-settings.sh apply >applied || exit 11
        sh wulf-settings.sh status >status-applied || exit 12
        dump >after
        sh wulf-settings.sh apply >again || exit 13
        sh wulf-settings.sh revert >reverted || exit 14
        dump >at-last
        sh wulf-settings.sh revert >reverted-again || exit 15
        """)
    assert done.returncode == 0, done.stderr
    read = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert read["at-last"] == read["before"] != read["after"]
    assert "4096\t65536\t1048576\n0\n1\n" in read["after"]
    assert "mtu:1400\n" in read["after"]
    assert {line.split()[0] for line in read["status-applied"].splitlines()} == {"applied"}
    assert "as before  nic.mtu on eth0.7: 1500\n" in read["status-before"]
    assert "nic.mtu on eth0.7: 1400, was 1500\n" in read["applied"]
    assert "irq.rps_cpus on rx-0 of eth0.7: 1, was 0\n" in read["applied"]
    assert read["again"] == read["reverted-again"] == ""
    order = [line.partition(":")[0] for line in read["applied"].splitlines()]
    assert [line.partition(":")[0] for line in read["reverted"].splitlines()] == order[::-1]


@pytest.mark.parametrize("word", ["apply", "revert"])
def test_what_somebody_else_set_is_not_overwritten(in_namespace, script, tmp_path, word):
    done = in_namespace(
        f"ip link set eth0.7 mtu 1300; dump >before; sh wulf-settings.sh {word}; r=$?; dump >after; exit $r"
    )
    assert done.returncode == 1
    assert lacking(done.stderr, "nic.mtu on eth0.7: is 1300", "1500 nor 1400") == []
    assert "nothing was changed: 1 " in done.stderr
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()


def test_where_one_is_refused_the_others_are_taken_back(in_namespace, tmp_path):
    """The kernel refuses a queue's length below 0; MTU is written before it."""
    rows = [("tcp.idle", "", False, True), ("nic.mtu", "eth0.7", 1400, 1500), ("nic.txqueuelen", "eth0.7", -1, 1000)]
    kept = [Kept(name=name, place=place, value=value, before=before) for name, place, value, before in rows]
    (tmp_path / "s.sh").write_text(export(entries_of(kept), "shell").files["wulf-settings.sh"])
    done = in_namespace("""
        echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle # somebody has applied this one already: it stays
        dump >before; sh s.sh apply; r=$?; dump >after; exit $r""")
    assert done.returncode == 1
    assert lacking(done.stderr, "nic.txqueuelen on eth0.7: ", " -1, is 1000") == []
    assert "undoing what was applied" in done.stderr
    assert done.stdout.splitlines() == ["nic.mtu on eth0.7: 1400, was 1500", "nic.mtu on eth0.7: 1500, was 1400"]
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()


@pytest.mark.parametrize("reader", ["/lib/systemd/systemd-sysctl", "/usr/lib/systemd/systemd-sysctl", "sysctl --load"])
def test_sysctl_s_files_are_read_by_their_readers(in_namespace, tmp_path, reader):
    program = reader.split()[0]
    if not shutil.which(program):
        pytest.skip(f"no {program} here")
    (tmp_path / "wulf.conf").write_text(exported("sysctl")["etc/sysctl.d/99-wulf.conf"])
    # all keys are of the network namespace: neither reader writes anything of this host
    done = in_namespace(f"{reader} $PWD/wulf.conf >said 2>&1 || {{ cat said >&2; exit 9; }}; dump >after")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "after").read_text().startswith("4096\t65536\t1048576\n0\n1\n")


def test_the_table_is_taken_by_nft_and_others_stay(in_namespace, tmp_path):
    if not shutil.which("nft"):
        skip_or_fail("no nft here")
    (tmp_path / "bypass.nft").write_text(exported("sysctl")["etc/wulf/bypass.nft"])
    done = in_namespace("""
        nft add table inet others && nft add chain inet others c && nft add rule inet others c tcp dport 22 accept
        nft list table inet others >before
        nft -f bypass.nft && nft -f bypass.nft || exit 9
        nft list table inet wulf
        nft list table inet others >after
        """)
    assert done.returncode == 0, done.stderr
    assert "ip saddr 10.0.0.0/24 ip daddr 10.0.0.0/24 notrack" in done.stdout
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()


def test_a_bypass_that_would_cut_the_node_is_refused(in_namespace, script, tmp_path):
    if not shutil.which("nft"):
        skip_or_fail("no nft here")
    done = in_namespace("""
        printf '%s\\n' 'table inet others { chain input { type filter hook input priority filter; policy drop;' \
            'ct state established accept; }; }' | nft -f - || exit 9
        dump >before; sh wulf-settings.sh apply; r=$?; dump >after; exit $r""")
    assert done.returncode == 1
    assert "let it accept 'ct state untracked' first" in done.stderr
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()
