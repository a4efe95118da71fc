"""Ranks over the nodes of a lab, under every MPI of this machine: by ssh between the nodes, as on any cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import SOURCES, ssh
from tests.process.native.mpi_session import each_mpi, installed
from tests.processes import wait_until
from tests.worlds import world_of
from wulf import lab
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import WorldSpec
from wulf.core.errors import NodeError, UsageError

pytestmark = pytest.mark.lab

PATIENCE = 60.0
"""Seconds that only a hang reaches."""

LAUNCH = ("wulf-mpi", "mpirun", "mpiexec", "orted", "orterun", "prte", "hydra", "--supervise")


@pytest.fixture
def own(netns: None) -> Iterator[lab.Lab]:
    """A lab of two nodes for tests that change it."""
    with lab.up(2, keep=False) as made:
        yield made


def left(made: lab.Lab) -> list[str]:
    """What of a launch still runs on the lab's nodes."""
    return [
        f"{node.name}: {line}"
        for node in made.nodes
        for line in ssh(made, node.name, "ps -e -o pid=,stat=,args=").stdout.splitlines()
        if any(word in line for word in LAUNCH) and "ps -e" not in line
    ]


def assert_nothing_left(made: lab.Lab) -> None:
    assert wait_until(lambda: not left(made), PATIENCE), left(made)


def sent(made: lab.Lab, node: str) -> int:
    return int(ssh(made, node, "cat /sys/class/net/eth0/statistics/tx_bytes").stdout)


def in_bashrc(made: lab.Lab, line: str) -> None:
    for node in made.nodes:
        assert ssh(made, node.name, f"cat >>~/.bashrc <<'.'\n{line}\n.\n").returncode == 0


def cover(made: lab.Lab, node: str, target: str, source: str) -> None:
    """Have a node see another file at a path, in its own mounts alone."""
    done = ssh(made, node, f"mount --bind {source} $(readlink -f {target})")
    assert done.returncode == 0, done.stderr


@pytest.mark.full
@each_mpi
def test_messages_between_nodes_pass_their_network(three_nodes: lab.Lab, kind: str) -> None:
    said: list[str] = []
    with world_of(Inventory.from_lab(three_nodes), WorldSpec(ranks=2, mpi=kind), said.append) as world:
        assert world.places == ("n1", "n2")
        assert world.installed.kind == kind
        assert world.describe()["program"] == "wulf-mpi"
        before = sent(three_nodes, "n1")
        answer = world.run("pingpong", {"bytes": 1 << 16, "seconds": 0.1}, PATIENCE)
        assert answer["metrics"]["rtt"]["value"] > 0
        assert sent(three_nodes, "n1") - before > answer["metrics"]["rtt"]["n"] * (1 << 16)
        assert any("TCP" in note for note in world.notes)
        first = world.ranks
        world.relaunch()
        assert {place.pid for place in world.ranks} != {place.pid for place in first} or world.ranks[0] != first[0]
        assert world.session.request("ping")["ok"]
    assert any("starting 2 ranks" in text for text in said)
    assert_nothing_left(three_nodes)


@pytest.mark.full
@each_mpi
@pytest.mark.parametrize("ranks", [1, 5])
def test_any_number_of_ranks(three_nodes: lab.Lab, kind: str, ranks: int) -> None:
    with world_of(Inventory.from_lab(three_nodes), WorldSpec(ranks=ranks, mpi=kind)) as world:
        hosts = [place["host"] for place in world.session.request("ranks")["ranks"]]
        assert hosts == list(world.places)
        assert hosts == (["n1"] if ranks == 1 else ["n1", "n1", "n2", "n2", "n3"])
    assert_nothing_left(three_nodes)


@each_mpi
def test_a_rank_that_dies_is_named_with_its_node(three_nodes: lab.Lab, kind: str) -> None:
    with world_of(Inventory.from_lab(three_nodes), WorldSpec(mpi=kind)) as world:
        assert world.session.request("ping")["ok"]
        assert ssh(three_nodes, "n2", f"kill -9 {world.ranks[1].pid}").returncode == 0
        crashed = "|another one died first" if kind == "mpich" else ""
        with pytest.raises(NodeError, match=f"rank 1 on n2 was killed by SIGKILL{crashed}"):
            world.run("pingpong", {"seconds": 600}, PATIENCE)
        assert not world.session.alive
        world.relaunch()
        assert world.session.request("ping")["ok"]
    assert_nothing_left(three_nodes)


