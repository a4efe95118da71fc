"""Builds whose compilers are ours: what is built where, in which order, and what the rows say."""

import io
import os
import random
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.engine.blocks import MOST_FAILURES, Contest, Effort
from bench.engine.errors import BenchError
from bench.overhead import build, builder, checkouts
from bench.overhead.checkouts import BASE, CHILD, PARTS, TOUCHED, Tree

from wulf.cluster.mpi.installed import Installed

OPENMPI = Installed("openmpi", "4.1.4", "/usr", "/usr/bin/mpicxx.openmpi", "/usr/bin/mpirun.openmpi", "g++", "system")
MPICH = Installed("mpich", "4.0.2", "/usr", "/usr/bin/mpicxx.mpich", "/usr/bin/mpirun.mpich", "g++", "system")
SYSCALL = "node/probes/syscall.cpp"
CACHE = "CMAKE_BUILD_TYPE:STRING=Release\nCMAKE_MAKE_PROGRAM:UNINITIALIZED=/usr/bin/ninja\n"


class Compiler:
    """Makes programs of a size of its own, and moves a clock."""

    def __init__(self, world, folder, seconds, size):
        self.world, self.folder, self.seconds, self.size = world, folder, seconds, size
        for name in TOUCHED:
            source = folder / "native" / name
            source.parent.mkdir(parents=True)
            source.write_text("int a;\n")
        self.tree = Tree(folder, self.run)

    def run(self, words):
        what = "touch" if "ninja" in words[0] else words[3]
        self.world.log.append((self.folder.name, what))
        if what in self.world.broken:
            raise BenchError(f"{what} broke")
        self.world.now += self.seconds[what]
        programs = {
            "probes": [self.tree.program(name) for name in build.PROGRAMS],
            "touch": [self.tree.program(name) for name in TOUCHED.values()],
            "mpi": [Path(words[5]) / "0123456789abcdef" / "wulf-mpi"] if what == "mpi" else [],
        }
        for path in programs[what]:
            path.parent.mkdir(parents=True, exist_ok=True)
            newer = path.stat().st_mtime_ns + 1 if path.exists() else None
            path.write_bytes(bytes(self.size))
            if newer:
                os.utime(path, ns=(newer, newer))
        if what == "probes":
            self.tree.program("CMakeCache.txt").write_text(CACHE)
        return self.seconds[what]


class World:
    def __init__(self, folder, ours=None, base=None, broken=()):
        self.now, self.log, self.said, self.broken = 0.0, [], [], broken
        ours = ours or {"probes": 40.0, "mpi": 10.0, "touch": 2.0}
        base = base or {"probes": 200.0, "mpi": 80.0, "touch": 8.0}
        self.ours = Compiler(self, folder / "ours", ours, 90).tree
        self.base = Compiler(self, folder / "base", base, 100).tree

    def compare(self, mpis, quick=False):
        effort = Effort((6,) if quick else (12, 18), 0.02, 720.0, clock=lambda: self.now)
        context = SimpleNamespace(quick=quick, effort=effort, rng=random.Random(1), say=self.said.append)
        rows = build.compare(self.ours, self.base, mpis, context)
        return {(row.name, row.peer_name.split(" (")[0]): row for row in rows}


def test_each_time_stands_beside_its_limit_and_the_older_commit(tmp_path):
    rows = World(tmp_path).compare([OPENMPI, MPICH])
    times = [build.PROBES, build.mpi_name(OPENMPI), build.mpi_name(MPICH), *map(build.touch_name, TOUCHED)]
    assert build.mpi_name(OPENMPI) == "wulf-mpi with Open MPI 4.1.4, from an empty cache"
    assert build.touch_name(SYSCALL) == "wulf-node, syscall.cpp touched"
    assert list(rows)[:12] == [(name, peer) for name in times for peer in ("limit", f"commit {BASE}")]
    found = [(rows[key].ours, rows[key].peer, rows[key].ratio, rows[key].verdict) for key in list(rows)[:12]]
    assert found == [(ours, peer, pytest.approx(ours / peer), "met") for ours, peer in (
        (40, 90), (40, 200), (10, 20), (10, 80), (10, 20), (10, 80), *[(2, 5), (2, 8)] * 3,
    )]  # fmt: skip


def test_a_size_is_its_own_interval(tmp_path):
    rows = World(tmp_path).compare([MPICH])
    names = [*build.PROGRAMS, "wulf-mpi with MPICH 4.0.2"]
    assert list(rows)[10:] == [(f"{name}, size", f"commit {BASE}") for name in names]
    for name in names:
        row = rows[f"{name}, size", f"commit {BASE}"]
        assert (row.ours, row.peer, row.unit, row.ratio, row.low, row.verdict) == (90, 100, "B", 0.9, 0.9, "met")


