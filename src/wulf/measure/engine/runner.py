"""The runner: turns a plan's cells into records over open sessions.

It knows nothing of how the sessions were opened, of the command line, or of files: what it measures goes into a sink,
how far it is into a callback.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Protocol

import numpy as np

from wulf.core.records import Record
from wulf.measure.engine.cell_state import CellState
from wulf.measure.engine.collect import (
    Explain,
    Replicate,
    in_common,
    pairs_of,
    records_of,
    replicates_of,
    samples_of,
    sums_of,
    unexplained,
)
from wulf.measure.engine.ends import Ends, ProbeSession, Servers, no_second_session
from wulf.measure.engine.plan import Cell, Plan, order_pass
from wulf.measure.engine.probes import NET, NODE
from wulf.measure.engine.starts import Starter, report
from wulf.measure.engine.watcher import UNWATCHED, Progress, Watcher
from wulf.stats.comparison import Comparison
from wulf.store.run import utc_now

ATTEMPTS = 3
"""Failed replicates after which a cell is given up: once may be chance, three times is a fact."""


class Sink(Protocol):
    """Where measurements go (`wulf.store.run.RunWriter`)."""

    id: str

    def append(self, record: Record) -> None:
        """Keep a complete record."""

    def append_replicate(self, replicate: Mapping[str, Any]) -> None:
        """Keep what a probe answered."""


class Runner:
    """Measures a plan.

    Parameters
    ----------
    sessions
        Node → open session of wulf-net.
    others
        Other programs, as cells name them: program → node → open session.
    addresses
        Node → address that its servers bind to.
    second
        Node → another session there, which serves the cells in which the node is measured with itself: each end is
        a process of its own, as two programs would be.
    clock
        Seconds, monotonic; injected so that tests are instant.
    watch
        Told after every wave.
    servers
        What the nodes already serve, from an earlier runner over the same sessions; what is started is added.
    explain
        What limits a cell, asked when it is closed.
    so_far
        Replicates that an earlier turn of the same run has measured, as replicates.jsonl holds them. Cells that need
        no more of them are closed at once; blocks are counted on.
    """

    def __init__(
        self,
        plan: Plan,
        sessions: Mapping[str, ProbeSession],
        addresses: Mapping[str, str],
        sink: Sink,
        *,
        others: Mapping[str, Mapping[str, ProbeSession]] | None = None,
        second: Callable[[str], ProbeSession] = no_second_session,
        clock: Callable[[], float] = time.monotonic,
        watch: Watcher = UNWATCHED,
        servers: Servers | None = None,
        explain: Explain = unexplained,
        so_far: Sequence[Replicate] = (),
    ) -> None:  # all that it touches is injected: tests are exact and instant
        self._explain = explain
        self._plan = plan
        self._ends = Ends({NET: sessions, **(others or {})}, addresses, second, {} if servers is None else servers)
        self._sink = sink
        self._clock = clock
        self._watch = watch
        self._rule = plan.rule
        self._states = {cell.id: CellState(cell) for cell in plan.cells}
        self._open = dict(self._states)
        self._starter = Starter(sessions, clock) if plan.synchronised else None
        self._waves: dict[int, list[CellState]] = {}
        for state in self._states.values():
            if state.cell.wave is not None:
                self._waves.setdefault(state.cell.wave, []).append(state)
        self._records: list[Record] = []
        self._done = 0
        self._ahead = sum(map(self._to_next_look, self._open.values()))
        self._at_most = sum(map(self._to_last_look, self._open.values()))
        self._began = 0.0
        self._block = 0
        self._first = self._restore(so_far)

    def _restore(self, so_far: Sequence[Replicate]) -> int:
        """Give the cells what was measured before; returns the number of the next block."""
        for number, replicates in replicates_of(self._plan.cells, so_far).items():
            if replicates:
                self._states[number].restore(replicates, slim=self._plan.endless)
        return 1 + max((replicate["block"] for replicate in so_far), default=-1)

    @property
    def lost(self) -> Mapping[str, str]:
        """Nodes on which a program died while they were measured, and how."""
        return self._ends.lost

    @property
    def records(self) -> list[Record]:
        """The records of the cells closed so far, in the order completed."""
        return self._records

    def run(self) -> list[Record]:
        """Measure until every cell is closed, and return the records in the order completed.

        KeyboardInterrupt closes the open cells with what they have, and goes on up.
        """
        # another order than that of the first turn's first passes
        random = np.random.default_rng([self._plan.seed, self._first] if self._first else self._plan.seed)
        self._began = self._clock()
        try:
            if self._first:
                self._end_what_can()
            for block in count(self._first):
                self._block = block
                if not self._open:
                    break
                due = [state.cell for state in self._open.values() if self._block % state.cell.every == 0]
                for wave in order_pass(due, self._plan.hosts, random, alike=self._plan.synchronised):
                    self._measure_wave([cell for cell in wave if cell.id in self._open])
                    if self._time_over():
                        self._close_all(f"the budget of {self._plan.budget:g} s was over")
                        break
                self._end_contrast()
                self._end_together()
        except KeyboardInterrupt:
            self._close_all("interrupted")
            raise
        return self._records

    def _end_what_can(self) -> None:
        """Close what an earlier turn has measured long enough."""
        for state in list(self._open.values()):
            if state.good and self._ends_alone(state.cell, state):
                self._close(state.cell)
        for members in self._waves.values():
            if any(state.good for state in members):
                self._end_wave(members)
        if all(state.good for state in self._states.values()):
            self._end_contrast()
            self._end_together()

    def _time_over(self) -> bool:
        return self._plan.budget is not None and self._clock() - self._began >= self._plan.budget

    def _measure_wave(self, wave: Sequence[Cell]) -> None:
        """One replicate of each cell of the wave, at the same time."""
        ready = [cell for cell in wave if self._ready(cell)]
        if self._starter and len(ready) > 1:
            self._measure_together(ready, self._starter)
        else:
            pending = [(cell, self._ends.begin(cell)) for cell in ready]
            for cell, future in pending:
                self._take(cell, *self._ends.answer(cell, future))
        for number in {cell.wave for cell in wave if cell.wave is not None}:
            self._end_wave(self._waves[number])
        self._report(wave)

    def _ready(self, cell: Cell) -> bool:
        """Give a cell up whose ends can't measure it."""
        lacking = self._ends.lacking(cell)
        if lacking:
            self._close(cell, failure=lacking)
        return not lacking

    def _measure_together(self, ready: Sequence[Cell], starter: Starter) -> None:
        """As above, from one agreed moment on; the replicates say how well that went."""
        starts = starter.agree(ready)
        pending = [(cell, self._ends.begin(cell, starts.get(cell.id))) for cell in ready]
        answers = {cell.id: self._ends.answer(cell, future) for cell, future in pending}
        infos = {number: answer.get("info") or {} for number, (answer, _) in answers.items() if answer is not None}
        starter.learn(max((info.get("late_seconds", 0.0) for info in infos.values()), default=0.0))
        told = report(ready, starts, infos)
        for cell in ready:
            self._take(cell, *answers[cell.id], told.get(cell.id))

    def _end_wave(self, members: Sequence[CellState]) -> None:
        """Close the cells of a wave when their sum is known well enough, or one of them is gone."""
        still = [state for state in members if state.cell.id in self._open]
        if not still:
            return
        if len(still) < len(members):
            cut = "another of those that were to run at the same time failed"
        else:
            sums = sums_of(members[0].cell.metrics[0].name, [state.replicates for state in members])
            decision = self._rule.decide(sums) if sums else None
            most = self._rule.most
            if decision and decision.stop:
                cut = f"their sum: {decision.reason}"
            elif most is not None and min(state.good for state in members) >= most + ATTEMPTS:
                cut = "too few times that all of them had a value"
            else:
                return
        for state in still:
            self._close(state.cell, cut=cut)
        for state in members:
            state.replicates = []

    def _take(
        self, cell: Cell, answer: dict[str, Any] | None, error: dict[str, str], start: dict[str, Any] | None = None
    ) -> None:
        """Take one replicate in, and close the cell if it has been measured long enough.

        Parameters
        ----------
        start
            What is to be said of the start that it had in common with others.
        """
        replicate: dict[str, Any] = {
            "cell": cell.id, "block": self._block, "at": utc_now(), "ok": answer is not None,
        }  # fmt: skip
        if answer is None:
            replicate["error"] = error
        else:
            replicate |= {name: answer.get(name) for name in ("metrics", "counters", "during", "info", "seconds")}
            replicate |= {"start": start} if start else {}
        self._sink.append_replicate(replicate)
        self._watch.on_replicate(cell, replicate)
        state = self._open[cell.id]
        self._ahead -= self._to_next_look(state)
        self._at_most -= self._to_last_look(state)
        state.take(replicate, slim=self._plan.endless)
        self._ahead += self._to_next_look(state)
        self._at_most += self._to_last_look(state)
        self._done += 1
        if answer is None:
            if gone := self._ends.gone(cell):
                self._close(cell, failure=gone)
            elif state.failed_now >= cell.attempts and not self._plan.endless:
                self._close(cell, failure=f"{state.failed} of {len(state.replicates)} attempts: {error['message']}")
        elif self._ends_alone(cell, state):
            self._close(cell)

    def _end_contrast(self) -> None:
        """After a block: close A and B if their comparison is clear, or one of them is gone."""
        rule = self._plan.versus
        if rule is None or not self._open:
            return
        if len(self._open) < len(self._states) or rule.enough(*self._arms()):
            comparison = self.comparison
            for state in list(self._open.values()):
                self._close(state.cell, cut=f"the comparison: {comparison.reason}" if comparison else None)
        elif min(state.good for state in self._open.values()) >= rule.most + ATTEMPTS:
            self._close_all("too few blocks in which both had a value")

    def _end_together(self) -> None:
        """After a block of cells that end together: look at what all of them have in common.

        In a watch, whose intervals hold at all times at once, a cell that could have ended once stays so.
        """
        if not self._plan.together or not self._open:
            return
        states, most = list(self._open.values()), self._rule.most
        for state, samples in zip(states, in_common([state.values for state in states]), strict=True):
            state.settled = (state.settled and most is None) or self._rule.decide(samples).stop
        if all(state.settled for state in states):
            self._close_all(None)
        elif most is not None and min(state.good for state in states) >= most + ATTEMPTS:
            self._close_all("too few blocks in which all had a value")

    def _arms(self) -> tuple[list[float], list[float]]:
        """A's and B's values, block by block."""
        a, b = (self._states[cell.id] for cell in self._plan.cells)
        return pairs_of(a.cell.metrics[0].name, a.replicates, b.replicates)

    @property
    def comparison(self) -> Comparison | None:
        """B against A as it stands; None where nothing is compared."""
        return self._plan.versus.compare(*self._arms()) if self._plan.versus else None

    def _ends_alone(self, cell: Cell, state: CellState) -> bool:
        """Whether this cell has been measured long enough, and no other has a say in it."""
        if self._plan.versus is not None or cell.wave is not None or (self._plan.together and state.values):
            return False
        return self._long_enough(state)

    def _long_enough(self, state: CellState) -> bool:
        """By the rule, over the replicates that have a value.

        A probe that never has one (all datagrams lost) gets the least number of tries; one that sometimes has none,
        `ATTEMPTS` more than the rule's most.
        """
        if self._plan.endless:
            return False
        main, *others = state.cell.metrics
        samples = samples_of(main.name, state.replicates)
        rule = self._plan.rule_of(state.cell, main)
        if rule.most is not None and state.good >= rule.most + ATTEMPTS:
            return True
        if not (rule.decide(samples).stop if samples else state.good >= rule.least):
            return False
        awaited = others if state.cell.program == NODE else []  # each is a figure of its own in the survey's table
        counts = (len(samples_of(metric.name, state.replicates)) for metric in awaited)
        return not any(0 < count < rule.least for count in counts)

    def _close(self, cell: Cell, *, failure: str | None = None, cut: str | None = None) -> None:
        """Turn what the cell has into records."""
        state = self._open.pop(cell.id)
        self._ahead -= self._to_next_look(state)
        self._at_most -= self._to_last_look(state)
        records = records_of(
            cell, state.replicates, self._plan, self._sink.id, at=utc_now(), failure=failure, stopped=cut,
            bottleneck=self._explain(cell, state.replicates),
        )  # fmt: skip
        for record in records:
            if cut and record.reason:
                record.reason = f"{record.reason}; {cut}"
            self._sink.append(record)
        self._records.extend(records)
        if self._plan.versus is None and cell.wave is None:
            state.replicates = []  # they are on disk; a plan over 10,000 nodes has half a million

    def _close_all(self, why: str | None) -> None:
        for state in list(self._open.values()):
            self._close(state.cell, cut=why)

    def _to_next_look(self, state: CellState) -> int:
        """Replicates until a cell's next look: their sum is kept, since a plan has as many waves as it has rounds."""
        looks = self._plan.versus.looks if self._plan.versus else self._plan.all_looks
        return next((look for look in looks if look > state.good), state.good) - state.good

    def _to_last_look(self, state: CellState) -> int:
        """Replicates until a cell's last look, where its interval never gets narrow enough before."""
        return max(0, (self._plan.versus.looks if self._plan.versus else self._plan.all_looks)[-1] - state.good)

    def _report(self, wave: Sequence[Cell]) -> None:
        now = ", ".join(f"{c.subject} {c.what}" for c in wave[:2]) + (" …" if len(wave) > 2 else "")
        left, most = (self._seconds_for(replicates) for replicates in (self._ahead, self._at_most))
        self._watch.on_progress(Progress(self._done, self._done + self._ahead, left, now, most))

    def _seconds_for(self, replicates: int) -> float | None:
        """What so many take at the pace so far, and within the budget; None before the first."""
        if not self._done:
            return None
        spent = self._clock() - self._began
        seconds = spent / self._done * replicates
        return seconds if self._plan.budget is None else min(seconds, max(0.0, self._plan.budget - spent))
