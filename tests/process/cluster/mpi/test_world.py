"""Finding, building, starting and ending, with an MPI made of scripts: exact, and over in a moment."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.cluster.mpi import outputs
from tests.wording import lacking
from tests.worlds import world_of
from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers.local import LocalLauncher
from wulf.cluster.mpi import WorldSpec, building, opening
from wulf.cluster.ssh.direct import SshLauncher
from wulf.core.errors import NodeError, UsageError

HERE = Inventory.from_nodeset("n[1-3]", launcher="local")

PROGRAM = """\
#!{python}
import json, os, sys
if len(sys.argv) > 1:
    print(json.dumps({{"mpi": "{library}"}}) if sys.argv[1] == "--describe" else "wulf-mpi 0")
    sys.exit()
def say(row):
    print(json.dumps(row), flush=True)
say({{"hello": "wulf-mpi", "version": "0", "protocol": 1, "host": "h", "arch": "x", "pid": os.getpid()}})
ranks = [{{"rank": i, "host": "h", "pid": os.getpid()}} for i in range(int(os.environ["RANKS"]))]
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "die":
        sys.exit(9)
    if request["op"] != "run":
        say({{"id": request["id"], "ok": True, "ranks": ranks, "describe": {{"program": "wulf-mpi"}}}})