def test_three_blocks_from_nothing_then_a_dozen_touches_each_side_back_to_back(tmp_path):
    world = World(tmp_path)
    rows = world.compare([OPENMPI, MPICH])
    whole, touches = world.log[: 3 * 3 * 2], world.log[3 * 3 * 2 :]
    for start in range(0, len(whole), 6):
        block = sorted(whole[start : start + 6])
        assert block == sorted((side, what) for side in ("ours", "base") for what in ("probes", "mpi", "mpi"))
    pairs = list(pairwise(world.log))[::2]
    assert all(one[1] == other[1] and {one[0], other[0]} == {"ours", "base"} for one, other in pairs)
    assert {one[0] for one, _ in pairs} == {"ours", "base"}
    assert [what for _, what in touches] == ["touch"] * 24 * len(TOUCHED)
    assert rows[build.PROBES, "limit"].peer_name == "limit (3 blocks)"
    assert rows[build.touch_name(SYSCALL), f"commit {BASE}"].peer_name == f"commit {BASE}"


def test_one_block_has_no_interval_and_says_so(tmp_path):
    world = World(tmp_path)
    row = world.compare([OPENMPI], quick=True)[build.PROBES, "limit"]
    assert (row.ours, row.peer, row.ratio, row.verdict) == (40, None, None, "–")
    assert row.peer_name == "limit (1 of 3 blocks)"
    assert len(world.log) == 2 * 2 + 6 * 2 * len(TOUCHED)


def contest(ours, base):
    return Contest("a build", build.PEER, "s", "lower", float, float, pairs=list(zip(ours, base, strict=True)))


def test_each_block_stands_beside_the_limit_and_the_older_commit():
    late, faster = build.times(contest([2.0, 2.1, 3.0, 3.1, 4.0, 5.5], [8.0] * 6), 5.0)
    assert (late.low, late.high, late.verdict) == (0.4, 1.1, "open")
    assert (faster.high, faster.verdict) == (5.5 / 8, "met")
    late, faster = build.times(contest([30.0, 95.0, 40.0], [200.0, 190.0, 160.0]), 100.0)
    assert (late.ours, late.peer_name, late.verdict) == (40, "limit (3 blocks)", "open")
    assert (faster.ours, faster.peer, faster.peer_name) == (40, 190, f"commit {BASE} (3 blocks)")


def test_what_fails_is_a_row_and_the_rest_goes_on(tmp_path):
    world = World(tmp_path, broken={"mpi"})
    rows = world.compare([OPENMPI])
    name = build.mpi_name(OPENMPI)
    assert [rows[name, peer].peer_name for peer in ("limit", f"commit {BASE}")] == [
        "limit (failed)",
        f"commit {BASE} (failed)",
    ]
    assert rows["wulf-mpi with Open MPI 4.1.4, size", f"commit {BASE}"].ratio is None
    assert {rows[name, "limit"].verdict for name in (build.PROBES, build.touch_name(SYSCALL))} == {"met"}
    assert [what for _, what in world.log].count("mpi") == MOST_FAILURES
    assert f"{name}, beside commit {BASE}: mpi broke" in world.said
    assert f"{build.PROBES}, ours: 40.0 s" in world.said


def test_without_probes_nothing_is_touched(tmp_path):
    world = World(tmp_path, broken={"probes"})
    row = world.compare([])[build.touch_name(SYSCALL), "limit"]
    assert (row.peer_name, row.ours) == ("limit (failed)", None)
    assert "touch" not in [what for _, what in world.log]


def test_without_an_mpi_a_row_says_so(tmp_path):
    row = World(tmp_path).compare([])[build.MPI, f"commit {BASE}"]
    assert row.peer_name == f"commit {BASE} (no MPI with a compiler is installed)"


def test_compilers_are_those_of_one_title_each():
    runtime = replace(MPICH, mpicxx=None)
    other = replace(OPENMPI, prefix="/opt/openmpi")
    assert build.compilers([OPENMPI, runtime, other]) == [OPENMPI]


def test_a_clone_without_the_commit_has_one_row_with_the_reason(tmp_path, monkeypatch):
    def refuse(_folder):
        raise BenchError("this clone is shallow")

    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "unpack_base", refuse)
    said = []
    (row,) = build.measure(SimpleNamespace(say=said.append))
    assert (row.peer_name, row.ours, row.verdict) == (f"commit {BASE} (this clone is shallow)", None, "–")
    assert said == [f"commit {BASE}: this clone is shallow"]
    assert list((tmp_path / "build").iterdir()) == []


def interrupt(_ours, _base, _mpis, _context):
    raise KeyboardInterrupt


