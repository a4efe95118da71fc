"""What CONTRIBUTING's table says of a node's probe: one file beside the others, in a copy of the native sources."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from subprocess import PIPE

import pytest
from provision import native
from provision.packages import Host
from provision.places import Places

PLACES = Places(Path(__file__).resolve().parents[3])
RENAMED = {
    '"sha1", "cpu"': '"toy", "cpu"',
    "Sha1 final": "Toy final",
    "Sha1()": "Toy()",
    "<Sha1>": "<Toy>",
    "_sha1{": "_toy{",
}


def make(words: list[str | Path], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.full
def test_a_probe_is_one_file(tmp_path: Path) -> None:
    host = Host(extra=(PLACES.sysroot,), venv=PLACES.venv)
    shutil.copytree(PLACES.repo / "native", tmp_path / "native")
    shutil.copy(PLACES.repo / "pyproject.toml", tmp_path)
    probes = tmp_path / "native/node/probes"
    text = (probes / "sha1.cpp").read_text()
    for before, after in RENAMED.items():
        assert before in text
        text = text.replace(before, after)
    (probes / "toy.cpp").write_text(text)

    cmake, ninja = native.tool(host, "cmake"), native.tool(host, "ninja")
    options = ["-DWULF_TESTS=OFF", "-DWULF_STATIC=OFF", "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    make([cmake, "-S", "native", "-B", "build", "-G", "Ninja", *options, *native.library_options(PLACES)], tmp_path)
    make([cmake, "--build", "build", "--target", "wulf-node"], tmp_path)
    with subprocess.Popen([tmp_path / "build/wulf-node"], stdin=PIPE, stdout=PIPE, text=True) as session:
        assert session.stdin is not None and session.stdout is not None
        session.stdin.write('{"id": 1, "op": "run", "probe": "toy", "params": {"seconds": 0.01}}\n')
        session.stdin.flush()
        _, answer = session.stdout.readline(), json.loads(session.stdout.readline())
    assert answer["metrics"]["throughput"]["value"] > 0
