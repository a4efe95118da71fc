"""What every launcher must do: one suite over all of them. A new launcher is one more entry in `CASES`."""

import os
import platform
import sys
from concurrent.futures import wait
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.processes import wait_until
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Launcher
from wulf.cluster.launchers import launcher_names, make_launcher
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program, supervised
from wulf.cluster.session import RequestError, SessionLost
from wulf.cluster.simulated.cluster import Fault, SimulatedCluster
from wulf.core.errors import LabError, NodeError

from .conftest import left_running, skip_or_fail
from .slurm_commands import write_commands


@dataclass
class Case:
    """A launcher over nodes n1 to n4, n4 of which can't be opened.

    `die` is the op at which the program dies by SIGKILL.
    """

    launcher: Launcher
    inventory: Inventory
    program: Program
    die: str = "die"

    @property
    def good(self):
        return self.inventory.nodes[:3]


NAMES = ("n1", "n2", "n3", "n4")


def local_case(program, _request):
    inventory = Inventory.from_nodeset("n[1-4]", launcher="local")
    return Case(make_launcher(inventory), inventory, program)


def loopback_case(program, _request):
    """A lab where neither namespaces nor sshd can be had."""
    inventory = Inventory(tuple(Node(name, "127.0.0.1") for name in NAMES), launcher="lab", lab="loopback")
    return Case(make_launcher(inventory), inventory, program)


def ssh_case(program, request):
    sshd = request.getfixturevalue("sshd")
    for name in NAMES[:3]:
        sshd.host(name)
    sshd.host("n4", Port=1)  # nobody listens on tcpmux
    inventory = Inventory.from_nodeset("n[1-4]", launcher="ssh", ssh_config=sshd.config)
    return Case(make_launcher(inventory), inventory, program)


def lab_case(program, request):
    lab = request.getfixturevalue("netns_lab")
    inventory = Inventory.from_lab(lab)
    inventory = replace(inventory, nodes=(*inventory.nodes[:3], Node("n4", ssh="nobody-of-that-name.invalid")))
    return Case(make_launcher(inventory), inventory, program)


def slurm_case(program, request):
    job = request.getfixturevalue("slurm_job")
    inventory = Inventory.from_nodeset("n[1-4]", launcher="slurm", job=job.id)
    return Case(make_launcher(inventory), inventory, program)


def null_case(program, _request):
    inventory = Inventory.from_nodeset("n[1-4]", launcher="null")
    faults = [Fault(name, "clock", kind="die") for name in NAMES]
    cluster = SimulatedCluster(NAMES, faults=faults, unreachable={"n4": "it has been switched off"})
    simulated = Program("wulf-net", Path("simulated"), program.digest)
    return Case(NullLauncher(inventory, cluster), inventory, simulated, die="clock")


CASES = {
    "local": local_case,
    "loopback lab": loopback_case,
    "ssh": ssh_case,
    "lab": lab_case,
    "slurm": slurm_case,
    "null": null_case,
}


IN_A_LAB = ("lab", "slurm")


@pytest.fixture(scope="module")  # other modules have a Slurm of their own, and its commands in PATH
def slurm_job(tmp_path_factory):
    """A job on n1 to n3 of a lab with a Slurm, and that Slurm's commands in PATH."""
    from wulf import lab as labs
    from wulf.cluster.slurm.allocation import allocation

    try:
        lab = labs.up(nodes=3, keep=False, with_slurm=True)
    except LabError as error:
        skip_or_fail(str(error))
    with lab, pytest.MonkeyPatch.context() as patch:
        commands = write_commands(lab, tmp_path_factory.mktemp("slurm"))
        patch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
        with allocation("n[1-3]", {}, print) as job:
            yield job


@pytest.fixture(scope="session")
def netns_lab():
    labs = pytest.importorskip("wulf.lab")
    if not hasattr(labs, "up"):
        pytest.skip("this build of wulf has no lab")
    with labs.up(nodes=3, keep=False) as lab:
        if lab.backend != "netns":
            pytest.skip("no network namespaces here; the loopback lab is tried by itself")
        yield lab


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.lab if name in IN_A_LAB else ()) for name in CASES])
def case(request, program):
    made = CASES[request.param](program, request)
    with made.launcher:
        yield made
    assert wait_until(lambda: not left_running(program)), left_running(program)


