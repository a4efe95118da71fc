"""Source distributions are unpacked where the native build looks for them, and only those that packages.toml means."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from provision import native, packages, sources
from provision.index import Choose, File
from provision.packages import Host, Need
from provision.places import Places
from provision.runner import SetupError

from .conftest import Script

NAME = "pymonocypher-4.0.3.4"


def archive(*, folder: str = NAME, **files: str) -> bytes:
    """An archive of these files in one folder: a source distribution's, which it names."""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{folder}/{name.replace('__', '.')}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return into.getvalue()


CONTENT = archive(monocypher__c="code", monocypher__h="head")


def index_of(content: bytes, *names: str) -> Callable[[str, Choose], tuple[File, bytes]]:
    """An index that lists these files, which all have one content."""

    def fetch(project: str, choose: Choose) -> tuple[File, bytes]:
        assert project == "pymonocypher"
        return choose(
            [File(name, f"https://files.example/{name}") for name in names], "https://index.example/"
        ), content

    return fetch


def need(content: bytes) -> Need:
    present = (f"file:/usr/src/{NAME}/monocypher.c",)
    return Need("Monocypher", "build", "", "", present, sdist=NAME, sha256=hashlib.sha256(content).hexdigest())


def test_it_is_then_present_and_the_build_is_told_where(tmp_path: Path, script: Script) -> None:
    places = Places(tmp_path)
    host = Host(root=tmp_path / "bare", extra=(places.sysroot,))
    wanted = [need(CONTENT), Need("other", "build", "", "")]
    assert packages.missing(wanted[:1], host) == wanted[:1]
    sources.unpack(script, places, wanted, index_of(CONTENT, "pymonocypher-4.0.2.5.tar.gz", f"{NAME}.tar.gz"))
    folder = places.sysroot / "usr/src" / NAME
    assert sorted(path.name for path in folder.iterdir()) == ["monocypher.c", "monocypher.h"]
    assert packages.missing(wanted[:1], host) == []
    assert native.library_options(places) == [f"-DWULF_MONOCYPHER={folder}"]


def test_another_content_than_packages_toml_has_the_digest_of_is_refused(tmp_path: Path, script: Script) -> None:
    places = Places(tmp_path)
    with pytest.raises(SetupError, match="digest"):
        sources.unpack(script, places, [need(b"other")], index_of(CONTENT, f"{NAME}.tar.gz"))
    assert not places.sysroot.exists()


def test_a_package_of_npm_s_registry_is_unpacked_by_its_name_and_version(tmp_path: Path, script: Script) -> None:
    places, content = Places(tmp_path), archive(folder="package", plot__js="draw")
    digest = hashlib.sha256(content).hexdigest()
    wanted = [Need("plot.js", "build", "", "", npm="plot.js-dist-min-1.2.3", sha256=digest)]

    def fetch(name: str, version: str) -> bytes:
        assert (name, version) == ("plot.js-dist-min", "1.2.3")
        return content

    sources.unpack(script, places, wanted, fetch_npm=fetch)
    assert (places.sysroot / "usr/src/plot.js-dist-min-1.2.3/plot.js").read_text() == "draw"
    wanted = [Need("plot.js", "build", "", "", npm="plot.js-dist-min-1.2.3", sha256="0" * 64)]
    with pytest.raises(SetupError, match=r"plot\.js is not the one whose digest"):
        sources.unpack(script, places, wanted, fetch_npm=fetch)


def test_an_index_without_it_is_named(tmp_path: Path, script: Script) -> None:
    with pytest.raises(SetupError, match=rf"https://index\.example/ lists no {NAME}\.tar\.gz"):
        sources.unpack(script, Places(tmp_path), [need(CONTENT)], index_of(CONTENT, "pymonocypher-4.0.3.4.zip"))


@pytest.mark.parametrize("kind", ["sdist", "npm"])
def test_a_digest_goes_with_it(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "packages.toml"
    file.write_text(f'[[need]]\nname = "x"\ngroup = "build"\nwhy = ""\nwithout = ""\npresent = []\n{kind} = "x-1"\n')
    with pytest.raises(SetupError, match="'sha256' is missing"):
        packages.read_needs(file)
