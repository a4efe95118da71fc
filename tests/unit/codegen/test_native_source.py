"""wulf-mpi's source as one file: complete, and the same bytes every time."""

import io
import zipfile

import pytest

from wulf.codegen import native_source
from wulf.codegen.native_source import json_folder, pack, source


@pytest.fixture
def tree(tmp_path):
    names = ["mpi/main.cpp", "mpi/ranks/world.hpp", "mpi/probes/a.cpp", "mpi/plain/lu/b.hpp", "core/json/x.cpp"]
    names += ["core/session/program.cpp", "net/main.cpp", "mpi/notes.txt"]
    names += ["sysroot/nlohmann/json.hpp", "sysroot/nlohmann/detail/d.hpp"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_what_the_compiler_needs_and_no_more(tree):
    with zipfile.ZipFile(io.BytesIO(pack(tree, tree / "sysroot"))) as archive:
        assert archive.namelist() == [
            "core/json/x.cpp", "mpi/main.cpp", "mpi/plain/lu/b.hpp", "mpi/probes/a.cpp",
            "mpi/ranks/world.hpp",
            "nlohmann/detail/d.hpp", "nlohmann/json.hpp",
        ]  # fmt: skip


def test_the_same_sources_are_the_same_bytes(tree):
    before = pack(tree, tree / "sysroot")
    (tree / "mpi/main.cpp").write_text("mpi/main.cpp")  # only its time is new
    assert pack(tree, tree / "sysroot") == before
    (tree / "mpi/main.cpp").write_text("other")
    assert pack(tree, tree / "sysroot") != before


def test_no_json_library(tmp_path, monkeypatch):
    monkeypatch.setattr(native_source, "_JSON", ())
    with pytest.raises(FileNotFoundError, match="nlohmann-json3-dev"):
        json_folder(tmp_path)


def test_this_wulf_has_its_source():
    data, digest = source()
    assert len(digest) == 64
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert "mpi/probes/pingpong.cpp" in archive.namelist()
        assert archive.testzip() is None
