"""A lab's slurm.conf, and what is said where no Slurm can be had."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from wulf.core.errors import LabError
from wulf.lab import slurm, tools


@dataclass
class Node:
    name: str
    address: str
    address6: str | None = None


def test_configuration_names_nodes_partitions_and_the_lab_s_own_places() -> None:
    lines = slurm.configuration([("n1", "10.77.0.1"), ("n2", "10.77.0.2")], "10.77.0.254", 2).splitlines()
    assert "SlurmctldHost=controller(10.77.0.254)" in lines
    assert "NodeName=n2 NodeAddr=10.77.0.2 CPUs=2 State=UNKNOWN" in lines
    assert "PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF" in lines
    assert "PartitionName=short Nodes=n1,n2 MaxTime=5 PriorityTier=1 PreemptMode=REQUEUE" in lines
    assert "ProctrackType=proctrack/linuxproc" in lines
    paths = [line.rpartition("=")[2] for line in lines if "=/" in line]
    assert paths
    assert all(path.startswith(("/etc/slurm/", "/dev/shm")) for path in paths)


def test_what_is_written_is_private_where_it_has_to_be(tmp_path: Path) -> None:
    slurm.prepare(tmp_path, [Node("n1", "10.77.0.1")], "10.77.0.254")
    key = tmp_path / "slurm" / "munge" / "key"
    assert (key.stat().st_mode & 0o777, key.stat().st_size) == (0o600, 128)
    assert {path.name for path in (tmp_path / "slurm").iterdir()} == {
        "slurm.conf", "cgroup.conf", "munge", "state", "spool", "log",
    }  # fmt: skip
    slurm_again = tmp_path / "again"
    slurm_again.mkdir()
    slurm.prepare(slurm_again, [Node("n1", "10.77.0.1")], "10.77.0.254")
    assert (slurm_again / "slurm" / "munge" / "key").read_bytes() != key.read_bytes()


def test_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="a lab with Slurm needs root"):
        slurm.check()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(tools, "find", lambda name: None if name in ("munged", "slurmd") else Path("/x"))
    with pytest.raises(LabError, match="needs munged, slurmd, not installed here") as caught:
        slurm.check()
    assert "apt install slurm-wlm munge" in caught.value.next_step


def test_without_the_directory_of_its_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(tools, "find", lambda name: Path("/x"))
    monkeypatch.setattr(slurm, "SLURM", str(tmp_path / "slurm"))
    with pytest.raises(LabError, match="there is none"):
        slurm.check()


def test_the_last_words_are_those_that_matter(tmp_path: Path) -> None:
    log = tmp_path / "slurm" / "log"
    log.mkdir(parents=True)
    assert slurm.last_words(tmp_path) == "its daemons left no log"
    (log / "slurmd-n1.log").write_text("started\nerror: no munge\nended\n")
    (log / "slurmctld.log").write_text("one\ntwo\nthree\n")
    last = slurm.last_words(tmp_path).split(" / ")
    assert last == ["slurmctld: two", "slurmctld: three", "slurmd-n1: error: no munge"]


def test_a_slurm_that_does_not_get_there_says_why(tmp_path: Path) -> None:
    log = tmp_path / "slurm" / "log"
    log.mkdir(parents=True)
    (log / "munged.log").write_text("error: the key is too short\n")
    now = iter([0.0, 100.0])
    with pytest.raises(LabError, match="munged: error: the key is too short"):
        slurm._await(lambda: False, tmp_path, 50.0, lambda: next(now), pause=lambda _: None)