def test_an_interruption_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    for name, done in {"unpack_base": Path.mkdir, "copy_ours": Path.mkdir, "find": lambda _: []}.items():
        monkeypatch.setattr(build, name, done)
    monkeypatch.setattr(build, "compare", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build.measure(SimpleNamespace(say=print))
    assert list((tmp_path / "build").iterdir()) == []


def clone(folder):
    """Of each part a file, and what was built."""
    for path in ("native/core/a.cpp", "tools/setup.py", "src/wulf/__init__.py", "pyproject.toml"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    for path in ("src/wulf/__pycache__/a.pyc", "src/wulf/programs/x86_64/wulf-net", "build/sysroot/usr/include/a.hpp"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(path)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


SOURCES = ["native/core/a.cpp", "pyproject.toml", "src/wulf/__init__.py", "tools/setup.py"]


def test_ours_is_the_clone_without_what_was_built(tmp_path):
    root, folder = tmp_path / "root", tmp_path / "ours"
    clone(root)
    checkouts.copy_ours(folder, root)
    assert files(folder) == SOURCES
    assert (folder / "build/sysroot").resolve() == root / "build/sysroot"
    assert (folder / ".venv").is_symlink()


def test_the_base_is_that_commit_of_the_clone(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in SOURCES:
            archive.writestr(name, name)
    asked = []

    def git(*words):
        asked.append(words)
        return packed.getvalue()

    checkouts.unpack_base(tmp_path / "base", git, tmp_path)
    assert files(tmp_path / "base") == SOURCES
    assert asked == [("archive", "--format=zip", BASE, "--", *PARTS)]


@pytest.mark.parametrize(
    ("shallow", "said"), [(b"true\n", "git fetch --unshallow"), (b"false\n", "not a valid object")]
)
def test_a_commit_that_the_clone_lacks_is_named(tmp_path, shallow, said):
    def git(*words):
        if words[0] == "archive":
            raise BenchError(f"git archive ended with 128: fatal: not a valid object name: {BASE}")
        return shallow

    with pytest.raises(BenchError, match=said):
        checkouts.unpack_base(tmp_path / "base", git, tmp_path)


def test_from_nothing_means_that_what_was_built_is_gone(tmp_path):
    world = World(tmp_path)
    tree = world.ours
    stale = [tree.folder / path for path in ("build/native/a.o", "build/stamps/native", "mpi/MPICH-4.0.2/key/wulf-mpi")]
    kept = tree.folder / "mpi/Open-MPI-4.1.4/key/wulf-mpi"
    for path in (*stale, kept):
        path.parent.mkdir(parents=True)
        path.write_text("")
    assert (tree.probes(), tree.mpi(MPICH)) == (40, 10)
    assert not any(path.exists() for path in stale) and kept.exists()
    assert tree.mpi_program(MPICH).stat().st_size == 90


def test_each_build_is_asked_of_the_checkouts_own_code(tmp_path):
    asked = []
    tree = Tree(tmp_path, lambda words: asked.append(words) or 1.0)
    tree.probes()
    tree.mpi(OPENMPI)
    place = str(tmp_path / "mpi/Open-MPI-4.1.4")
    compilers = [OPENMPI.mpicxx, OPENMPI.mpirun]
    assert asked == [
        [*CHILD, "probes", str(tmp_path)],
        [*CHILD, "mpi", str(tmp_path), place, *compilers],
    ]


def test_the_childs_words_are_those(monkeypatch):
    called = []
    monkeypatch.setattr(builder, "probes", lambda *given: called.append(given))
    monkeypatch.setattr(builder, "mpi", lambda *given: called.append(given))
    builder.main(["probes", "/a"])
    builder.main(["mpi", "/a", "/b", "mpicxx", "mpirun"])
    assert called == [(Path("/a"),), (Path("/a"), Path("/b"), "mpicxx", "mpirun")]


def test_a_touch_changes_the_source_and_asks_the_folders_own_ninja(tmp_path):
    world = World(tmp_path)
    world.ours.probes()
    assert (world.ours.touch(SYSCALL), world.ours.touch(SYSCALL)) == (2, 2)
    assert (world.ours.folder / "native" / SYSCALL).read_text() == "int a;\n// touched\n// touched\n"
    assert world.log[1:] == [("ours", "touch")] * 2
    assert checkouts.ninja_of(CACHE) == "/usr/bin/ninja"
    with pytest.raises(BenchError, match="names no CMAKE_MAKE_PROGRAM"):
        checkouts.ninja_of("")


def test_a_touch_that_builds_nothing_is_no_figure(tmp_path):
    world = World(tmp_path)
    world.ours.probes()
    idle = replace(world.ours, run=lambda _: 0.1)
    with pytest.raises(BenchError, match="not built again"):
        idle.touch(SYSCALL)


def test_the_sources_that_are_touched_are_those_to_start_from():
    advice = (checkouts.ROOT / "CONTRIBUTING.md").read_text()
    for name in TOUCHED:
        assert (checkouts.ROOT / "native" / name).is_file() and f"`{Path(name).name}`" in advice
