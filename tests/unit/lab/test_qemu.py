"""The hardware lab's command lines, seeds and decisions, without any machine."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import tarfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wulf.core.errors import LabError
from wulf.lab import LabNode, disks, labs
from wulf.lab.qemu import archive, machine, programs, recipe, seed
from wulf.lab.qemu import lab as machines
from wulf.lab.qemu.image import Image
from wulf.lab.qemu.machine import EMULATION, KVM, Guest

NODES = [LabNode("n1", "10.77.0.1", "fd77::1", None), LabNode("n2", "10.77.0.2", None, None)]
GUEST = Guest(2, "n2", Path("/disks/n2.qcow2"), Path("/lab,1/seed"), Path("/lab/console.log"))
IMAGE = Image(Path("/images/key"))


def options(words: list[str], name: str) -> list[str]:
    return [value for option, value in itertools.pairwise(words) if option == name]


def test_recipe_names_what_a_node_must_have() -> None:
    read = recipe.read({})
    assert read.suite == "bookworm"
    assert {"linux-image-amd64", "openssh-server", "irqbalance", "nftables", "ethtool", "python3"} <= set(read.packages)
    assert "tuned" in read.disable
    assert read.sockets >= 2


def test_another_mirror_makes_no_other_image() -> None:
    plain, other = recipe.read({}), recipe.read({recipe.MIRROR: "http://mirror.local/debian"})
    assert other.mirror == "http://mirror.local/debian"
    assert other.key == plain.key


def test_key_follows_the_recipe_and_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "image").mkdir()
    (tmp_path / "recipe.toml").write_bytes((recipe.HERE / "recipe.toml").read_bytes())
    monkeypatch.setattr(recipe, "HERE", tmp_path)
    keys = {recipe.read({}).key}
    (tmp_path / "image" / "etc-issue").write_text("a lab")
    keys.add(recipe.read({}).key)
    (tmp_path / "recipe.toml").write_text((tmp_path / "recipe.toml").read_text().replace("bookworm", "trixie"))
    keys.add(recipe.read({}).key)
    assert len(keys) == 3


def test_archives_are_the_same_wherever_they_are_made() -> None:
    files = {"etc/b": archive.File(b"b", 0o600), "etc/a": archive.File(b"a")}
    packed = archive.pack(files)
    assert packed == archive.pack(dict(reversed(files.items())))
    with tarfile.open(fileobj=io.BytesIO(packed)) as opened:
        members = [(entry.name, entry.mode, entry.uid, entry.mtime) for entry in opened]
    assert members == [("etc/a", 0o644, 0, 0), ("etc/b", 0o600, 0, 0)]


def test_scripts_of_the_image_are_executable_and_the_rest_is_not() -> None:
    files = archive.tree(recipe.HERE / "image")
    assert files["usr/local/sbin/lab-seed"].mode == 0o755
    assert files["etc/initramfs-tools/hooks/lab"].mode == 0o755
    assert files["etc/systemd/system/lab-seed.service"].mode == 0o644


def test_debian_is_built_without_touching_this_host() -> None:
    words = recipe.debian_command(Path("/usr/bin/mmdebstrap"), recipe.read({}), Path("/w/files"), Path("/w/tree"))
    assert words[: words.index("/usr/bin/mmdebstrap")] == list(recipe.APART)
    assert words[-3:] == ["bookworm", "/w/tree", "http://deb.debian.org/debian"]
    assert "--essential-hook=tar-in /w/files /" in words
    assert '--customize-hook=chroot "$1" systemctl disable tuned' in words
    assert any(word.startswith("--include=linux-image-amd64,") for word in words)


def test_disk_is_made_without_a_mount() -> None:
    words = recipe.disk_command(Path("mke2fs"), recipe.read({}), Path("/w/tree"), Path("/w/disk"))
    assert words[words.index("-d") + 1 :] == ["/w/tree", "/w/disk", "4194304k"]


def test_machine_has_an_e1000e_on_the_clusters_port() -> None:
    words = machine.command(Path("qemu"), IMAGE, recipe.read({}), GUEST, KVM)
    assert options(words, "-netdev") == [
        "tap,id=net0,ifname=n2,script=no,downscript=no",
        "tap,id=net1,ifname=m-n2,script=no,downscript=no",
    ]
    cards = [value for value in options(words, "-device") if "netdev" in value]
    assert cards == [
        "e1000e,netdev=net0,mac=52:54:00:77:00:02",
        "virtio-net-pci,netdev=net1,mac=52:54:00:77:01:02",
    ]
    assert options(words, "-accel") == ["kvm"]
    assert options(words, "-smp") == ["2,sockets=2,cores=1"]
    assert options(words, "-fw_cfg") == ["name=opt/wulf/seed,file=/lab,,1/seed"]


def test_boot_line_says_what_differs_in_emulation() -> None:
    assert "systemd.hostname=n2" in machine.boot_line(GUEST, KVM).split()
    assert "mitigations=off" not in machine.boot_line(GUEST, KVM)
    assert "mitigations=off" in machine.boot_line(GUEST, EMULATION).split()
    assert machine.boot_line(replace(GUEST, boot_line="isolcpus=1 nohz_full=1"), KVM).endswith(
        " isolcpus=1 nohz_full=1"
    )
    assert options(machine.command(Path("qemu"), IMAGE, recipe.read({}), GUEST, EMULATION), "-accel") == [
        "tcg,thread=multi"
    ]


def test_nodes_differ_in_addresses_and_serial_numbers() -> None:
    other = Guest(1, "n1", Path("/disks/n1.qcow2"), GUEST.seed, GUEST.console)
    first, second = (machine.command(Path("qemu"), IMAGE, recipe.read({}), guest, KVM) for guest in (other, GUEST))
    for name in ("-uuid", "-drive", "-name"):
        assert options(first, name) != options(second, name)
    assert len({machine.mac(net, number) for net in (0, 1) for number in range(1, 201)}) == 400


def _note(folder: Path, monkeypatch: pytest.MonkeyPatch, refused: str) -> list[int]:
    tried: list[int] = []
    monkeypatch.setattr(machine, "DEVICE", folder)
    monkeypatch.setattr(machine, "_try_kvm", lambda _: tried.append(1) or refused)
    return tried


def test_kvm_is_tried_once_and_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = _note(tmp_path, monkeypatch, "no such MSR")
    for _ in range(2):
        assert machine.choose(Image(tmp_path)) == (EMULATION, "KVM can't run it: no such MSR")
    assert len(tried) == 1
    known = json.loads((tmp_path / "kvm.json").read_text())
    (tmp_path / "kvm.json").write_text(json.dumps(known | {"host": "another kernel"}))
    machine.choose(Image(tmp_path))
    assert len(tried) == 2


def test_kvm_is_taken_where_it_ran_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _note(tmp_path, monkeypatch, "")
    assert machine.choose(Image(tmp_path)) == (KVM, "KVM")
    monkeypatch.setattr(machine, "DEVICE", tmp_path / "none")
    assert machine.choose(Image(tmp_path))[0] == EMULATION


@pytest.mark.parametrize(
    ("status", "out", "err", "why"),
    [
        (0, b"Kernel panic - not syncing", b"", ""),
        (134, b"", b"qemu-system-x86_64: error: no MSR\nassertion", "error: no MSR"),
        (1, b"", b"qemu-system-x86_64: failed", "failed"),
        (0, b"SeaBIOS", b"", "QEMU ended with status 0"),
    ],
)
def test_kvm_is_believed_only_after_a_kernel_ran(
    monkeypatch: pytest.MonkeyPatch, status: int, out: bytes, err: bytes, why: str
) -> None:
    monkeypatch.setattr(programs, "require", Path)
    monkeypatch.setattr(
        machine.subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, status, out, err)
    )
    found = machine._try_kvm(IMAGE)
    assert found.startswith(why)
    assert bool(found) is bool(why)
    assert "\n" not in found


def test_seed_gives_a_node_its_name_addresses_and_secrets() -> None:
    keys = seed.Keys("PRIVATE", "ssh-ed25519 A\n", "n1,n1-cluster ssh-ed25519 B\n")
    files = seed.files(1, NODES[0], NODES, keys, "HOST KEY")
    assert files["etc/hostname"].content == b"n1\n"
    assert b"10.77.0.2 n2\n" in files["etc/hosts"].content
    cluster = files["etc/systemd/network/70-lab-eth0.network"].content.decode()
    assert "Address=10.77.0.1/24\nAddress=fd77::1/64\n" in cluster
    assert b"Address=10.78.0.1/24\n" in files["etc/systemd/network/70-lab-mgmt0.network"].content
    secret = {name for name, file in files.items() if file.mode == 0o600}
    assert secret == {"root/.ssh/node_id", "root/.ssh/authorized_keys", "etc/ssh/lab_host_key"}


def test_ssh_knows_a_node_by_either_network() -> None:
    assert [(way.name, way.address) for way in seed.ways(NODES)] == [
        ("n1", "10.78.0.1"), ("n2", "10.78.0.2"), ("n1-cluster", "10.77.0.1"), ("n2-cluster", "10.77.0.2"),
    ]  # fmt: skip


def _machines(accelerator: str = KVM) -> dict[str, Any]:
    process = {"pid": os.getpid(), "start": machines.identify(os.getpid())["start"]}
    nodes = [{"name": node.name, "process": process} for node in NODES]
    return {"machines": {"accelerator": accelerator}, "nodes": nodes}


def test_waits_until_every_node_has_booted(tmp_path: Path) -> None:
    answers = {"n1": [255, 0], "n2": [255, 255, 1]}  # 1: a service failed, which is the node's matter
    said: list[str] = []
    machines.await_ready(
        tmp_path,
        _machines(),
        ["n1", "n2"],
        said.append,
        clock=iter(range(20)).__next__,
        ask=lambda _, n: answers[n].pop(0),
    )
    assert answers == {"n1": [], "n2": []}
    assert [line.split()[0] for line in said] == ["n1", "n2"]


def test_a_node_that_hangs_is_named_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "nodes" / "n2").mkdir(parents=True)
    (tmp_path / "nodes" / "n2" / "console.log").write_text("first\nKernel panic - not syncing: no root\n")

    def ask(_: Path, name: str) -> int:
        return 255 if name == "n2" else 0

    with pytest.raises(LabError, match=r"^n2 .*Kernel panic - not syncing: no root"):
        machines.await_ready(
            tmp_path, _machines(), ["n1", "n2"], lambda _: None, clock=iter(range(0, 10**6, 100)).__next__, ask=ask
        )


def test_a_machine_that_ends_while_it_boots_is_named(tmp_path: Path) -> None:
    data = _machines()
    data["nodes"][0]["process"] = {"pid": os.getpid(), "start": "another"}
    with pytest.raises(LabError, match="n1: its virtual machine has ended"):
        machines.await_ready(tmp_path, data, ["n1"], lambda _: None, ask=lambda *_: 255)


def test_refuses_more_machines_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines.os, "geteuid", lambda: 0)
    monkeypatch.setattr(machines.programs, "require", Path)
    monkeypatch.setattr(machines, "_free_memory", lambda: 3 << 30)
    machines._check(3)
    with pytest.raises(LabError, match=r"4 virtual machines .*4096 MiB.*3072 MiB"):
        machines._check(4)
    monkeypatch.setattr(machines.os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="needs root"):
        machines._check(1)


def test_disks_go_with_the_lab(tmp_path: Path) -> None:
    lab, cache = tmp_path / "lab1", tmp_path / "cache"
    lab.mkdir()
    folder = disks.make(lab, cache)
    assert folder == disks.folder(lab) and folder.parent == cache
    (folder / "n1.qcow2").write_text("")
    disks.remove(lab)
    assert list(cache.iterdir()) == []
    disks.remove(tmp_path)  # a lab without any


def test_what_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs.tools, "find", lambda _: None)
    with pytest.raises(LabError, match="needs mmdebstrap, not installed here") as raised:
        programs.require("mmdebstrap")
    assert "apt install mmdebstrap" in raised.value.next_step


def test_links_and_power_are_what_the_backend_allows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(labs.state, "root", lambda: tmp_path)
    node = {"name": "n1", "address": "10.77.0.1", "address6": None, "rate": None, "link": None, "process": None}
    data = {"name": "x", "backend": "qemu", "note": None, "owner": None, "init": None, "linker": None, "nodes": [node]}
    made = labs.Lab(data)
    assert made.ssh_config == tmp_path / "x" / "ssh_config"
    with pytest.raises(LabError, match="can't set a rate: a virtual machine's link"):
        made.set_rate("n1", "1gbit")
    with pytest.raises(LabError, match="no machine of its own"):
        labs.Lab(data | {"backend": "netns"}).power_on("n1")


def test_recipe_is_plain_toml() -> None:
    data = tomllib.loads((recipe.HERE / "recipe.toml").read_text())
    assert set(data) == {"debian", "machine"}
