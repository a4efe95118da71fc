"""What can be wrong with a node, on trees of files that are wrong in that way."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tests.machines import tree
from tests.wording import Wording, lacking
from wulf.agent.machine import Machine
from wulf.findings.node import health
from wulf.findings.node.health import Host, Untold

MOUNTS = r"""proc /proc proc rw 0 0
/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /dev/shm tmpfs rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
lustre /scra\040tch lustre ro 0 0
"""


def put(root: Path, path: str, contents: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(contents)


def host(root: Path, **fields: Any) -> Host:
    return Host(Machine(str(root)), **fields)


def space(blocks: float, inodes: float) -> os.statvfs_result:
    """A file system of which these shares are free."""
    return os.statvfs_result((4096, 4096, 1000, 900, int(1000 * blocks), 1000, 900, int(1000 * inodes), 0, 255))


def test_mounts_of_devices_and_servers_are_kept_and_no_others(tmp_path: Path) -> None:
    put(tmp_path, "proc/self/mounts", MOUNTS)
    assert health.mounts_of(Machine(str(tmp_path))) == {
        "/": {"source": "/dev/sda1", "type": "ext4", "writable": True},
        "/home": {"source": "server:/home", "type": "nfs4", "writable": True},
        "/scra tch": {"source": "lustre", "type": "lustre", "writable": False},
    }


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (MOUNTS, ()),
        (MOUNTS.replace("server:/home /home nfs4 rw,vers=4.2 0 0\n", ""), ("/home not mounted",)),
        (MOUNTS.replace("ext4 rw", "ext4 ro"), ("/ is mounted read-only",)),
        (MOUNTS.replace("server:", "other:"), ("/home is other:/home (nfs4)", "was server:/home (nfs4)")),
        (MOUNTS + "tmpfs /home tmpfs rw 0 0\n", ("/home not mounted",)),  # something else lies over it
    ],
)
def test_a_mount_that_is_gone_changed_or_read_only(tmp_path: Path, now: str, words: tuple[str, ...]) -> None:
    put(tmp_path, "proc/self/mounts", MOUNTS)
    was = health.mounts_of(Machine(str(tmp_path)))
    put(tmp_path, "proc/self/mounts", now)
    said = health.mounted(host(tmp_path, mounts=was), {})
    assert bool(said) is bool(words)
    assert lacking(said, *words) == []


def test_a_machine_equals_itself_and_lost_memory_is_named(tmp_path: Path) -> None:
    root = tree.unpack("xeon-2-sockets", tmp_path)
    patterns = ["memory.size", "cpu.threads", "nic.*.speed"]
    facts = health.facts_of(Machine(str(root)), patterns)
    assert {"memory.size", "cpu.threads"} <= set(facts)
    assert any(name.startswith("nic.") for name in facts)
    assert health.same(host(root, facts=facts), {"facts": patterns}) == ""
    more = {**facts, "memory.size": 2 * facts["memory.size"], "nic.ib0.speed": 1e11}
    memory, speed = health.same(host(root, facts=more), {"facts": patterns}).split("; ")
    assert lacking(memory, f"memory.size is {facts['memory.size']}", f"was {2 * facts['memory.size']}") == []
    assert lacking(speed, "nic.ib0.speed is not there", "was 100000000000.0") == []


def test_without_a_baseline_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(Untold, match="no baseline"):
        health.same(host(tmp_path), {"facts": ["memory.size"]})
    with pytest.raises(Untold, match="no baseline"):
        health.mounted(host(tmp_path), {})
    with pytest.raises(Untold, match=r"none of memory\.size"):
        health.same(host(tmp_path, facts={"cpu.threads": 4}), {"facts": ["memory.size"]})


def test_a_full_file_system_by_its_blocks_or_its_inodes(tmp_path: Path, wording: Wording) -> None:
    def said(blocks: float, inodes: float) -> str:
        return health.room(host(tmp_path, statvfs=lambda _: space(blocks, inodes)), {"paths": ["/a"], "least": 0.02})

    assert said(0.02, 0.02) == ""
    blocks, inodes = said(0.019, 0.5), said(0.5, 0.0)
    assert lacking(blocks, "/a has 1.9% of its space", "less than 2.0%") == []
    assert lacking(inodes, "/a has 0.0% of its inodes", "less than 2.0%") == []
    wording(f"{blocks}\n{inodes}")


def test_a_file_system_without_a_count_of_inodes_has_enough(tmp_path: Path) -> None:
    btrfs = os.statvfs_result((4096, 4096, 1000, 900, 900, 0, 0, 0, 0, 255))
    assert health.room(host(tmp_path, statvfs=lambda _: btrfs), {"paths": ["/a"], "least": 0.02}) == ""


def test_a_stale_handle_is_a_fault(tmp_path: Path) -> None:
    def stale(_: str) -> os.statvfs_result:
        raise OSError(errno.ESTALE, "Stale file handle")

    assert health.room(host(tmp_path, statvfs=stale), {"paths": ["/home"], "least": 0.02}) == "/home: Stale file handle"


def test_writing_leaves_nothing_and_a_read_only_one_is_told(tmp_path: Path) -> None:
    assert health.writable(host(tmp_path), {"paths": [str(tmp_path)]}) == ""
    assert list(tmp_path.iterdir()) == []

    def refused(_: str) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    found = health.writable(host(tmp_path, write=refused), {"paths": ["/tmp"]})
    assert found == "/tmp can't be written: Read-only file system"


def test_who_is_not_root_can_not_tell_of_what_he_may_not_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Untold, match="root could tell"):
        health.writable(host(tmp_path, write=refused), {"paths": ["/data"]})


def test_load_per_cpu_of_the_last_15_minutes(tmp_path: Path) -> None:
    root = tree.unpack("xeon-2-sockets", tmp_path)
    cpus = health.facts_of(Machine(str(root)), ["cpu.threads"])["cpu.threads"]
    put(root, "proc/loadavg", f"{cpus / 4} 9999 {2 * cpus} 1/500 1234")
    assert health.load(host(root), {"most_per_cpu": 2.0}) == ""
    assert health.load(host(root), {"most_per_cpu": 1.9}).startswith(f"load {2 * cpus:.1f} over 15 minutes")
    assert health.spare(host(root)) == 0.25


def test_processes_in_a_state_are_counted_whatever_their_names(tmp_path: Path) -> None:
    for number, state in enumerate("ZZDSSR", start=1):
        put(tmp_path, f"proc/{number}/stat", f"{number} (Z) Z (x) {state} 1 1")
    put(tmp_path, "proc/self/stat", "no process of its own: a link")
    put(tmp_path, "proc/99/cmdline", "ended since")
    assert health.tasks(host(tmp_path), {"states": ["Z"], "most": 2}) == ""
    assert health.tasks(host(tmp_path), {"states": ["Z"], "most": 1}) == "2 processes in state Z, more than 1"
    assert "3 processes in state Z or D" in health.tasks(host(tmp_path), {"states": ["Z", "D"], "most": 0})
