"""Applications over an inventory, with the agent's own functions in place of agents: what really runs is a shell."""

from __future__ import annotations

import platform
from concurrent.futures import Future

import pytest

from wulf.agent.jobs import app
from wulf.agent.operations import OPERATIONS
from wulf.agent.session import Refused
from wulf.apps.driver import Job
from wulf.cluster.applications import Applications, Executable, common_program
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.mpi import Installed, WorldSpec
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError, UsageError

OPENMPI = {
    "kind": "openmpi", "version": "4.1.4", "prefix": "/usr", "mpicxx": None, "mpirun": "/usr/bin/mpirun",
    "compiler": None, "where": "system", "device": "",
}  # fmt: skip
MPICH = {**OPENMPI, "kind": "mpich", "version": "4.0.2"}


class Agent:
    """A node whose agent is this process."""

    def __init__(self, name: str, **answers: dict) -> None:
        self.node, self.alive = Node(name), True
        self.greeting = {"arch": platform.machine()}
        self.asked: list[tuple[str, dict]] = []
        self._answers = answers

    def call(self, op, **fields):
        self.asked.append((op, fields))
        future: Future = Future()
        try:
            future.set_result(self._answers[op] if op in self._answers else OPERATIONS[op](**fields))
        except Refused as refused:
            future.set_exception(RequestError(self.node.name, op, refused.answer["code"], str(refused)))
        return future

    def request(self, op, timeout=30.0, **fields):
        return self.call(op, **fields).result(timeout)


def found_mpis(*mpis, boot="b"):
    return {"mpis": list(mpis), "places": [], "boot_id": boot, "host": "h", "cpus": 4, "uid": 1000}


@pytest.fixture
def here(monkeypatch, tmp_path):
    """Two nodes that share a file system."""
    monkeypatch.setattr(app.tempfile, "gettempdir", lambda: str(tmp_path))
    addresses = {"addresses": []}
    agents = {
        name: Agent(name, mpi_find=found_mpis(OPENMPI, MPICH, boot=name), mpi_reach={"failed": {}}, addresses=addresses)
        for name in ("n1", "n2")
    }
    return Applications(Inventory.from_nodeset("n[1-2]"), agents, {}), agents


def test_ranks_are_started_by_the_launcher_with_the_jobs_environment(here):
    applications, _ = here
    job = Job(("solve", "in put"), environment={"THREADS": "2"}, mpi=True)
    made = applications.launch_words(job, WorldSpec(ranks=3), Installed(**OPENMPI))
    assert made.argv[0] == "/usr/bin/mpirun"
    assert made.argv[-4:] == ("-x", "THREADS=2", "solve", "in put")
    assert "n1:2,n2:1" in made.argv


def test_ssh_between_the_nodes_is_tried_once(here):
    applications, agents = here
    for _ in range(3):
        applications.launch_words(Job(("solve",), mpi=True), WorldSpec(), Installed(**OPENMPI))
    assert [op for op, _ in agents["n1"].asked].count("mpi_reach") == 1


@pytest.mark.parametrize(
    ("linked", "wanted", "kind"),
    [("mpich", None, "mpich"), ("openmpi", None, "openmpi"), (None, None, "openmpi"), (None, "mpich", "mpich")],
)
def test_the_launcher_is_that_of_the_mpi_that_the_program_is_linked_with(here, linked, wanted, kind):
    program = Executable("/usr/bin/solve", "PATH", linked)
    assert here[0].mpi_for(program, WorldSpec(mpi=wanted)).kind == kind


def test_another_mpis_launcher_is_refused(here):
    with pytest.raises(UsageError, match=r"/usr/bin/solve .* Open MPI: MPICH 4\.0\.2"):
        here[0].mpi_for(Executable("/usr/bin/solve", "PATH", "openmpi"), WorldSpec(mpi="mpich"))


def test_an_mpi_that_is_not_there_is_named(here):
    for agent in here[1].values():
        agent._answers["mpi_find"] = found_mpis(OPENMPI)
    with pytest.raises(UsageError, match="no MPICH is there"):
        here[0].mpi_for(Executable("/usr/bin/solve", "PATH", "mpich"), WorldSpec())


def places(*paths):
    return [Executable(path, "PATH", None) for path in paths]


def test_ranks_need_one_path_on_all_nodes():
    found = {"n1": {"a": places("/x/a"), "b": places("/x/b", "/y/b")}, "n2": {"a": [], "b": places("/y/b")}}
    assert common_program(found, ["a", "b"], "it").path == "/y/b"


def test_a_node_that_lacks_it_is_named():
    found = {"n1": {"a": places("/x/a")}, "n2": {"a": []}, "n3": {"a": []}}
    with pytest.raises(UsageError, match=r"n\[2-3\]: HPL is not there: a "):
        common_program(found, ["a"], "HPL")


def test_paths_that_differ_are_said():
    found = {"n1": {"a": places("/x/a")}, "n2": {"a": places("/y/a")}}
    with pytest.raises(UsageError, match="nowhere at the same path"):
        common_program(found, ["a"], "HPL")


def test_a_node_that_does_not_say_where_a_program_is_has_failed_and_the_others_go_on() -> None:
    place = {"path": "/usr/bin/a", "where": "PATH", "mpi": None}
    agents = {
        "n1": Agent("n1", app_find={"programs": {"a": [place]}}),
        "n2": Agent("n2", app_find={"programs": {"other": []}}),
    }
    apps = Applications(Inventory([Node("n1"), Node("n2")]), agents, {})
    failed: dict[str, NodeError] = {}
    assert apps.find(["a"], failed=failed) == {"n1": {"a": [Executable("/usr/bin/a", "PATH", None)]}}
    assert set(failed) == {"n2"} and "asked where a is" in failed["n2"].what
    with pytest.raises(NodeError, match="n2"):
        apps.find(["a"])