@pytest.fixture
def opened(case):
    made = case.launcher.open(case.good, case.program)
    assert made.failed == {}
    return made


def test_every_launcher_is_in_this_suite():
    assert set(launcher_names()) <= set(CASES)


def test_each_node_greets(case, opened):
    assert list(opened.sessions) == ["n1", "n2", "n3"]
    for name, session in opened.sessions.items():
        assert session.alive
        assert session.node.name == name
        assert session.greeting["hello"] == case.program.name
        assert session.greeting["arch"] == platform.machine()


def test_ping(opened):
    for session in opened.sessions.values():
        assert session.request("ping", timeout=10)["ok"] is True


def test_a_command_line_as_a_session(case, program):
    """What starts another program that holds the session, as mpirun does; its arguments arrive as they are."""
    awkward = ("a b", "$HOME", "it's", "")
    made = supervised([sys.executable, "-c", program.path.read_text(), *awkward], hello=case.program.name)
    opened = case.launcher.open(case.good[:1], made)
    assert opened.failed == {}
    session = opened.sessions["n1"]
    assert session.greeting["hello"] == case.program.name
    if not isinstance(case.launcher, NullLauncher):
        assert tuple(session.request("environment")["argv"][1:]) == awkward


def test_many_requests_at_once(opened):
    futures = [session.call("ping") for _ in range(100) for session in opened.sessions.values()]
    assert wait(futures, timeout=20).not_done == set()
    assert len({future.result()["id"] for future in futures[::3]}) == 100


def test_an_unknown_op_is_a_request_error(opened):
    with pytest.raises(RequestError, match="n1: conjure") as caught:
        opened.sessions["n1"].request("conjure")
    assert (caught.value.code, caught.value.field) == ("unknown-op", "op")
    assert opened.sessions["n1"].request("ping")["ok"]


def test_a_line_of_a_mebibyte(opened):
    futures = [session.call("ping", padding="x" * (1 << 20)) for session in opened.sessions.values()]
    assert all(future.result(timeout=20)["ok"] for future in futures)


def test_a_program_that_is_killed_takes_down_neither_the_launcher_nor_the_others(case, opened):
    victim = opened.sessions["n2"]
    with pytest.raises(SessionLost, match=r"^n2: .*(killed|cut)"):
        victim.request(case.die, timeout=20)
    assert not victim.alive
    with pytest.raises(SessionLost):
        victim.request("ping")
    for name in ("n1", "n3"):
        assert opened.sessions[name].request("ping", timeout=10)["ok"]


def test_a_node_that_cannot_be_opened_leaves_the_others_alone(case):
    if case.inventory.launcher == "local" or case.inventory.lab == "loopback":
        pytest.skip("every node is this machine: none of them alone can be out of reach")
    made = case.launcher.open(case.inventory.nodes, case.program)
    assert list(made.sessions) == ["n1", "n2", "n3"]
    assert list(made.failed) == ["n4"]
    assert isinstance(made.failed["n4"], NodeError)
    assert made.failed["n4"].node == "n4"
    assert made.failed["n4"].next_step


def test_a_second_program_beside_the_first(case, opened):
    again = case.launcher.open(case.good, case.program)
    assert again.sessions.keys() == opened.sessions.keys()
    again.close()
    assert not any(session.alive for session in again.sessions.values())
    assert all(session.request("ping", timeout=10)["ok"] for session in opened.sessions.values())


def test_closing_fails_what_waits_and_can_be_done_twice(case, opened):
    session = opened.sessions["n1"]
    session.close()
    session.close()
    assert not session.alive
    with pytest.raises(SessionLost, match="n1: the session was closed"):
        session.request("ping")
    case.launcher.close()
    case.launcher.close()
    assert not any(session.alive for session in opened.sessions.values())


def test_a_program_for_another_machine_is_refused(case):
    if case.inventory.launcher == "null":
        pytest.skip("nothing is executed")
    foreign = replace(case.program, arch="pdp11", python=False)
    made = case.launcher.open(case.good, foreign)
    assert made.sessions == {}
    for name, error in made.failed.items():
        assert error.node == name
        assert platform.machine() in error.what
        assert "pdp11" in error.what
        assert error.next_step
