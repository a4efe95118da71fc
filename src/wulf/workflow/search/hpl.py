"""The search of HPL: its knobs, sizes that fit the nodes, what is to be beaten, and the HPL.dat that wins."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wulf.apps import hpl
from wulf.apps.driver import Job
from wulf.apps.linpack.size import grids_of, size_for
from wulf.cluster.applications import Applications, Executable, common_program
from wulf.cluster.mpi import Installed, WorldSpec
from wulf.core.errors import UsageError
from wulf.core.params import with_defaults
from wulf.core.records import Param
from wulf.search.plan import SearchPlan
from wulf.search.recipe import TOOLS, Recipe
from wulf.search.space import Config, Knob, Space
from wulf.search.strategy import SearchOutcome as SearchFound
from wulf.search.trial import Trial
from wulf.store.run import Facts
from wulf.workflow.app.build import hpl_tree, linkable
from wulf.workflow.app.hpl import memory_of
from wulf.workflow.search.building import Builds, build_all
from wulf.workflow.search.own import Effort
from wulf.workflow.search.preflight import OWN, Choice, choose_blas
from wulf.workflow.search.run import Prepare, Task, run_trial

NBS = (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512)
"""Blocks from what a cache holds to what the ramble formula takes."""

LEAST_SIZE, STEP = 400, 8
"""Rows below which a solve says nothing of N; and sizes are multiples of eight doubles."""

NETLIB = {"nb": 4, "pfact": 2, "nbmin": 4, "ndiv": 2, "rfact": 2, "bcast": 0, "depth": 0, "swap": 2}
"""The HPL.dat that comes with HPL 2.3 (netlib), the last value of each of its lists, but for N and the grid."""

RAMBLE = {"nb": 384, "pfact": 2, "nbmin": 4, "ndiv": 2, "rfact": 1, "bcast": 1, "depth": 1, "swap": 2}
"""The formula of ramble's HPL: NB 384, a grid as square as can be, else HPCC's values."""

HPL_DAT = "HPL.dat"

PILOT, FULL_RUNS = 4000.0, 30.0
"""Rows of the solve that tells the nodes' rate; and how many solves at full size a whole search amounts to."""


@dataclass(frozen=True)
class HplAsked:
    """What to search.

    Attributes
    ----------
    n
        Rows; None: this share of the nodes' memory.
    nbs, threads
        Values to try.
    blas
        Paths; "all": whatever the nodes have; "own": the program's; none: all, if the program can be given another.
    environment
        Variable → values to try: an MPI's runtime parameters.
    settings
        Of the nodes: name → values to try, what is there first.
    source
        HPL's source tree on the first node, built with every MPI and compiler; None: a program that is there.
    tools
        Tool → names or kinds that are tried, of those found.
    """

    spec: WorldSpec
    effort: Effort
    n: int | None = None
    memory: float = 0.8
    nbs: tuple[int, ...] = NBS
    threads: tuple[int, ...] = (1,)
    blas: tuple[str, ...] = ()
    environment: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings: Mapping[str, tuple[Param, ...]] = field(default_factory=dict)
    program: str | None = None
    timeout: float | None = None
    source: str | None = None
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Programs:
    """What is run: one program, or one for every combination of MPI and compiler, of which it is the first."""

    usual: Executable
    builds: Builds | None = None

    def path(self, values: Mapping[str, Param]) -> str:
        """The program of a configuration. Raises UsageError where it could not be built."""
        return self.usual.path if self.builds is None else self.builds.program(values)

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """Of what they were built with."""
        return () if self.builds is None else self.builds.knobs

    @property
    def conditions(self) -> tuple[str, ...]:
        """What can't be built."""
        return () if self.builds is None else self.builds.conditions


def hpl_recipe(source: str, blas: str, wanted: Mapping[str, tuple[str, ...]]) -> Recipe:
    """xhpl of HPL's source tree, linked with one BLAS: any other is chosen for it when it runs."""
    tree = hpl_tree(source, "{mpicc}", blas)
    commands = tuple(map(shlex.join, tree.commands))
    return Recipe(source, commands, tree.product, tree.files, tuple(tree.needs), wanted)


