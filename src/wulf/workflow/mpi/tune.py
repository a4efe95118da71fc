"""Collectives that violate a guideline, tuned: each algorithm tried, the better ones written to a file, and that tried.

One run: the collectives as `wulf mpi collectives` measures them; then, one collective after the other, its algorithms
at the violated sizes beside the MPI's own choice; then what was adopted, through the file. How far it is follows from
the records, so that a run that was cut short goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wulf.cluster.access import Access
from wulf.cluster.mpi import World, bring_file, open_world
from wulf.cluster.mpi.world import START_TIMEOUT
from wulf.core.errors import NodeError, UsageError
from wulf.core.files import replace_file
from wulf.core.findings import Finding
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell
from wulf.measure.mpi.algorithms import DEFAULT, FILE, RULES, Choice, choice_of
from wulf.measure.mpi.guidelines import Call, times_of
from wulf.measure.mpi.probes import EACH, mpi_probe
from wulf.measure.mpi.rules_file import read_variables, write_rules
from wulf.measure.mpi.tuning import (
    LEAST_GAIN,
    PARAMETER,
    THROUGH,
    TRIED,
    adopted,
    confirmed,
    gains,
    rules_of,
    through_gains,
    tuned_findings,
    violated_calls,
)
from wulf.store.reading import StoreError
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement
from wulf.workflow.mpi.launching import Launch, Turns, hung_after
from wulf.workflow.mpi.probes import Ranks
from wulf.workflow.mpi.whole import COLLECTIVE, SIZES, Collectives, guideline_findings

NAMES = {RULES: "collectives.conf", "environment": "collectives.env"}
"""Of the file, by its kind."""

Arm = tuple[str, str]
"""A collective and an algorithm; `FILE` for all collectives at once."""


def use_of(choice: Choice, path: str) -> str:
    """How a job is told to take the file."""
    if choice.file == RULES:
        return (
            "mpirun --mca coll_tuned_use_dynamic_rules 1 "
            f"--mca coll_tuned_dynamic_rules_filename {path} …  (the file at that path on every node)"
        )
    return f"set -a; . {path}; set +a; mpiexec …"


class Arms:
    """Ranks with other settings beside those that a run has: a launch for each, made when it is first needed.

    A session to the runner: what is asked with a parameter `algorithm` goes to the launch with that one. Those of one
    collective are there at the same time, so that their replicates can take turns; others are ended before.

    Parameters
    ----------
    own
        The run's own ranks' session.
    open_arm
        Opens the ranks of an arm, for the length of a block.
    how
        As `Launch` has it: one launch for all replicates, for those of a block, or for each.
    """

    def __init__(self, own: Any, open_arm: Callable[[Arm], Any], *, how: str) -> None:
        self._own, self._open_arm, self._how = own, open_arm, how
        self._turns: dict[Arm, Turns] = {}
        self._thread = ThreadPoolExecutor(1, "wulf-arms")
        self._worlds: dict[Arm, World] = {}
        self._failed: dict[Arm, NodeError] = {}
        self._stack = ExitStack()
        self.launches = 0

    @property
    def alive(self) -> bool:
        """As the run's own ranks are; an arm that dies costs its own cells alone."""
        return bool(self._own.alive)

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask the ranks that it is for."""
        params = dict(fields.get("params") or {})
        name = params.pop(PARAMETER, DEFAULT)
        if op != "run" or name == DEFAULT:
            return self._own.call(op, **{**fields, **({"params": params} if params else {})})  # type: ignore[no-any-return]
        arm = (FILE, FILE) if name == FILE else (str(params["op"]), str(name))
        return self._thread.submit(self._run, arm, fields["probe"], params)

    def _run(self, arm: Arm, probe: str, params: Mapping[str, Any]) -> dict[str, Any]:
        world = self._world(arm, anew=self._turns.setdefault(arm, Turns(self._how)).over(probe, params))
        spent = sum(float(params.get(name) or 0.0) for name in ("seconds", "warmup_seconds"))
        try:
            return world.run(probe, params, spent + hung_after(len(world.places)))
        except NodeError as error:
            if not world.session.alive:
                self._failed[arm] = error
            raise
        finally:
            if self._how == EACH:  # so that one is there beside the run's own
                self._end()

    def _world(self, arm: Arm, *, anew: bool) -> World:
        """The arm's ranks; a NodeError where they could not be launched, or died: they are not tried again."""
        if arm in self._failed:
            raise self._failed[arm]
        try:
            if arm not in self._worlds:
                if any(other[0] != arm[0] for other in self._worlds):
                    self._end()
                self._worlds[arm] = self._stack.enter_context(self._open_arm(arm))
                self.launches += 1
            elif anew:
                self._worlds[arm].relaunch()
                self.launches += 1
        except NodeError as error:
            self._failed[arm] = error
            raise
        return self._worlds[arm]

    def _end(self) -> None:
        self._worlds.clear()
        self._stack.close()

    def close(self) -> None:
        """End all of them."""
        self._thread.submit(self._end).result()
        self._thread.shutdown()


