"""Algorithms of collectives tried on a lab of two nodes and more ranks than CPUs, under every MPI of this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.lab.conftest import needs, ssh
from tests.lab.mpi.test_commands import BUILDING, wulf
from tests.process.native.mpi_session import each_mpi, installed
from tests.rules_file import read_rules
from tests.worlds import world_of
from wulf import lab as labs
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import WorldSpec
from wulf.core.errors import NodeError
from wulf.measure.mpi.algorithms import choice_of
from wulf.measure.mpi.guidelines import Call
from wulf.measure.mpi.rules_file import Rule, read_variables, write_rules
from wulf.store.run import RunWriter, read_run
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome, measure
from wulf.workflow.engine.study import Conditions
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.tune import NAMES, TuneCollectives

pytestmark = [pytest.mark.lab, pytest.mark.timeout(BUILDING + 60)]

OP, SIZE, RANKS = "reduce_scatter", 1024, 4
ANY_GAIN = -1.0
"""Whatever has an interval is adopted: which algorithm is faster depends on the machine."""


def tuned(lab: labs.Lab, out: Path, kind: str, rules: Path) -> RunOutcome:
    launch = Launch(WorldSpec(per_node=2, mpi=kind))
    with RunWriter(out, "mpi-collectives", {"seed": 1}) as writer:
        study = TuneCollectives(
            Conditions(Inventory.from_lab(lab), Effort(width=1.0), writer, 1), launch, sizes=(SIZE,), ops=(OP,),
            params={"seconds": 0.01}, rules=rules, least=ANY_GAIN, wanted=[Call(OP, SIZE)],
        )  # fmt: skip
        return measure(study)


@pytest.mark.full
@each_mpi
def test_algorithms_are_measured_and_kept_and_measured_through_the_file(
    two_nodes: labs.Lab, tmp_path: Path, kind: str
) -> None:
    choice = choice_of(kind)
    assert choice is not None
    rules = tmp_path / NAMES[choice.file]
    outcome = tuned(two_nodes, tmp_path / "run", kind, rules)
    records = [record for record in outcome.run.records if record.metric == "time"]
    tried = {r.params["algorithm"] for r in records if r.phase == "algorithms"}
    assert tried == {"default", *(one.name for one in choice.candidates(OP, RANKS))}
    assert all(record.value for record in records), [record.reason for record in records]
    through = [r for r in records if r.phase == "through the file"]
    assert {record.params["algorithm"] for record in through} == {"default", "file"}
    assert {record.params["ranks"] for record in records} == {RANKS}
    finding, *more = [finding for finding in outcome.run.findings if finding.kind == "tuned"]
    assert "through the file" in finding.text
    assert len(more) == ("not kept" in finding.text), "then a second one says that nothing was adopted"
    if "not kept" in finding.text:
        assert not rules.exists()
    else:
        (rule,) = read_rules(rules.read_text(), choice)
        assert (rule.op, rule.algorithm in tried) == (OP, True)


@pytest.mark.full
@each_mpi
def test_the_command_says_what_it_adopted_or_that_it_did_not(two_nodes: labs.Lab, tmp_path: Path, kind: str) -> None:
    """Quick: too few blocks to tell that a guideline is violated, so that nothing may be adopted."""
    short = ["--sizes", "8", "--ops", "bcast", "--seconds", "0.01", "--start", "barrier"]
    words = ["n[1-2]", "--mpi", kind, "--tune", *short]
    done = wulf(two_nodes, tmp_path / "run", "mpi", "collectives", *words)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "no file was written" in " ".join(done.stdout.split())
    assert not list((tmp_path / "run").glob("collectives.*"))
    assert read_run(tmp_path / "run").meta["state"] == "complete"


NONE = 99
"""An algorithm that Open MPI does not have: whoever is told to use it ends with an error."""


def launched(path: Path, ranks: int) -> WorldSpec:
    environment = {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
    }
    return WorldSpec(ranks=ranks, mpi="openmpi", environment=environment)


@pytest.mark.full
@needs("openmpi" in installed(), "openmpi")
@pytest.mark.parametrize("op", ["alltoall", "bcast", "gather", "reduce_scatter"])
def test_open_mpi_takes_a_rule_on_its_ranks_and_at_its_sizes_alone(tmp_path: Path, op: str) -> None:
    """A file for each collective: wulf-mpi's own work uses others, of sizes of its own."""
    known = choice_of("openmpi")
    assert known is not None
    text = write_rules([Rule(op, 3, 512, 2048, known.collectives[op].algorithms[0].name)], known)
    path = tmp_path / "collectives.conf"
    path.write_text(re.sub(r"(?m)^(\d+) [1-9]\d* (\d+ \d+) # .*$", rf"\1 {NONE} \2", text))
    assert f" {NONE} " in path.read_text()

    def params(size: int) -> dict[str, object]:
        return {"op": op, "bytes": size, "seconds": 0.002, "start": "barrier"}

    here = Inventory.this_machine()
    with world_of(here, launched(path, 2)) as world:
        assert world.run("collective", params(1024), 120)["ok"]
    with world_of(here, launched(path, 3)) as world:
        for size in (256, 4096):
            assert world.run("collective", params(size), 120)["ok"], size
        with pytest.raises(NodeError):
            world.run("collective", params(1024), 120)