def sizes_of(n: int) -> tuple[float, ...]:
    """N/4, N/2 and N; those too small to say anything are left out."""
    found = [max(STEP, n // part // STEP * STEP) for part in (4, 2)]
    return (*(float(size) for size in found if size >= LEAST_SIZE), float(n))


def hpl_space(cores: int, asked: HplAsked, programs: Programs, chosen: Choice, least: float) -> Space:
    """HPL's knobs on so many ranks, or ranks times threads.

    Parameters
    ----------
    programs
        Those that were built bring what they were built with as knobs.
    chosen
        What the preflight left to try; its block size is the one that anchors have.
    least
        The smallest size: a block has at most half of its rows.
    """
    rows = sorted({p for threads in asked.threads for p, _ in grids_of(max(1, cores // threads))})
    usual, blas = cores // asked.threads[0], chosen.libraries or (OWN,)
    nbs = sorted({*sizes_within(asked.nbs, least), *sizes_within((NETLIB["nb"], RAMBLE["nb"]), least)})
    if len(nbs) < 2:
        raise UsageError(f"N = {least:g} is too small for blocks of {', '.join(map(str, asked.nbs))}", "a larger --n")
    near = min(nbs, key=lambda nb: abs(nb - (chosen.nb or RAMBLE["nb"])))
    knobs = [
        Knob("nb", tuple(nbs), near), Knob("p", tuple(rows), grids_of(usual)[0][0]),
        Knob("bcast", ("0", "1", "2", "3", "4", "5") if cores > 1 else ("1",), "1"),
        Knob("depth", (0, 1), 1), Knob("pfact", ("0", "1", "2"), "2"), Knob("rfact", ("0", "1", "2"), "1"),
        Knob("nbmin", (2, 4, 8), 4), Knob("swap", ("0", "1", "2"), "2"),
        Knob("threads", asked.threads, asked.threads[0]),
        Knob("blas", blas, blas[0]), *programs.knobs,
        *(Knob(name, values, values[0]) for name, values in asked.environment.items()),
        *(Knob(name, values, values[0], setting=name) for name, values in asked.settings.items()),
    ]  # fmt: skip
    ties = ("cores % threads == 0", "cores // threads % p == 0", *programs.conditions)
    return Space(tuple(knobs), ties, {"cores": cores})


def sizes_within(nbs: Sequence[int], least: float) -> list[int]:
    """Those of which two blocks fit the smallest size."""
    return [nb for nb in nbs if nb <= least / 2]


def baselines(space: Space, cores: int) -> dict[str, Config]:
    """HPL's own HPL.dat, and the ramble formula, both on the grid that is as square as can be."""
    names = {knob.name: knob for knob in space.knobs}
    threads = int(str(names["threads"].default))
    p, nbs = grids_of(cores // threads)[0][0], names["nb"].values
    found = {}
    for title, values in (("netlib's HPL.dat", NETLIB), ("ramble formula", RAMBLE)):
        given: dict[str, Param] = {"p": p, "threads": threads}
        for name, value in values.items():
            if name == "nb":
                given[name] = min(nbs, key=lambda nb, wanted=value: abs(int(str(nb)) - wanted))  # type: ignore[misc]
            elif name in names:
                given[name] = value if value in names[name].values else str(value)
        label = title if values["nb"] == given["nb"] else f"{title} (NB {given['nb']})"
        found[label] = space.config({k: v if v in names[k].values else names[k].default for k, v in given.items()})
    return found


def params_of(space: Space, trial: Trial, cores: int) -> dict[str, Param]:
    """A trial as parameters of HPL's driver."""
    named = space.named(trial.config)
    threads, p = int(str(named["threads"])), int(str(named["p"]))
    given: dict[str, Param] = {"n": int(trial.size), "p": p, "q": cores // threads // p, "threads": threads}
    given |= {name: int(str(named[name])) for name in ("nb", "bcast", "depth", "pfact", "rfact", "nbmin", "swap")}
    if named["blas"] != OWN:
        given["blas"] = named["blas"]
    return with_defaults(hpl.PARAMS, given)


def hpl_task(asked: HplAsked) -> Prepare:
    """What `run_search` prepares. With a budget and no N, a pilot run tells which N the budget has room for."""

    def prepare(apps: Applications, facts: Mapping[str, Facts], plan: SearchPlan | None) -> Task:
        programs = _programs(apps, asked)
        if plan is not None:
            return _task(apps, asked, programs, plan)
        n = asked.n or _filling(facts, apps, asked)
        effort = asked.effort
        nodes = HplNodes(apps, facts, programs)
        sizes = sizes_within(asked.nbs, _plan(nodes, asked, n, Choice()).sizes[0])  # what can't be is said now
        chosen = choose_blas(apps, asked.blas, programs.usual, sizes, seed=effort.seed, budget=effort.budget)
        left = None if effort.budget is None else max(effort.budget - chosen.seconds, 0.0)
        this = replace(asked, effort=replace(effort, budget=left))
        task = _task(apps, this, programs, _plan(nodes, this, n, chosen), chosen.about)
        if asked.n is None and left is not None:
            n = _affordable(apps, task, left)
            if n < task.plan.full:
                task = _task(apps, this, programs, _plan(nodes, this, n, chosen), chosen.about)
        return task

    return prepare


@dataclass(frozen=True)
class HplNodes:
    """What runs applications on them, their facts, and what they have of HPL."""

    apps: Applications
    facts: Mapping[str, Facts]
    programs: Programs


def _filling(facts: Mapping[str, Facts], apps: Applications, asked: HplAsked) -> int:
    """N that fills its share of the nodes' memory."""
    memory = memory_of(facts, apps.nodes)
    if not memory:
        raise UsageError("N is missing, and the nodes do not say how much memory they have", "name it with --n")
    return size_for(memory, STEP, asked.memory)


def _task(
    apps: Applications,
    asked: HplAsked,
    programs: Programs,
    plan: SearchPlan,
    preflight: Mapping[str, Any] | None = None,
) -> Task:
    space, cores = plan.space, _cores(apps, asked)

    def job(trial: Trial) -> Job:
        values = space.named(trial.config)
        one = hpl.job(programs.path(values), params_of(space, trial, cores), ranks(trial))
        variables = {name: str(values[name]) for name in asked.environment}
        return replace(one, environment={**one.environment, **variables}, timeout=asked.timeout or one.timeout)

    def ranks(trial: Trial) -> int:
        return cores // int(str(space.named(trial.config)["threads"]))

    def spec(trial: Trial) -> WorldSpec:
        count = ranks(trial)
        return replace(asked.spec, ranks=count, per_node=max(1, -(-count // len(apps.nodes))))

    def files(found: SearchFound) -> dict[str, str]:
        if found.winner is None:
            return {}
        best = Trial(0, "", found.winner, plan.full)
        return {HPL_DAT: hpl.dat_of(params_of(space, best, cores), ranks(best)).text()}

    builds, about = programs.builds, {"preflight": preflight} if preflight else {}
    usual = apps.mpi_for(programs.usual, asked.spec) if builds is None else None

    def mpi(trial: Trial) -> Installed | None:
        return usual if builds is None else builds.mpi(space.named(trial.config))

    built = {} if builds is None else {"builds": builds.about()}
    return Task("hpl", plan, job, hpl.read, hpl.FIGURE, "flop/s", "higher", spec, mpi, files, {**about, **built})


def _affordable(apps: Applications, task: Task, budget: float) -> int:
    """N of which a search takes about the budget, from a small solve; the full one where that says nothing."""
    pilot = Trial(0, "pilot", task.plan.space.default, min(PILOT, task.plan.full))
    ran = run_trial(apps, task.job(pilot), task, pilot)
    return int(task.plan.full) if not ran.value else size_within(budget, ran.value, FULL_RUNS)


def _programs(apps: Applications, asked: HplAsked) -> Programs:
    builds = None
    if asked.source is not None:
        builds = build_all(apps, hpl_recipe(asked.source, linkable(apps, apps.nodes[0]), asked.tools))
    one = asked.program if builds is None else builds.made[0].path
    names = (one,) if one else hpl.PROGRAMS
    return Programs(common_program(apps.find(names), names, "HPL"), builds)


def _cores(apps: Applications, asked: HplAsked) -> int:
    """Ranks times threads in all: as many as ranks were asked for."""
    cores = asked.spec.ranks or asked.spec.per_node * len(apps.nodes)
    bad = [threads for threads in asked.threads if threads < 1 or cores % threads]
    if bad:
        raise UsageError(
            f"--threads {bad[0]}: {cores} ranks of one thread are not a multiple of it", "a divisor of the cores in all"
        )
    return cores


def _plan(nodes: HplNodes, asked: HplAsked, n: int, chosen: Choice) -> SearchPlan:
    """Sizes and space on these nodes.

    Raises
    ------
    UsageError
        N does not fit the nodes' memory.
    """
    apps, programs = nodes.apps, nodes.programs
    cores, memory, sizes = _cores(apps, asked), memory_of(nodes.facts, apps.nodes), sizes_of(n)
    space = hpl_space(cores, asked, programs, chosen, sizes[0])
    effort = asked.effort
    plan = SearchPlan(
        space, sizes, 3.0, baselines(space, cores), effort.seed, budget=effort.budget, blocks=effort.blocks,
        delta=effort.delta, rungs=effort.rungs, repeats=effort.repeats, joint=TOOLS if programs.builds else (),
    )  # fmt: skip
    for config in plan.baselines.values():
        params = params_of(space, Trial(0, "", config, plan.full), cores)
        ranks = cores // int(str(params["threads"]))
        hpl.dat_of(params, ranks).check(ranks, memory or None)
    return plan


def size_within(budget: float, rate: float, runs: float) -> int:
    """N of which so many solves at this rate fill the budget: the cube root of 3/2 · rate · seconds."""
    n = int((1.5 * rate * budget / runs) ** (1 / 3))
    return max(LEAST_SIZE, n // STEP * STEP)


__all__ = ["HplAsked", "hpl_task", "size_within"]
