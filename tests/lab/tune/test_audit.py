"""`wulf audit` over real nodes: planted deviations are found, and nothing on the nodes is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import wulf
from tests.lab.conftest import ssh
from wulf import lab
from wulf.store.run import read_run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]

KEY = "net.ipv4.tcp_notsent_lowat"
"""A sysctl of each network namespace by itself, which no distribution sets."""

IDLE = "net.ipv4.tcp_slow_start_after_idle"


@pytest.fixture(scope="module")
def planted(netns: None) -> Any:
    """Four nodes: n1 runs a program called irqbalance, n2 has another MTU, n3 another sysctl, n4 would after a boot."""
    with lab.up(4, keep=False) as made:
        assert ssh(made, "n2", "ip link set dev eth0 mtu 1400").returncode == 0
        assert ssh(made, "n3", f"sysctl -q -w {KEY}=131072").returncode == 0
        file = f"mkdir -p /run/sysctl.d && echo '{IDLE} = 0' > /run/sysctl.d/90-mine.conf"  # /run is the node's own
        assert ssh(made, "n4", file).returncode == 0
        moving = 'cp "$(command -v sleep)" /run/irqbalance && setsid -f /run/irqbalance 600 >/dev/null 2>&1 </dev/null'
        assert ssh(made, "n1", moving).returncode == 0
        yield made


@pytest.fixture
def four_nodes(planted: lab.Lab, monkeypatch: pytest.MonkeyPatch) -> lab.Lab:
    monkeypatch.setenv("WULF_LAB", planted.name)
    return planted


def odd(run: Path) -> dict[str, str]:
    """Setting → who deviates in it."""
    found = read_run(run).findings
    return {one.evidence[0].metric: one.subject for one in found if one.kind == "setting"}


def dump(made: lab.Lab) -> list[str]:
    """All that an audit might touch, byte by byte."""
    what = "grep -rs . /proc/sys/net/ipv4/tcp_* /proc/sys/net/core; ip -d link; nft list ruleset 2>&1"
    return [ssh(made, f"n{i}", what).stdout for i in range(1, 5)]


@pytest.mark.command("audit")
def test_planted_deviations_are_found_and_nothing_is_changed(tmp_path: Path, four_nodes: lab.Lab) -> None:
    before = dump(four_nodes)
    done = wulf("audit", "--lab", "--out", str(tmp_path / "run"), "--save", str(tmp_path / "saved.json"))
    assert done.returncode == 1, done.stderr
    found = odd(tmp_path / "run")
    assert found.get("nic.mtu") == "n2"
    assert found.get("tcp.notsent_lowat") == "n3"
    startup = [one for one in read_run(tmp_path / "run").findings if one.kind == "startup" and one.subject == "n4"]
    assert [one.evidence[0].metric for one in startup] == ["tcp.slow_start_after_idle"]
    irqbalance = [one for one in read_run(tmp_path / "run").findings if one.kind == "checklist" and " 2d," in one.text]
    assert [one.subject for one in irqbalance] == ["n1"]
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80
    assert (tmp_path / "run" / "report.html").exists()
    assert dump(four_nodes) == before

    again = wulf("audit", "--lab", "--json", "--out", str(tmp_path / "b"), "--baseline", str(tmp_path / "saved.json"))
    objects = [json.loads(line) for line in again.stdout.splitlines()]
    assert not [each for each in objects if each.get("kind") == "drift"]
    answers = {(each["question"], each["node"]) for each in objects if each["object"] == "check"}
    assert len(answers) == 8 * 4

    assert ssh(four_nodes, "n1", f"sysctl -q -w {KEY}=65536").returncode == 0
    drifted = wulf("audit", "--lab", "--out", str(tmp_path / "c"), "--baseline", str(tmp_path / "saved.json"))
    assert drifted.returncode == 1
    (drift,) = [one for one in read_run(tmp_path / "c").findings if one.kind == "drift"]
    assert drift.subject == "n1"
    assert "tcp.notsent_lowat" in drift.text

    shown = wulf("report", str(tmp_path / "run"))
    assert shown.returncode == 0
    assert "Checklist" in shown.stdout


def test_one_setting_explained_with_the_nodes_values(tmp_path: Path, four_nodes: lab.Lab) -> None:
    done = wulf("audit", "--explain", "nic.mtu", "--lab", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "on n2 eth0 1400 B" in text
    assert "on n[1,3-4] eth0 1500 B" in text
    assert not (tmp_path / "runs").exists()
