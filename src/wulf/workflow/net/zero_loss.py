"""RFC 2544's throughput: the fastest rate of datagrams at which none is lost, for each length of frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.net.zero_loss import (
    ANY_WIDTH,
    FRAMES,
    HEADERS,
    KIND,
    TRIAL,
    TRIALS,
    Bracket,
    Rate,
    record_of,
    sentence,
)
from wulf.store.run import utc_now
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.net.one_pair import placed


class ZeroLoss(Study):
    """The fastest rate without a loss between two nodes, by halving, all lengths beside each other.

    Parameters
    ----------
    cell
        A UDP stream that measures `METRICS`; its `bytes` and `rate` are replaced.
    """

    def __init__(self, given: Conditions, cell: Cell, frames: Sequence[int] = FRAMES) -> None:
        super().__init__(given)
        self.effort = replace(given.effort, replicates=TRIALS, width=ANY_WIDTH, watch=False)
        self._cell = cell
        self._brackets = {frame: Bracket(frame) for frame in frames}
        self._seen = 0

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """Each length as fast as it goes, where both nodes answered."""
        there = placed([self._cell], connected)
        if not there:
            return ()
        self._cell = there[0]
        return self._asked(dict.fromkeys(self._brackets), 0)

    def _asked(self, rates: Mapping[int, float | None], first: int) -> list[Cell]:
        """A cell for each length of frame and its rate [B/s]; None: as fast as it goes."""
        return [
            replace(
                self._cell, id=number, phase=TRIAL, about={"frame": frame},
                params={**self._cell.params, "bytes": frame - HEADERS, "rate": rate},
            )
            for number, (frame, rate) in enumerate(rates.items(), first)
        ]  # fmt: skip

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """The next rate of each length that is not known yet."""
        self._learn(records)
        tolerance = self.given.effort.width
        rates = {one.frame: rate for one in self._brackets.values() if (rate := one.next_rate(tolerance)) is not None}
        return self._asked(rates, first)

    def _learn(self, records: Sequence[Record]) -> None:
        """What the rates that were measured since the last time did."""
        new, self._seen = records[self._seen :], len(records)
        lost = {_tried(record): record.samples for record in new if record.metric == "loss"}
        for record in new:
            if record.metric != "sent":
                continue
            key, bracket = _tried(record), self._brackets[int(record.params["frame"] or 0)]
            if not record.samples or not lost.get(key):
                bracket.dead = record.reason or "nobody told what was lost"
                continue
            seconds = float(record.params["seconds"] or 0.0)
            rate, asked = record.value or 0.0, key[1]
            datagrams = sum(record.samples) * seconds / bracket.bytes
            bracket.learn(Rate(rate if asked is None else asked, rate, datagrams), lost=any(lost[key]))

    def judge(self, records: Sequence[Record]) -> Judgement:
        """The rate of each length as a record, and all in words."""
        self._learn(records)
        brackets = list(self._brackets.values())
        found = [
            record_of(self._cell, one, self.given.writer.id, utc_now()) for one in brackets if one.rounds or one.dead
        ]
        text = " ".join(sentence(one) for one in brackets if one.rounds or one.dead)
        finding = Finding(kind=KIND, severity=Severity.INFO, subject=self._cell.subject, text=text)
        return found, [finding] if found else []


def _tried(record: Record) -> tuple[int, float | None]:
    """Length of the frame and the rate that was asked for."""
    rate = record.params.get("rate")
    return int(record.params["frame"] or 0), None if rate is None else float(rate)