"""

COMPILER = """\
#!/bin/sh
case $1 in -show) echo 'g++ -L/opt/x/lib -lmpi'; exit;; --version) echo 'g++ (Test) 12.2.0'; exit;; esac
echo "$@" >>"{log}"
{failure}
while [ $# -gt 1 ]; do [ "$1" = -o ] && cp "{program}" "$2"; shift; done
"""

LAUNCHER = """\
#!/bin/sh
[ "$1" = --version ] && cat "{folder}/version" && exit
while [ $# -gt 1 ]; do [ "$1" = -n ] && export RANKS=$2; shift; done
{failure}
"$1" || {{ echo "mpirun noticed that process rank 2 with PID 0 on node h exited on signal 9 (Killed)." >&2; exit 137; }}
"""


class FakeMpi:
    """An MPI of scripts, which looks like Open MPI unless it is told to be another."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "my mpi"
        self.log = folder / "compiled"
        (self.prefix / "bin").mkdir(parents=True)
        self.write()

    def write(self, failure: str = "", library: str = "Open MPI v4.1.4, package", launch_failure: str = "") -> None:
        program = self.prefix / "program"
        program.write_text(PROGRAM.format(python=sys.executable, library=library))
        (self.prefix / "version").write_text(outputs.OPENMPI_4)
        self._script("mpicxx", COMPILER.format(log=self.log, program=program, failure=failure))
        self._script("mpirun", LAUNCHER.format(folder=self.prefix, failure=launch_failure))
        program.chmod(0o755)

    def _script(self, name: str, text: str) -> None:
        path = self.prefix / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    @property
    def compiled(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def mpi(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    return FakeMpi(tmp_path)


def opened(mpi, inventory=HERE, **fields):
    return world_of(inventory, WorldSpec(mpi=str(mpi.prefix), **fields))


def test_a_world_is_built_started_and_described(mpi):
    with opened(mpi) as world:
        assert world.places == ("n1", "n2", "n3")
        assert (world.installed.title, world.installed.where) == ("Open MPI 4.1.5", "given")
        assert world.describe() == {"program": "wulf-mpi"}
        assert [place.rank for place in world.ranks] == [0, 1, 2]
        assert "my cache" in world.argv[-1]
        before = world.session
        world.relaunch()
        assert not before.alive
        assert world.session.alive
    assert not world.session.alive


def test_it_is_compiled_once(mpi):
    with opened(mpi):
        pass
    first = mpi.compiled
    assert first[-1].startswith("-O2 -pthread -s -o wulf-mpi 0.o")
    assert first[-1].endswith("-Wl,-rpath,/opt/x/lib -ldl")
    assert all("-std=c++20" in line and " -c " in line for line in first[:-1])
    assert not any("core/session/program.cpp" in line for line in first)
    with opened(mpi, ranks=1):
        pass
    assert mpi.compiled == first


def test_two_builds_at_once(mpi):
    """Of two wulfs, or of nodes that share a home: both build, and whoever is later puts the same thing there."""
    mpi.write(failure="sleep 0.02")
    both_built = threading.Barrier(2)

    def build():
        with opened(mpi) as world:
            both_built.wait(60)
            return world.argv[-1], world.session.request("ping")["ok"]

    with ThreadPoolExecutor(2) as pool:
        first, second = [job.result() for job in [pool.submit(build), pool.submit(build)]]
    assert first == second == (first[0], True)
    assert [path.name for path in Path(first[0]).parent.iterdir()] == ["wulf-mpi"]
    folders = [path for path in Path(first[0]).parent.parent.iterdir() if path.is_dir()]
    assert folders == [Path(first[0]).parent]


def test_what_this_machine_has_kept_is_not_compiled_again(mpi, monkeypatch, tmp_path):
    with opened(mpi) as world:
        built = Path(world.argv[-1])
    first = mpi.compiled
    monkeypatch.setattr(building, "caches", lambda: [built.parent.parent])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a new node's"))
    with opened(mpi) as world:
        assert world.argv[-1] != str(built)
        assert Path(world.argv[-1]).read_bytes() == built.read_bytes()
    assert mpi.compiled == first


def test_a_built_program_that_does_not_run_any_more_is_built_anew(mpi):
    with opened(mpi) as world:
        Path(world.argv[-1]).write_text("#!/bin/sh\nexit 1\n")
    first = len(mpi.compiled)
    with opened(mpi):
        pass
    assert len(mpi.compiled) == 2 * first


def test_the_compilers_last_words(mpi):
    mpi.write(failure="echo \"g++: error: unrecognized command line option '-std=c++20'\"; exit 1")
    with pytest.raises(NodeError) as caught, opened(mpi):
        pass
    assert "n1: " in caught.value.what
    assert "(g++ (Test) 12.2.0) could not build wulf-mpi" in caught.value.what
    assert "unrecognized command line option '-std=c++20'" in caught.value.what
    assert "it needs C++20" in caught.value.next_step
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "wulf/mpi"
    assert [path.name for path in cache.iterdir() if not path.name.startswith("source-")] == []


def test_a_compiler_of_another_mpi_is_found_out(mpi):
    mpi.write(library="MPICH Version: 4.0.2")
    words = r"mpicxx builds for MPICH Version: 4\.0\.2, to which .*mpirun does not belong"
    with pytest.raises(NodeError, match=words), opened(mpi):
        pass


def test_no_such_mpi(mpi):
    (mpi.prefix / "bin/mpirun").unlink()
    with pytest.raises(UsageError, match=r"n1: no .*my mpi is there"), opened(mpi):
        pass


def test_a_launcher_that_can_not_start_the_ranks(mpi):
    mpi.write(launch_failure="echo 'There are not enough slots available' >&2; exit 1")
    with pytest.raises(NodeError) as caught, opened(mpi):
        pass
    assert "n1: Open MPI 4.1.5 could not start wulf-mpi" in caught.value.what
    assert "not enough slots" in caught.value.what


def test_a_dead_rank_is_named(mpi):
    with opened(mpi) as world, pytest.raises(NodeError, match="rank 2 on n3 was killed by SIGKILL"):
        world.session.request("die")


def test_a_rank_that_does_not_answer(mpi):
    with opened(mpi) as world, pytest.raises(NodeError, match=r"pingpong: no answer .* 0\.2 s; all ranks"):
        world.run("pingpong", {}, 0.2)


def test_progress_is_told(mpi):
    mpi.write(failure="sleep 0.1")
    said: list[str] = []
    with world_of(HERE, WorldSpec(mpi=str(mpi.prefix)), said.append):
        pass
    assert said[0] == "looking for MPI"
    assert said[-1] == "starting 3 ranks with Open MPI 4.1.5"
    assert len(said) == len(set(said))
    assert any(lacking(text, "building wulf-mpi ", " Open MPI 4.1.5 on n1: ") == [] for text in said)


@pytest.mark.parametrize(
    ("fields", "starter", "launcher"),
    [
        ({}, "srun", LocalLauncher),
        ({}, "mpirun", SshLauncher),
        ({"lab": "a", "launcher": "lab", "ssh_config": Path("x")}, "srun", SshLauncher),  # its Slurm is not this host's
    ],
)
def test_srun_is_started_where_the_allocation_is_known(monkeypatch, fields, starter, launcher):
    monkeypatch.setattr(opening.shutil, "which", lambda name: f"/usr/bin/{name}")
    inventory = Inventory.from_nodeset("n[1-2]", **fields)
    with access_to(inventory) as access, opening.starter_of(access, WorldSpec(starter=starter)) as found:
        assert isinstance(found.launcher, launcher)


def test_machines_of_several_kinds_are_refused():
    agents = {name: Greeted(arch) for name, arch in (("n1", "x86_64"), ("n2", "x86_64"), ("n3", "aarch64"))}
    with pytest.raises(UsageError, match=r"n\[1-2\]: x86_64; n3: aarch64"):
        opening.check_machines(agents)


class Greeted:
    """A session that knows its machine."""

    def __init__(self, arch: str) -> None:
        self.greeting = {"arch": arch}