@pytest.mark.full
@each_mpi
@pytest.mark.parametrize("rank", [pytest.param(0, marks=pytest.mark.full), 1])
def test_a_rank_that_is_stopped_is_named_and_ended(three_nodes: lab.Lab, kind: str, rank: int) -> None:
    with world_of(Inventory.from_lab(three_nodes), WorldSpec(ranks=2, mpi=kind)) as world:
        stopped = world.ranks[rank]
        assert ssh(three_nodes, stopped.node, f"kill -STOP {stopped.pid}").returncode == 0
        with pytest.raises(NodeError, match=f"rank {rank} on n{rank + 1} is stopped"):
            world.run("pingpong", {"seconds": 0.01}, timeout=3)
    assert_nothing_left(three_nodes)


KILLED = """
import sys, time
from wulf import lab
from wulf.cluster.inventory import Inventory
from wulf.cluster.access import access_to
from wulf.cluster.mpi import WorldSpec, open_world
spec, inventory = WorldSpec(mpi=sys.argv[2]), Inventory.from_lab(lab.find(sys.argv[1]))
with access_to(inventory) as access, open_world(access, spec) as world:
    world.session.call("run", probe="pingpong", params={"seconds": 600})
    print("ready", flush=True)
    time.sleep(600)
"""


@each_mpi
def test_nothing_is_left_when_wulf_itself_is_killed(three_nodes: lab.Lab, kind: str) -> None:
    words = [sys.executable, "-c", KILLED, three_nodes.name, kind]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCES}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert left(three_nodes)
        process.send_signal(signal.SIGKILL)
    assert_nothing_left(three_nodes)


@pytest.mark.full
@each_mpi
def test_a_path_with_spaces(own: lab.Lab, kind: str) -> None:
    in_bashrc(own, 'export XDG_CACHE_HOME="/run/home/my cache"')
    with world_of(Inventory.from_lab(own), WorldSpec(mpi=kind)) as world:
        assert "/run/home/my cache/" in world.argv[-1]
        assert world.run("pingpong", {"seconds": 0.01}, PATIENCE)["ok"]
    assert_nothing_left(own)


@each_mpi
def test_different_versions_are_named_before_launch(own: lab.Lab, kind: str, tmp_path: Path) -> None:
    fake = tmp_path / "mpirun"
    fake.write_text(
        "#!/bin/sh\necho 'mpirun (Open MPI) 9.8.7'\n"
        if kind == "openmpi"
        else "#!/bin/sh\necho 'HYDRA build details:\n Version: 9.8.7'\n"
    )
    fake.chmod(0o755)
    cover(own, "n2", f"/usr/bin/mpirun.{kind}", str(fake))
    with (
        pytest.raises(UsageError, match=r"n1 has .*; n2 has .* 9\.8\.7 \(/usr\)"),
        world_of(Inventory.from_lab(own), WorldSpec(mpi=kind)),
    ):
        pass
    assert not left(own)


@each_mpi
def test_a_node_without_mpi_is_named(own: lab.Lab, kind: str) -> None:
    cover(own, "n2", f"/usr/bin/mpirun.{kind}", "/dev/null")
    with (
        pytest.raises(UsageError, match=r"n2: no (Open MPI|MPICH) is there; .*n1 has") as caught,
        world_of(Inventory.from_lab(own), WorldSpec(mpi=kind)),
    ):
        pass
    assert f"wulf mpi install {kind}" in caught.value.next_step


@pytest.mark.full
@each_mpi
def test_one_compiler_serves_all_nodes_and_none_is_an_error(own: lab.Lab, kind: str) -> None:
    cover(own, "n1", f"/usr/bin/mpicxx.{kind}", "/dev/null")
    with world_of(Inventory.from_lab(own), WorldSpec(mpi=kind)) as world:
        assert world.places == ("n1", "n2")
    cover(own, "n2", f"/usr/bin/mpicxx.{kind}", "/dev/null")
    with (
        pytest.raises(NodeError, match="has no mpicxx there nor on any other node") as caught,
        world_of(Inventory.from_lab(own), WorldSpec(mpi=kind)),
    ):
        pass
    assert "libopenmpi-dev" in caught.value.next_step


def test_nodes_that_do_not_reach_each_other_are_named_before_launch(own: lab.Lab) -> None:
    if not installed():
        pytest.skip("no MPI is installed")
    assert ssh(own, "n1", "rm ~/.ssh/config").returncode == 0
    with (
        pytest.raises(NodeError, match=r"n1: mpirun runs there .* by ssh.*n2"),
        world_of(Inventory.from_lab(own), WorldSpec(mpi=installed()[0])),
    ):
        pass


@pytest.mark.full
@each_mpi
def test_many_more_ranks_than_cpus(three_nodes: lab.Lab, kind: str) -> None:
    with world_of(Inventory.from_lab(three_nodes), WorldSpec(ranks=32, mpi=kind)) as world:
        assert len(world.ranks) == 32
        assert any("32 ranks share" in note for note in world.notes)
        assert world.run("pingpong", {"seconds": 0.05}, 10 * PATIENCE)["metrics"]["rtt"]["n"] > 0
    assert_nothing_left(three_nodes)
