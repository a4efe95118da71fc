"""Which packages a machine needs, and what is said about those that it can't get."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from provision.packages import FAMILIES, GROUPS, Need, missing, missing_text, names, of_groups, read_needs, wheel_name
from provision.runner import SetupError

from tests.wording import Wording, lacking

GXX = Need(
    "C++ compiler",
    "build",
    "compiles",
    "no probes",
    ("command:g++", "command:clang++"),
    {"debian": ("g++",), "fedora": ("gcc-c++", "libstdc++-static"), "suse": ("gcc-c++",)},
    wheel="ziglang>=0.13",
)
JSON = Need(
    "JSON", "build", "reads", "no probes", ("file:/usr/include/nlohmann/*.hpp",), {"debian": ("nlohmann-json3-dev",)}
)


def test_the_repositorys_list_reads_and_serves_every_group(repo: Path) -> None:
    needs = read_needs(repo / "packages.toml")
    assert {need.group for need in needs} == set(GROUPS)
    assert len({need.name for need in needs}) == len(needs)
    assert all(need.packages or need.wheel or need.sdist or need.npm for need in needs)


def test_a_server_names_the_services_that_must_stay_off(repo: Path) -> None:
    by_name = {need.name: need for need in read_needs(repo / "packages.toml")}
    assert "ssh.service" in by_name["OpenSSH server"].services
    assert "iperf3.service" in by_name["iperf3"].services


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ('nmae = "x"', "unknown field 'nmae'"),
        ('name = "x"\ngroup = "build"\nwhy = "y"\npresent = []', "field 'without' is missing"),
        ('name = "x"\ngroup = "bulid"\nwhy = "y"\nwithout = "z"\npresent = []', "group 'bulid' is none of build"),
        (
            'name = "x"\ngroup = "lab"\nwhy = "y"\nwithout = "z"\npresent = ["/bin/x"]',
            "present '/bin/x' starts with none",
        ),
        ("name = ", "line 2"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, entry: str, complaint: str) -> None:
    file = tmp_path / "packages.toml"
    file.write_text(f"[[need]]\n{entry}\n")
    with pytest.raises(SetupError, match=complaint) as caught:
        read_needs(file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("os_release", "family"),
    [
        ("ID=debian\n", "debian"),
        ("ID=ubuntu\nID_LIKE=debian\n", "debian"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "debian"),
        ("ID=fedora\n", "fedora"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "fedora"),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "suse"),
        ('ID="opensuse-tumbleweed"\n', "suse"),
        ("ID=arch\n", None),
    ],
)
def test_the_distribution_is_known_by_os_release(make_host, os_release: str, family: str | None) -> None:
    assert make_host(os_release).family() == family


def test_only_what_is_not_there_is_missing(make_host) -> None:
    assert missing([GXX, JSON], make_host()) == [GXX, JSON]
    assert missing([GXX, JSON], make_host(programs=["clang++"])) == [JSON]
    assert missing([GXX, JSON], make_host(files=["/usr/include/nlohmann/json.hpp"])) == []


def test_what_was_unpacked_without_root_is_there(make_host, tmp_path: Path) -> None:
    header = tmp_path / "sysroot/usr/include/nlohmann/json.hpp"
    header.parent.mkdir(parents=True)
    header.touch()
    assert missing([JSON], make_host()) == []


def test_a_wheel_stands_in(make_host, tmp_path: Path) -> None:
    (tmp_path / "venv/lib/python3.11/site-packages/ziglang-0.15.2.dist-info").mkdir(parents=True)
    assert missing([GXX], make_host()) == []


@pytest.mark.parametrize(
    "requirement", ["clang-format", "clang-format==14.0.6", "clang-format>=14,<15", "clang-format ~= 14.0"]
)
def test_the_name_of_a_requirement(requirement: str) -> None:
    assert wheel_name(requirement) == "clang-format"


def test_a_package_wanted_twice_is_named_once() -> None:
    assert names([GXX, GXX, JSON], "fedora") == ["gcc-c++", "libstdc++-static"]
    assert names(of_groups([GXX, JSON], ["lab"]), "debian") == []


def test_the_missing_list_says_cost_and_command_for_each_distribution(wording: Wording) -> None:
    text = missing_text([GXX, JSON], "no root here")
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    assert "no root here" in rows[0][0]
    assert [(row[0], lacking(row[1], "no probes")) for row in rows[1:3]] == [("C++ compiler", []), ("JSON", [])]
    assert rows[4] == ["Debian, Ubuntu", "apt-get install -y --no-install-recommends g++ nlohmann-json3-dev"]
    assert rows[5] == ["Fedora, RHEL", "dnf install -y --setopt=install_weak_deps=False gcc-c++ libstdc++-static"]
    assert rows[7] == ["openSUSE", "zypper --non-interactive install --no-recommends gcc-c++"]
    assert all(lacking(row[0], "no package", ": JSON") == [] for row in (rows[6], rows[8]))
    wording(text)
    assert all(label in text for label in FAMILIES.values())
