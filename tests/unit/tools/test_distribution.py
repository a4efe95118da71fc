"""Packages and the offline bundle: for whom, of what, and the same bytes whoever builds."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from email.message import Message
from importlib import metadata
from pathlib import Path

import pytest
from distribution import bundle, nfpm, targets, tree, wheels
from packaging.requirements import Requirement
from provision.places import Places
from provision.runner import Done, SetupError

from tests.unit.tools.conftest import Script

TIME = 1_700_000_000


def known(repo: Path) -> list[targets.Target]:
    return targets.read(repo / "packaging/targets.toml")


def test_every_package_requires_a_python_that_wulf_runs_on(repo: Path) -> None:
    for target in known(repo):
        assert tuple(map(int, target.python.split("."))) >= (3, 11)
        assert target.requires[0] in (target.interpreter, Path(target.interpreter).name)
        assert any("libstdc++" in name for name in target.requires)
        assert "openssh-server" not in target.requires + target.recommends, "it would start a server on the host"


def test_targets_are_chosen_by_name(repo: Path) -> None:
    assert [target.name for target in targets.chosen(known(repo), ["el", "debian-12"])] == ["el", "debian-12"]
    assert targets.chosen(known(repo), []) == known(repo)
    with pytest.raises(SetupError, match=r"plan9[\s\S]*debian-12"):
        targets.chosen(known(repo), ["plan9"])


def needed(package: str, seen: set[str]) -> Iterator[str]:
    """What an installed package depends on, and what that does."""
    for text in metadata.requires(package) or []:
        requirement = Requirement(text)
        name = re.sub("[-_.]+", "-", requirement.name.lower())
        if name not in seen and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            seen.add(name)
            yield name
            yield from needed(requirement.name, seen)


def test_every_dependency_has_its_version(repo: Path) -> None:
    lines = (repo / "packaging/pinned.txt").read_text().splitlines()
    pinned = {re.sub("[-_.]+", "-", line.partition("==")[0].lower()) for line in lines if "==" in line}
    assert pinned == set(needed("wulf", set()))


def test_wheels_are_of_the_python_and_the_architecture_asked_for(repo: Path, tmp_path: Path, script: Script) -> None:
    wheels.fetch(script, Places(repo), ["wulf.whl"], "3.13", "aarch64", tmp_path)
    (command,) = script.commands
    assert command[command.index("--python-version") + 1] == "3.13"
    platforms = {command[at + 1] for at, word in enumerate(command) if word == "--platform"}
    assert {"manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_28_aarch64"} <= platforms
    assert "manylinux_2_29_aarch64" not in platforms, "RHEL 8 could not load it"


def test_one_wheel_of_wulf_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    with pytest.raises(SetupError, match="make wheel"):
        wheels.wulf_wheel(Places(tmp_path))


def test_a_package_owns_its_folders_and_shares_the_others(tmp_path: Path) -> None:
    tree.put(tmp_path / tree.HOME / "bin/wulf", "")
    tree.put(tmp_path / tree.DOC / "rates.md", "")
    tree.put(tmp_path / "usr/share/fish/vendor_completions.d/wulf.fish", "")
    (tmp_path / "usr/bin").mkdir()
    (tmp_path / "usr/bin/wulf").symlink_to("../lib/wulf/bin/wulf")
    listed = nfpm.contents(tmp_path)
    assert [(one["dst"], one.get("type"), one.get("packager")) for one in listed] == [
        ("/usr/lib/wulf", "tree", None),
        ("/usr/share/doc/wulf", "tree", None),
        ("/usr/bin/wulf", "symlink", None),
        ("/usr/share/doc", "dir", "rpm"),
        ("/usr/share/fish", "dir", "rpm"),
        ("/usr/share/fish/vendor_completions.d", "dir", "rpm"),
        ("/usr/share/fish/vendor_completions.d/wulf.fish", None, None),
    ]
    assert listed[2]["src"] == "../lib/wulf/bin/wulf"


def test_a_package_is_named_as_its_format_has_it(repo: Path, tmp_path: Path, script: Script, make_host) -> None:  # type: ignore[no-untyped-def]
    def make_pages(words: list[str]) -> Done:
        tree.put(Path(words[-1]) / "wulf.1", "")
        return Done(0)

    for name in ("pinned.txt", "targets.toml", *(f"scripts/{name}" for name in nfpm.SCRIPTS)):
        tree.put(tmp_path / "packaging" / name, (repo / "packaging" / name).read_bytes())
    for name in tree.UNITS:
        tree.put(tmp_path / "packaging/systemd" / name, "")
    tree.put(tmp_path / "dist/wulf-0.1.0-py3-none-manylinux_2_17_x86_64.whl", "")
    places = Places(tmp_path)
    script.call([str(places.python), "-m", "wulf.cli.main", "manual"], make_pages)
    made = [
        nfpm.package(script, make_host(programs=["nfpm"]), places, target, "aarch64").name
        for target in targets.chosen(known(repo), ["debian-13", "el"])
    ]
    assert made == ["wulf_0.1.0-1~debian13_arm64.deb", "wulf-0.1.0-1.el.aarch64.rpm"]
    root = tmp_path / "build/package/el-aarch64"
    assert (root / "usr/lib/wulf/bin/python3").readlink() == Path("../../../bin/python3.12")
    assert "home = /usr/bin\n" in (root / "usr/lib/wulf/pyvenv.cfg").read_text()
    assert (root / "usr/share/man/man1/wulf.1.gz").is_file()
    assert len(script.ran("package", "--packager", "rpm")) == 1


def test_without_nfpm_it_is_said_how_to_come_by_it(repo: Path, script: Script, make_host) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SetupError, match="make packages"):
        nfpm.package(script, make_host(), Places(repo), known(repo)[0], "x86_64")


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ([("License-Expression", "MIT"), ("License", "see LICENSE")], "MIT"),
        (
            [("License", "MIT\n\nPermission is"), ("Classifier", "License :: OSI Approved :: MIT License")],
            "MIT License",
        ),
        ([], "see its *.dist-info"),
    ],
)
def test_a_licence_is_named_wherever_its_package_says_it(fields: list[tuple[str, str]], name: str) -> None:
    said = Message()
    for field, value in fields:
        said[field] = value
    assert tree.licence(said) == name


def test_a_bundle_is_the_same_bytes_whoever_makes_it() -> None:
    files = {"wheels/a.whl": b"a", "install": b"#!/bin/sh\n"}
    packed = bundle.packed("wulf", files, TIME)
    assert packed == bundle.packed("wulf", dict(reversed(files.items())), TIME)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert {one.name: (one.mode, one.mtime) for one in archive} == {
            "wulf/install": (0o755, TIME),
            "wulf/wheels/a.whl": (0o644, TIME),
        }


def test_sums_are_as_sha256sum_reads_them() -> None:
    assert bundle.sums({"a": b""}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n"
