"""Collectives tuned over simulated ranks: what is adopted, kept, refused, and what the file then says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.rules_file import read_rules
from tests.unit.workflow.mpi_fakes import FakeWorld
from tests.unit.workflow.simulating import QUICK, simulator
from tests.wording import lacking
from wulf.cluster.mpi import WorldSpec
from wulf.core.errors import NodeError, UsageError
from wulf.measure.mpi.algorithms import choice_of
from wulf.measure.mpi.guidelines import Call
from wulf.measure.mpi.probes import BLOCKS, EACH
from wulf.measure.mpi.rules_file import Rule
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.mpi import probes as mpi
from wulf.workflow.mpi import tune as mpi_tune
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.tune import TuneCollectives

RULES_FILE = "OMPI_MCA_coll_tuned_dynamic_rules_filename"
FORCED = "OMPI_MCA_coll_tuned_allreduce_algorithm"
KIB = 1024

Environment = Mapping[str, str]


class Mpi:
    """An MPI whose allreduce takes three times what it should unless recursive doubling (3) is used."""

    def __init__(self, kind: str = "openmpi", *, file_works: bool = True, gain: float = 3.0) -> None:
        self.kind, self.file_works, self.gain = kind, file_works, gain
        self.worlds: list[tuple[Environment, FakeWorld]] = []
        self.open = 0
        self.most_open = 0

    def seconds(self, environment: Environment, params: Mapping[str, Any], ranks: int) -> float:
        op, size = params["op"], int(params.get("bytes") or 0)
        assert "algorithm" not in params  # no probe knows it
        if op != "allreduce":
            return 1e-5
        return 6e-5 / self.gain if self._good(environment, op, size, ranks) else 6e-5

    def _good(self, environment: Environment, op: str, size: int, ranks: int) -> bool:
        if RULES_FILE in environment:
            known = choice_of("openmpi")
            assert known is not None
            rules = read_rules(Path(environment[RULES_FILE]).read_text(), known)
            holds = [r for r in rules if (r.op, r.ranks) == (op, ranks) and r.first <= size < (r.end or size + 1)]
            return self.file_works and [r.algorithm for r in holds] == ["recursive_doubling"]
        if self.kind == "mpich":
            return environment.get("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM") == "recursive_doubling"
        return environment.get(FORCED) == "3"

    @contextmanager
    def launch(self, access: Any, spec: WorldSpec, say: Callable[[str], None]) -> Iterator[FakeWorld]:
        if spec.environment.get(FORCED) == "5":
            raise NodeError("n1", "the ranks did not start")
        seconds = self.seconds
        world = FakeWorld(access.inventory, spec, lambda _, params, ranks: seconds(spec.environment, params, ranks))
        world.installed.kind = self.kind
        self.worlds.append((dict(spec.environment), world))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        yield world
        self.open -= 1
        world.close()


Tune = Callable[..., RunOutcome]


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tune:
    def bring(_: Any, __: WorldSpec, name: str, data: bytes) -> str:
        path = tmp_path / f"node-{name}"
        path.write_bytes(data)
        return str(path)

    def run(there: Mpi, launch: Launch | None = None, *, quick: bool = False, **options: Any) -> RunOutcome:
        monkeypatch.setattr(mpi, "open_world", there.launch)
        monkeypatch.setattr(mpi_tune, "open_world", there.launch)
        monkeypatch.setattr(mpi_tune, "bring_file", bring)
        made = {"launch": launch or Launch(WorldSpec(per_node=2)), "sizes": (KIB,), **options}
        return simulator(monkeypatch, tmp_path, TuneCollectives)("n[1-2]", made, effort=replace(QUICK, quick=quick))

    return run


def texts(outcome: RunOutcome, kind: str = "tuned") -> str:
    return " | ".join(finding.text for finding in outcome.run.findings if finding.kind == kind)


def test_the_better_algorithm_is_adopted_and_measured_through_its_file(tune: Tune) -> None:
    there = Mpi()
    outcome = tune(there)
    adopted = ("allreduce of 1 KiB", ": recursive_doubling is +200", "through the file +200")
    assert lacking(texts(outcome), *adopted) == []
    path = outcome.run.path / "collectives.conf"
    known = choice_of("openmpi")
    assert known is not None
    (rule,) = read_rules(path.read_text(), known)
    assert (rule.op, rule.ranks, rule.algorithm) == ("allreduce", 4, "recursive_doubling")
    assert rule.first <= KIB < (rule.end or 0)
    assert "coll_tuned_dynamic_rules_filename" in path.read_text()
    assert there.open == 0
    algorithms = {r.params.get("algorithm") for r in outcome.run.records}
    assert {None, "default", "file", "recursive_doubling", "ring"} <= algorithms


def test_every_block_holds_all_algorithms(tune: Tune) -> None:
    outcome = tune(Mpi())
    tried = {cell["id"] for cell in outcome.run.plan["cells"] if cell["phase"] == "algorithms"}
    blocks: dict[int, set[int]] = {}
    for one in outcome.run.replicates:
        if one["cell"] in tried and one["ok"]:
            blocks.setdefault(one["block"], set()).add(one["cell"])
    ran = set().union(*blocks.values())
    assert len(ran) == len(tried) - 1  # segmented_ring does not start
    assert all(cells == ran for cells in blocks.values())


def test_an_algorithm_that_does_not_start_costs_no_other(tune: Tune) -> None:
    outcome = tune(Mpi())
    (failed,) = [r for r in outcome.run.records if r.params.get("algorithm") == "segmented_ring" and r.metric == "time"]
    assert "the ranks did not start" in (failed.reason or "")
    assert "recursive_doubling" in texts(outcome)


def test_a_file_that_does_nothing_is_not_kept(tune: Tune) -> None:
    outcome = tune(Mpi(file_works=False))
    assert "which does not bear it out: not kept" in texts(outcome)
    assert "Nothing was adopted" in texts(outcome)
    assert not (outcome.run.path / "collectives.conf").exists()


def test_a_small_gain_is_not_adopted(tune: Tune) -> None:
    outcome = tune(Mpi(gain=1.02))
    assert lacking(texts(outcome), "none of 5 algorithms", "more than 3% faster") == []
    assert "Nothing was adopted" in texts(outcome)
    assert not any(r.params.get("algorithm") == "file" for r in outcome.run.records)


def test_nothing_violated_nothing_tried(tune: Tune) -> None:
    there = Mpi()
    there.seconds = lambda *_: 1e-5  # type: ignore[method-assign]
    outcome = tune(there)
    assert lacking(texts(outcome), "No guideline is violated", "no algorithm was tried") == []
    assert len(there.worlds) == 1


def test_too_few_blocks_adopt_nothing(tune: Tune) -> None:
    outcome = tune(Mpi(), quick=True, wanted=[Call("allreduce", KIB)])
    assert "Nothing was adopted" in texts(outcome)


def test_mpich_is_told_by_variables(tune: Tune, tmp_path: Path) -> None:
    path = tmp_path / "mine.env"
    outcome = tune(Mpi("mpich"), rules=path)
    assert "through the file +200" in texts(outcome)
    known = choice_of("mpich")
    assert known is not None
    assert read_rules(path.read_text(), known) == [Rule("allreduce", 0, 0, None, "recursive_doubling")]


def test_one_choice_for_all_sizes_must_be_good_at_all(tune: Tune) -> None:
    """Recursive doubling is three times as fast at 1 KiB, and half as fast at 64 KiB."""
    there = Mpi("mpich")
    steady = there.seconds

    def seconds(environment: Environment, params: Mapping[str, Any], ranks: int) -> float:
        if params["op"] == "allreduce" and params["bytes"] > KIB:
            return 12e-5 if environment else 2e-5
        return steady(environment, params, ranks)

    there.seconds = seconds  # type: ignore[method-assign]
    outcome = tune(there, sizes=(KIB, 64 * KIB))
    assert "Nothing was adopted" in texts(outcome)


def test_launches_of_one_collective_at_a_time(tune: Tune) -> None:
    there = Mpi()
    wanted = [Call(op, KIB) for op in ("allreduce", "alltoall", "bcast")]
    tune(there, wanted=wanted)
    assert there.most_open <= 1 + 9  # the run's own, and those of bcast


def test_a_launch_for_every_replicate(tune: Tune) -> None:
    there = Mpi()
    outcome = tune(there, Launch(WorldSpec(per_node=2), how=EACH))
    assert "through the file +200" in texts(outcome)
    assert there.most_open == 2


def test_a_launch_for_every_block_is_one_for_every_arm_too(tune: Tune) -> None:
    """An algorithm whose one launch happens to be fast is not a faster algorithm."""
    there = Mpi()
    outcome = tune(there, Launch(WorldSpec(per_node=2), how=BLOCKS))
    assert "through the file +200" in texts(outcome)
    forced = [world for environment, world in there.worlds if environment.get(FORCED) not in (None, "5")]
    assert forced and all(world.launches == world.ran.count(world.ran[0]) for world in forced)


def test_one_rank_has_nothing_to_tune(tune: Tune) -> None:
    with pytest.raises(UsageError, match="one rank has no collectives"):
        tune(Mpi(), Launch(WorldSpec(ranks=1)))


def test_another_kind_of_mpi_is_left_alone(tune: Tune) -> None:
    outcome = tune(Mpi("intel"))
    assert "there is no other algorithm to try" in texts(outcome)
