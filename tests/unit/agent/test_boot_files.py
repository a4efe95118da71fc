"""What a boot gives: drop-in folders, the boot loader's words, .link files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wulf.agent import settings
from wulf.agent.boot import bootline, dropins, linkfile, networkfiles
from wulf.agent.machine import Machine
from wulf.agent.settings.sysctl import mechanism as sysctl
from wulf.agent.unknown import Unknown


def put(root: Path, files: dict[str, str]) -> Machine:
    for path, contents in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(contents)
    return Machine(str(root))


def test_files_are_applied_by_name_and_the_first_folder_has_the_say(tmp_path: Path) -> None:
    names = (
        "etc/x.d/20.conf",
        "usr/lib/x.d/10.conf",
        "run/x.d/20.conf",
        "usr/local/lib/x.d/30.conf",
        "lib/x.d/30.conf",
    )
    machine = put(tmp_path, {**dict.fromkeys(names, ""), "etc/x.d/00.disabled": ""})
    assert dropins.files(machine, "x.d", ".conf") == [
        "usr/lib/x.d/10.conf",
        "etc/x.d/20.conf",
        "usr/local/lib/x.d/30.conf",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b = 1\na.b = 2", 2),
        ("# a.b = 1\n; a.b = 2", None),
        ("a/b=3", 3),
        ("-a.b = 4", 4),
        ("a.b = 1\na.* = 5", 1),
        ("a.* = 5", 5),
        ("-a.b\na.* = 5", None),
        ("*.b = 6", 6),
        ("* = 7", None),
    ],
)
def test_sysctl_files(text: str, value: int | None, tmp_path: Path) -> None:
    with put(tmp_path, {"etc/sysctl.d/a.conf": text}) as machine:
        if value is not None:
            assert sysctl.startup(machine, {"key": "a.b"}, "") == value
        else:
            with pytest.raises(Unknown, match="kernel's default"):
                sysctl.startup(machine, {"key": "a.b"}, "")


def test_a_name_with_dots_in_a_key(tmp_path: Path) -> None:
    text = "net/ipv4/conf/eth0.7/arp_ignore = 1\nnet.ipv4.conf.eth0/8.arp_ignore = 2"
    with put(tmp_path, {"etc/sysctl.d/a.conf": text}) as machine:
        target = {"key": "net.ipv4.conf.{place}.arp_ignore"}
        assert [sysctl.startup(machine, target, place) for place in ("eth0.7", "eth0.8")] == [1, 2]


def test_sysctl_conf_is_read_last_by_procps_and_not_by_systemd(tmp_path: Path) -> None:
    files = {"etc/sysctl.conf": "a.b = 1", "etc/sysctl.d/zz.conf": "a.b = 2"}
    with put(tmp_path, files) as machine:
        assert sysctl.startup(machine, {"key": "a.b"}, "") == 1
    with put(tmp_path, {"usr/lib/systemd/systemd-sysctl": ""}) as machine:
        assert sysctl.startup(machine, {"key": "a.b"}, "") == 2


def test_the_command_line_sets_a_sysctl_where_no_file_does(tmp_path: Path) -> None:
    with put(tmp_path, {"proc/cmdline": "quiet sysctl.a.b=9"}) as machine:
        assert sysctl.startup(machine, {"key": "a.b"}, "") == 9


@pytest.mark.parametrize(
    ("name", "value"),
    [("isolcpus", "2-3"), ("quiet", True), ("splash", False), ("nohz_full", "8"), ("nohz-full", "8"), ("root", "a b")],
)
def test_words_of_a_command_line(name: str, value: str | bool, tmp_path: Path) -> None:
    with put(tmp_path, {"proc/cmdline": 'quiet nohz_full=7 isolcpus=2-3 root="a b" nohz_full=8'}) as machine:
        assert bootline.value(bootline.running(machine), name) == value


GRUB = """\
GRUB_TIMEOUT=5
GRUB_CMDLINE_LINUX_DEFAULT="quiet isolcpus=1"  # ours
GRUB_CMDLINE_LINUX='console=ttyS0 isolcpus=0'
"""


def test_grubs_words_are_joined_as_grub_mkconfig_joins_them(tmp_path: Path) -> None:
    more = 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX nosmt"\n'
    with put(tmp_path, {"etc/default/grub": GRUB, "etc/default/grub.d/50-more.cfg": more}) as machine:
        assert bootline.following(machine) == [["console=ttyS0", "isolcpus=0", "nosmt", "quiet", "isolcpus=1"]]
        assert bootline.next_value(machine, "isolcpus") == "1"
        assert bootline.next_value(machine, "nosmt") is True


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "no boot loader's configuration"),
        ({"etc/default/grub": 'GRUB_CMDLINE_LINUX="$(cat /x)"'}, "with a program, which is not run"),
        ({"etc/default/grub": 'GRUB_CMDLINE_LINUX="a'}, "can't be parsed"),
        ({"boot/loader/entries/a.conf": "options $kernelopts ro"}, "grub's environment"),
        (
            {"boot/loader/entries/a.conf": "options x=1", "boot/loader/entries/b.conf": "options x=2"},
            "the boot entries differ in x: 1, 2",
        ),
    ],
)
def test_what_the_next_boot_gives_is_not_guessed(files: dict[str, str], reason: str, tmp_path: Path) -> None:
    with put(tmp_path, files) as machine, pytest.raises(Unknown, match=reason.replace("$", r"\$")):
        bootline.next_value(machine, "x")


def test_entries_that_agree_in_a_word(tmp_path: Path) -> None:
    entry = "title T\noptions ro x=1\noptions y"
    with put(tmp_path, {f"boot/loader/entries/{name}.conf": entry for name in "ab"}) as machine:
        assert [bootline.next_value(machine, name) for name in "xyz"] == ["1", True, False]


def link(root: Path, *files: str) -> Machine:
    nic = "sys/class/net/eth0"
    (root / "answers.json").parent.mkdir(parents=True, exist_ok=True)
    (root / "answers.json").write_text(json.dumps({"drvinfo eth0": {"driver": "e1000e", "bus": "0000:00:02.0"}}))
    base = {f"{nic}/address": "52:54:00:12:34:56", f"{nic}/addr_assign_type": "0", f"{nic}/name_assign_type": "4"}
    base[f"{nic}/type"] = "1"
    return put(root, {**base, **{f"etc/systemd/network/{at}0-x.link": text for at, text in enumerate(files, 1)}})


@pytest.mark.parametrize(
    ("match", "holds"),
    [
        ("", True),
        ("[Match]\nOriginalName=*\n", True),
        ("[Match]\nDriver=igb e1000*\n", True),
        ("[Match]\nDriver=!igb ixgbe\n", True),
        ("[Match]\nDriver=igb\n", False),
        ("[Match]\nMACAddress=52:54:00:12:34:56\n", True),
        ("[Match]\nMACAddress=52:54:00:12:34:57\nMACAddress=52:54:00:12:34:56\n", True),
        ("[Match]\nPath=*-usb-*\n", False),  # Debian's 73-usb-net-by-mac.link
        ("[Match]\nPath=pci-0000:00:02.?\n", True),
        ("[Match]\nKind=bridge bond\n", False),
        ("[Match]\nKind=!bridge\n", True),
        ("[Match]\nType=ether\n", True),
        ("[Match]\nType=wlan\n", False),
        ("[Match]\nPermanentMACAddress=52:54:00:12:34:56\nDriver=igb\n", False),
    ],
)
def test_the_first_link_file_that_matches_counts(match: str, holds: bool, tmp_path: Path) -> None:
    first = f"{match}[Link]\nMTUBytes=6000\n"
    with link(tmp_path, first, "[Match]\nOriginalName=*\n[Link]\nMTUBytes=1500\n") as machine:
        assert linkfile.startup(machine, "eth0", "MTUBytes") == ("6000" if holds else "1500")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[Match]\nHost=n1\n[Link]\nMTUBytes=1\n", "by Host=, which is not evaluated"),
        ("[Match]\nOriginalName=eth*\n[Link]\nMTUBytes=1\n", "kernel's own name"),
        ("[Match]\nDriver=igb\n[Link]\nMTUBytes=1\n", "no .link file applies to eth0"),
        ("[Match]\nDriver=e1000e\n[Link]\nName=x\n", "does not set MTUBytes"),
        ("[Match]\nDriver=e1000e\n[Link]\nMTUBytes=1\nMTUBytes=\n", "does not set MTUBytes"),
    ],
)
def test_a_link_file_that_can_not_be_judged_is_said(text: str, reason: str, tmp_path: Path) -> None:
    with link(tmp_path, text) as machine, pytest.raises(Unknown, match=reason):
        linkfile.startup(machine, "eth0", "MTUBytes")


@pytest.mark.parametrize(
    ("path", "text", "mtu"),
    [
        (
            "etc/network/interfaces",
            "auto eth0\niface eth0 inet static\n  mtu 9000\niface eth1 inet dhcp\n  mtu 1",
            9000,
        ),
        ("etc/network/interfaces.d/a", "iface eth1 inet dhcp\n  mtu 1\niface eth0 inet6 auto\n  # mtu 2", None),
        ("etc/NetworkManager/system-connections/a", "[connection]\ninterface-name=eth0\n[ethernet]\nmtu=6000", 6000),
        ("etc/NetworkManager/system-connections/a", "[connection]\ninterface-name=eth1\n[ethernet]\nmtu=6000", None),
        ("etc/sysconfig/network-scripts/ifcfg-eth0", 'DEVICE=eth0\nMTU="4000"', 4000),
        ("etc/systemd/network/a.network", "[Match]\nName=eth*\n[Link]\nMTUBytes=3000", 3000),
        ("etc/systemd/network/a.network", "[Match]\nName=ens*\n[Link]\nMTUBytes=3000", None),
    ],
)
def test_the_network_service_has_the_last_word_on_the_mtu(
    path: str, text: str, mtu: int | None, tmp_path: Path
) -> None:
    link(tmp_path, "[Match]\nOriginalName=*\n[Link]\nMTUBytes=1500\n").close()
    with put(tmp_path, {path: text}) as machine:
        assert networkfiles.mtu(machine, "eth0") == mtu
        assert settings.mechanisms()["link"].startup(machine, {"attribute": "mtu"}, "eth0") == (mtu or 1500)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[Match]\nType=ether\n[Link]\nMTUBytes=3000", "matches by Type, which is not evaluated"),
        ("[Match]\nName=eth0\n[Link]\nMTUBytes=big", "'big' .* is no number"),
    ],
)
def test_a_network_file_that_can_not_be_judged_is_said(text: str, said: str, tmp_path: Path) -> None:
    with put(tmp_path, {"etc/systemd/network/a.network": text}) as machine, pytest.raises(Unknown, match=said):
        networkfiles.mtu(machine, "eth0")


def test_a_place_that_udev_may_call_either_way(tmp_path: Path) -> None:
    either = "[Match]\nPath=virtio-pci-*\n[Link]\nMTUBytes=1\n"
    link(tmp_path, either).close()
    drvinfo = {"driver": "virtio_net", "bus": "0000:00:02.0"}
    (tmp_path / "answers.json").write_text(json.dumps({"drvinfo eth0": drvinfo}))
    with Machine(str(tmp_path)) as machine:
        with pytest.raises(Unknown, match="by Path=, which can't be told of eth0"):
            linkfile.startup(machine, "eth0", "MTUBytes")
        (tmp_path / "etc/systemd/network/10-x.link").write_text(either.replace("virtio-pci-", "*pci-"))
        assert linkfile.startup(machine, "eth0", "MTUBytes") == "1"


def test_sizes_and_time_spans_as_systemd_writes_them() -> None:
    assert [linkfile.size(text) for text in ("1500", "9K", "1M")] == [1500, 9216, 1 << 20]
    assert [linkfile.span(text) for text in ("3", "5us", "1ms 500us", "250ns")] == [3.0, 5e-06, 0.0015, 2.5e-07]
    for wrong in ("soon", "5 parsecs"):
        with pytest.raises(Unknown, match="no time span"):
            linkfile.span(wrong)
    with pytest.raises(Unknown, match="no number"):
        linkfile.size("large")
