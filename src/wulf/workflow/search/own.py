"""The search of a program of the user's own: `my.toml` as a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal, cast

from wulf.apps.command import reader
from wulf.apps.driver import Job
from wulf.cluster.applications import Applications, common_program
from wulf.cluster.mpi import WorldSpec
from wulf.core.records import Param
from wulf.search.own import Own
from wulf.search.plan import SearchPlan
from wulf.search.recipe import PROGRAM, TOOLS
from wulf.search.trial import Trial
from wulf.store.run import Facts
from wulf.workflow.search.building import Builds, build_all
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


def own_plan(own: Own, effort: Effort, builds: Builds | None = None) -> SearchPlan:
    """The plan of a program's search: what is there is what is to be beaten."""
    if builds is None:
        space = own.space()
    else:
        space = replace(own, knobs=builds.without(own.knobs)).space(builds.knobs, builds.conditions)
    return SearchPlan(
        space, own.sizes, own.power, {"default": space.default}, effort.seed, budget=effort.budget,
        blocks=effort.blocks, delta=effort.delta, rungs=effort.rungs, repeats=effort.repeats,
        joint=() if builds is None else TOOLS,
    )  # fmt: skip


def own_task(own: Own, effort: Effort, spec: WorldSpec) -> Prepare:
    """What `run_search` prepares; a program that has a recipe is built first.

    Raises
    ------
    UsageError
        Figure or check are no regular expressions.
    """
    better = cast("Literal['higher', 'lower']", own.better)
    read, main = reader(own.figure, own.unit, better, own.checks)

    def prepare(apps: Applications, _: Mapping[str, Facts], plan: SearchPlan | None) -> Task:
        builds = None if own.recipe is None else build_all(apps, own.recipe, own.knobs)
        program = _program(own, apps)
        mpi = apps.mpi_for(None, spec) if own.ranks and (builds is None or not builds.mpis) else None
        made = plan or own_plan(own, effort, builds)

        def values(trial: Trial) -> dict[str, Param]:
            return {**made.space.named(trial.config), **made.space.given, own.size_name: _whole(trial.size)}

        def job(trial: Trial) -> Job:
            given = values(trial)
            built = {} if builds is None else {PROGRAM: builds.program(given)}
            words, environment = own.filled({**given, **built})
            return Job(
                (program or words[0], *words[1:]),
                environment=environment if builds is None else {**builds.running(given), **environment},
                mpi=own.ranks is not None, timeout=own.timeout, folder=own.chdir,
            )  # fmt: skip

        name = PurePath(own.recipe.product if own.recipe else own.command[0]).name
        return Task(
            name, made, job, read, main, own.unit, better,
            spec=lambda _: spec if own.ranks else None,
            mpi=lambda trial: mpi if builds is None else builds.mpi(values(trial)) or mpi,
            about={} if builds is None else {"builds": builds.about()},
        )  # fmt: skip

    return prepare


def _whole(size: float) -> Param:
    """A size as commands take it: 1000, not 1000.0."""
    return int(size) if size == int(size) else size


def _program(own: Own, apps: Applications) -> str:
    """Where the nodes have it; "" where the command says so itself."""
    first = own.command[0]
    if "/" in first or "{" in first:
        return ""
    return common_program(apps.find((first,)), (first,), first).path