@dataclass
class Tuning:
    """One campaign: what it asks the ranks next, and what it finds.

    Attributes
    ----------
    folder, rules
        Where the file is kept: in the run's folder, unless a path was given.
    least
        The gain from which on an algorithm is adopted.
    wanted
        The calls to tune instead of those that violate a guideline.
    """

    folder: Path
    rules: Path | None = None
    choice: Choice | None = None
    least: float = LEAST_GAIN
    wanted: Sequence[Call] | None = None
    ranks: int = 0
    params: Mapping[str, Param] = field(default_factory=dict)
    lead: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Where the file is kept."""
        return self.rules or self.folder / NAMES[self.choice.file if self.choice else RULES]

    def calls(self, records: Sequence[Record]) -> list[Call]:
        """What is to be tuned: of the violated calls those that the MPI can be told about."""
        found = violated_calls(records) if self.wanted is None else list(self.wanted)
        return [call for call in found if self.choice and self.choice.candidates(call.op, self.ranks)]

    def next_cells(self, records: Sequence[Record]) -> list[tuple[str, dict[str, Param]]]:
        """Phase and parameters of what is to be measured next; nothing when all is done."""
        if self.choice is None:
            return []
        tried = {str(one.params["op"]) for one in records if one.phase == TRIED}
        waiting = [call for call in self.calls(records) if call.op not in tried]
        if waiting:
            return [(TRIED, cell) for cell in self._trials(waiting[0].op, records)]
        done = any(one.phase == THROUGH for one in records)
        chosen = [] if done else self.chosen(records)
        if chosen:
            self.write(chosen, records)
        return [
            (THROUGH, {**self.params, **one.call.params(), PARAMETER: name})
            for one in chosen
            for name in (DEFAULT, FILE)
        ]

    def _trials(self, op: str, records: Sequence[Record]) -> Iterator[dict[str, Param]]:
        """Every algorithm at the violated sizes; at all sizes where one choice holds for all."""
        assert self.choice is not None  # noqa: S101 - the caller looked
        calls = [call for call in self.calls(records) if call.op == op]
        if self.choice.file != RULES:
            calls = sorted({*calls, *(call for call in self._measured(records) if call.op == op and call.bytes > 0)})
        for call in calls:
            for name in (DEFAULT, *(one.name for one in self.choice.candidates(op, self.ranks))):
                yield {**self.params, **call.params(), PARAMETER: name}

    def _measured(self, records: Sequence[Record]) -> list[Call]:
        return sorted(times_of([one for one in records if PARAMETER not in one.params]))

    def chosen(self, records: Sequence[Record]) -> list[Any]:
        """The gains that are adopted."""
        if self.choice is None:
            return []
        return adopted(gains(records, TRIED), self.calls(records), self.choice, self.least)

    def write(self, chosen: Sequence[Any], records: Sequence[Record]) -> str:
        """The file, written where it is kept; its text."""
        assert self.choice is not None  # noqa: S101 - something was chosen
        rules = rules_of(chosen, self._measured(records), self.ranks, self.choice)
        about = [*self.lead, f"Made by wulf. To use it: {use_of(self.choice, str(self.path.absolute()))}"]
        text = write_rules(rules, self.choice, about)
        try:
            replace_file(self.path, text)
        except OSError as error:
            raise StoreError(f"can't write {self.path}: {error.strerror}", "name another place with --rules") from error
        return text

    def findings(self, subject: str, records: Sequence[Record]) -> list[Finding]:
        """What was tried and adopted; the file then holds what its own measurement bore out, or is gone."""
        chosen = self.chosen(records)
        through = through_gains(records, chosen)
        kept = confirmed(through)
        keeping = [one for one in chosen if one.call in kept]
        if keeping:
            self.write(keeping, records)
        elif chosen:
            self.path.unlink(missing_ok=True)
        calls = violated_calls(records) if self.wanted is None else list(self.wanted)
        path = str(self.path) if keeping else ""
        return tuned_findings(subject, calls, gains(records, TRIED), chosen, through, kept=kept, path=path)


class TunedRanks(Ranks):
    """A run's ranks, with other launches beside them."""

    def __init__(self, launch: Launch, say: Callable[[str], None], tuning: Tuning) -> None:
        super().__init__(launch, say)
        self._tuning = tuning

    @contextmanager
    def __call__(self, connected: Connected, access: Access) -> Iterator[None]:
        """As ever, and the arms end before."""
        with super().__call__(connected, access):
            if self._session is None:
                yield
                return
            arms = Arms(self._session, self._opener(access.pick(connected.sessions)), how=self._launch.how)
            self._tuning.ranks = len(self.places)
            self._tuning.choice = choice_of(self.kind)
            self._tuning.lead = (f"{self.version}, {len(self.places)} ranks",)
            own, self._session = self._session, arms  # type: ignore[assignment]
            try:
                yield
            finally:
                self._session = own
                arms.close()

    def _opener(self, access: Access) -> Callable[[Arm], Any]:
        def open_arm(arm: Arm) -> Any:
            spec = self._launch.spec
            environment = {**spec.environment, **self._environment(access, arm)}
            return open_world(access, replace(spec, environment=environment), self._say)

        return open_arm

    def _environment(self, access: Access, arm: Arm) -> dict[str, str]:
        """What tells the ranks of an arm; the file is first brought to the nodes."""
        choice, path = self._tuning.choice, self._tuning.path
        assert choice is not None  # noqa: S101 - there are arms only where there is a choice
        if arm[0] != FILE:
            return choice.forced(*arm)
        text = path.read_text(encoding="utf-8")
        if choice.file != RULES:
            return read_variables(text)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        there = bring_file(access, self._launch.spec, f"collectives-{digest}.conf", text.encode())
        return {
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_dynamic_rules_filename": there,
        }


