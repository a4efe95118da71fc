"""The search of a program of the user's own: `my.toml` as a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, cast

from wulf.apps.command import reader
from wulf.apps.driver import Job
from wulf.cluster.applications import Applications, common_program
from wulf.cluster.mpi import WorldSpec
from wulf.search.own import Own
from wulf.search.plan import SearchPlan
from wulf.search.trial import Trial
from wulf.store.run import Facts
from wulf.workflow.search.run import Prepare, Task


@dataclass(frozen=True)
class Effort:
    """How thoroughly to search."""

    seed: int
    budget: float | None = None
    blocks: int = 6
    delta: float = 0.01
    rungs: tuple[int, int, int] = (27, 9, 3)
    repeats: int = 3


def own_plan(own: Own, effort: Effort) -> SearchPlan:
    """The plan of a program's search: what is there is what is to be beaten."""
    return SearchPlan(
        own.space, own.sizes, own.power, {"default": own.space.default}, effort.seed, budget=effort.budget,
        blocks=effort.blocks, delta=effort.delta, rungs=effort.rungs, repeats=effort.repeats,
    )  # fmt: skip


def own_task(own: Own, effort: Effort, spec: WorldSpec) -> Prepare:
    """What `run_search` prepares.

    Raises
    ------
    UsageError
        Figure or check are no regular expressions.
    """
    better = cast("Literal['higher', 'lower']", own.better)
    read, main = reader(own.figure, own.unit, better, own.checks)

    def prepare(apps: Applications, _: Mapping[str, Facts], plan: SearchPlan | None) -> Task:
        program = _program(own, apps)
        mpi = apps.mpi_for(None, spec) if own.ranks else None

        def job(trial: Trial) -> Job:
            words, environment = own.filled(_values(own, trial))
            return Job(
                (program or words[0], *words[1:]), environment=environment, mpi=own.ranks is not None,
                timeout=own.timeout, folder=own.chdir,
            )  # fmt: skip

        name = PurePath(own.command[0]).name
        return Task(
            name, plan or own_plan(own, effort), job, read, main, own.unit, better,
            spec=lambda _: spec if own.ranks else None, mpi=mpi,
        )  # fmt: skip

    return prepare


def _values(own: Own, trial: Trial) -> dict[str, str | int | float | bool | None]:
    size = int(trial.size) if trial.size == int(trial.size) else trial.size
    given = {} if own.ranks is None else {"ranks": own.ranks}
    return {**own.space.named(trial.config), **given, own.size_name: size}


def _program(own: Own, apps: Applications) -> str:
    """Where the nodes have it; "" where the command says so itself."""
    first = own.command[0]
    if "/" in first or "{" in first:
        return ""
    return common_program(apps.find((first,)), (first,), first).path