MPICH = choice_of("mpich")
NOT_THERE = "none_such"
"""An algorithm that MPICH does not have: it does not start if it reads the variable; one unknown to it it ignores."""

needs_mpich = needs("mpich" in installed(), "mpich")


def through_file(path: Path, text: str) -> dict[str, str]:
    """What a file that was written sets, as a job takes it."""
    path.write_text(text)
    return read_variables(path.read_text())


def one_of_each() -> str:
    """A file with an algorithm for every collective that MPICH can be told about."""
    assert MPICH is not None
    return write_rules([Rule(op, 0, 0, None, one.algorithms[-1].name) for op, one in MPICH.collectives.items()], MPICH)


@pytest.mark.full
@needs_mpich
def test_mpich_starts_with_a_file_of_every_collective(tmp_path: Path) -> None:
    environment = through_file(tmp_path / "collectives.env", one_of_each())
    with world_of(Inventory.this_machine(), WorldSpec(ranks=2, mpi="mpich", environment=environment)) as world:
        assert world.run("collective", {"op": "allreduce", "bytes": 1024, "seconds": 0.002}, 120)["ok"]


@pytest.mark.full
@needs_mpich
@pytest.mark.parametrize("op", sorted(MPICH.collectives if MPICH else ()))
def test_mpich_reads_every_variable_that_a_file_has(tmp_path: Path, op: str) -> None:
    text = re.sub(rf"(?m)^(MPIR_CVAR_{op.upper()}_INTRA_ALGORITHM)=.*$", rf"\1={NOT_THERE}", one_of_each())
    assert text.count(NOT_THERE) == 1
    environment = through_file(tmp_path / "collectives.env", text)
    spec = WorldSpec(ranks=2, mpi="mpich", environment=environment)
    with pytest.raises(NodeError), world_of(Inventory.this_machine(), spec):
        pass


def sent_back(lab: labs.Lab, environment: dict[str, str]) -> float:
    """Bytes that the other node sends for each byte of the root's node, while it broadcasts from a node to another."""

    def sent() -> list[int]:
        return [int(ssh(lab, node, "cat /sys/class/net/eth0/statistics/tx_bytes").stdout) for node in ("n1", "n2")]

    params = {"op": "bcast", "bytes": 1 << 18, "seconds": 0.01, "start": "barrier"}
    with world_of(Inventory.from_lab(lab), WorldSpec(per_node=2, mpi="mpich", environment=environment)) as world:
        world.run("collective", params, 120)
        before = sent()
        world.run("collective", params, 120)
        root, other = (after - first for after, first in zip(sent(), before, strict=True))
    return other / root


@pytest.mark.full
@needs_mpich
def test_mpich_does_as_the_file_says(two_nodes: labs.Lab, tmp_path: Path) -> None:
    """A binomial tree sends whole messages away from the root; scatter and allgather send parts back, too."""
    assert MPICH is not None
    shares = {}
    for name in ("binomial", "scatter_recursive_doubling_allgather"):
        text = write_rules([Rule("bcast", 0, 0, None, name)], MPICH)
        shares[name] = sent_back(two_nodes, through_file(tmp_path / f"{name}.env", text))
    assert shares["binomial"] < 0.1
    assert shares["scatter_recursive_doubling_allgather"] > 0.3
