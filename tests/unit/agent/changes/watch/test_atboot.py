"""What a boot would keep is the boot's to take back."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.unit.agent.changes.machine import START, FakeNode, setting
from wulf.agent.changes import keep
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.status import status
from wulf.agent.changes.watch import atboot

ME = Request("c1", "me@head")


@pytest.fixture
def units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(atboot, "systemd_runs", lambda: True)
    return tmp_path / "etc systemd"


def test_the_unit_is_there_while_it_is_wanted(node: FakeNode, units: Path) -> None:
    node.folder.mkdir()
    for _ in range(2):
        atboot.at_boot(node.host, True, units)
    (link,) = (units / "multi-user.target.wants").iterdir()
    assert link.resolve() == units / atboot.UNIT
    assert (units / atboot.UNIT).stat().st_mode & 0o777 == 0o644
    for _ in range(2):
        atboot.at_boot(node.host, False, units)
    assert [path for path in units.rglob("*") if not path.is_dir()] == []


def test_a_node_without_systemd_gets_none(node: FakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atboot, "systemd_runs", lambda: False)
    atboot.at_boot(node.host, True, tmp_path / "units")
    assert not (tmp_path / "units").exists()


def test_its_words_are_escaped(node: FakeNode, units: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node.folder.mkdir()
    odd = '/a b/%h/$HOME/"q"/\\n\n[Service]'
    monkeypatch.setattr(atboot, "agent_command", lambda *_: (["/usr/bin/python3", odd], {"PYTHONPATH": odd}))
    atboot.at_boot(node.host, True, units)
    lines = dict(line.partition("=")[::2] for line in (units / atboot.UNIT).read_text().splitlines())
    assert sum(line == "[Service]" for line in lines) == 1
    escaped = '/a b/%%h/$HOME/\\"q\\"/\\\\n\\n[Service]'
    assert lines["Environment"] == f'"PYTHONPATH={escaped}"'
    assert shlex.split(lines["ExecStart"])[1] == odd.replace("%", "%%").replace("$", "$$").replace("\n", "\\n")


def test_after_a_boot_it_takes_back_what_that_has_kept(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wulf.agent.changes.keep.session", lambda: "another")
    wanted = {"mtu": "fake", "rings": "lasting", "channels": "lasting"}
    apply(node.host, ME, [setting(key, 8, mechanism=mechanism) for key, mechanism in wanted.items()])
    keep.confirm(node.host, "c1", 1)
    keep.keep(node.host, "c1", ["nic.channels"])
    assert atboot.take_back(node.host) == {"results": []}, "of this boot"
    node.boot = "boot-2"
    node.settings.set("eth0", "mtu", 1500)  # what a boot does
    (told,) = atboot.take_back(node.host)["results"]
    assert (told["name"], told["outcome"]) == ("nic.rings", "reverted")
    assert node.settings.load() == {**START, "eth0": {**START["eth0"], "channels": 8}}
    assert node.at_boot[-1] is False
    found = status(node.host)
    assert {each["name"]: each["kept"] for each in found["open"]} == {"nic.mtu": False, "nic.channels": True}
    assert [each["name"] for each in found["taken_back"]] == ["nic.rings"]