class TuneCollectives(Collectives):
    """The collectives, and each algorithm of those that violate a guideline.

    Parameters
    ----------
    rules
        Where the file is kept; None: in the run's folder.
    least
        The gain from which on an algorithm is adopted, at the lower end of its interval.
    wanted
        The calls to tune instead of those that violate a guideline.
    """

    def __init__(
        self,
        given: Conditions,
        launch: Launch,
        *,
        sizes: Sequence[int] = SIZES,
        ops: Sequence[str] = (),
        params: Mapping[str, Param] | None = None,
        rules: Path | None = None,
        least: float = LEAST_GAIN,
        wanted: Sequence[Call] | None = None,
    ) -> None:
        if launch.ranks(len(given.inventory.nodes)) < 2:
            raise UsageError("one rank has no collectives to tune", "name more nodes, or give --per-node or --ranks")
        self._tuning = Tuning(given.writer.path, rules, least=least, wanted=wanted, params=params or {})
        ranks = TunedRanks(launch, given.watch.say, self._tuning)
        super().__init__(given, launch, sizes=sizes, ops=ops, params=params, ranks=ranks)

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """The algorithms of one collective more; then all that was adopted, through the file."""
        cells: list[Cell] = []
        for phase, requested in self._tuning.next_cells(records):
            name = requested.pop(PARAMETER)
            cell = self.ranks.cell(first + len(cells), mpi_probe(), COLLECTIVE, requested, phase)
            patience = cell.patience + START_TIMEOUT  # the first replicate launches the ranks
            cells.append(replace(cell, params={**cell.params, PARAMETER: name}, patience=patience))
        return cells

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """Which guidelines are violated, and what was adopted."""
        plain = [one for one in records if PARAMETER not in one.params]
        subject = next((one.subject for one in plain), "")
        return [], [*guideline_findings(plain), *self._tuning.findings(subject, records)]
