"""`wulf links`: the traffic that is there, from polls of the nodes' sockets: nothing is sent, no packet captured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from wulf.cluster.access import access_to
from wulf.cluster.addresses import data_addresses
from wulf.cluster.inventory import Inventory
from wulf.cluster.session import Session
from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK, NodeError, UsageError
from wulf.core.findings import Finding, Severity
from wulf.findings.net.traffic import traffic_findings, unseen_findings
from wulf.findings.run import find
from wulf.measure.engine.collect import Replicate
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import NET
from wulf.measure.net.traffic import Polls, owners_of, traffic_losses, traffic_records
from wulf.store.run import Facts, RunWriter, read_run, utc_now
from wulf.workflow.engine.connect import facts_of
from wulf.workflow.engine.measuring import RunOutcome, reported

POLLS = 96
"""Of a short look: losses now and then can be told from bursts where polls are a few round trips apart."""

EVERY, FINEST = 10.0, 0.25
"""Seconds from one poll to the next, at most and at least, where nobody says."""

SHORTEST = 0.2
"""Seconds; more often would cost the nodes what they are watched for."""

MOST_COST, MOST_OWN = 0.01, 0.5
"""Shares of a core of a node, and of the controller's time, that polls may take: more, and they become rarer."""

PATIENCE = 10.0
"""Seconds that the nodes may take to answer a poll, all at the same time."""

Show = Callable[[int, list[Cell], list[Replicate]], None]
"""Told of each poll: its number, and cells and replicates that came of it."""


def unshown(_poll: int, _cells: list[Cell], _replicates: list[Replicate]) -> None:
    """Nobody looks on."""


@dataclass(frozen=True)
class Schedule:
    """How often the nodes are polled, and how long.

    Attributes
    ----------
    seconds
        From the first poll to the last.
    every
        From each to the next; None: so that there are `POLLS`, within `FINEST` and `EVERY`.
    """

    seconds: float
    every: float | None = None

    def __post_init__(self) -> None:
        if self.step < SHORTEST:
            raise UsageError(
                f"a poll every {self.step:.2g} s is too much for the nodes", f"at most one in {SHORTEST:g} s: --every"
            )
        if self.step > self.seconds:
            raise UsageError(
                f"there is no second poll within {self.seconds:g} s", "a longer --for, or a shorter --every"
            )

    @property
    def step(self) -> float:
        """Seconds from one poll to the next."""
        return self.every if self.every is not None else min(EVERY, max(FINEST, self.seconds / POLLS))

    @property
    def polls(self) -> int:
        """How many there are after the first, which only knows of the time before it."""
        return int(self.seconds / self.step + 1e-9)


@dataclass
class Followed:
    """What was seen so far; it stands here even after an interrupt. `every`: seconds from poll to poll, in the mean."""

    polls: Polls = field(default_factory=lambda: Polls({}))
    every: float = EVERY
    fingerprint: dict[str, Facts] = field(default_factory=dict)
    failed: dict[str, NodeError] = field(default_factory=dict)


@dataclass(frozen=True)
class Following:
    """How the traffic is followed.

    Attributes
    ----------
    by_program
        Tell connections apart by the program that has them, too.
    clock, sleep
        Seconds; injected so that tests are instant.
    """

    schedule: Schedule
    by_program: bool = False
    seed: int = 0
    say: Callable[[str], None] = lambda _: None
    show: Show = unshown
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def links(inventory: Inventory, writer: RunWriter, how: Following) -> RunOutcome:
    """Poll the nodes' sockets, judge, and leave a complete run on disk, with its page.

    An interrupt keeps what was seen: the outcome then has exit code 130.
    """
    found, state = Followed(), "complete"
    try:
        with access_to(inventory) as access, access.agents() as opened:
            found.failed = dict(opened.failed)
            how.say("reading facts")
            found.fingerprint = facts_of(opened.sessions)
            writer.write_json("fingerprint.json", found.fingerprint)
            found.polls = Polls(owners_of(_addresses(inventory, opened.sessions)))
            _poll(found, opened.sessions, writer, how)
    except KeyboardInterrupt:
        state = "interrupted"
    return _finished(found, writer, how.seed, state)


def _addresses(inventory: Inventory, sessions: Mapping[str, Session]) -> dict[str, list[str]]:
    """Node → every address that it has: its traffic goes over any."""
    asked = {node: session.call("addresses") for node, session in sessions.items()}
    found = {node: [address] for node, address in data_addresses(inventory, sessions).items()}
    deadline = time.monotonic() + PATIENCE
    for node, answer in asked.items():
        with suppress(NodeError, FutureTimeout):
            listed = answer.result(max(0.0, deadline - time.monotonic()))["addresses"]
            found.setdefault(node, []).extend(one["address"] for one in listed)
    return found


def _poll(found: Followed, sessions: Mapping[str, Session], writer: RunWriter, how: Following) -> None:
    """Poll all nodes at their times, while any answers; a poll that is late does not hurry those after it, and dear
    ones become rarer.
    """
    alive, began, schedule = dict(sessions), how.clock(), how.schedule
    due, number, until = began, 0, began + schedule.seconds
    while alive and due <= until + 1e-6:
        if (wait := due - how.clock()) > 0:
            how.sleep(wait)
        answers = _answers(alive, how.by_program, found.failed)
        answered, cells = how.clock(), len(found.polls.cells)
        taken = found.polls.take(answers, number - 1, utc_now())
        if len(found.polls.cells) > cells:
            writer.write_json("plan.json", _plan(found.polls.cells, how.seed, schedule.polls).to_json())
        for replicate in taken:
            writer.append_replicate(replicate)
        if number:
            how.show(number, found.polls.cells, taken)
            found.every = (due - began) / number
        pairs = sum(found.polls.cells[one["cell"]].program == NET for one in taken)
        how.say(f"{due - began:.0f} of {schedule.seconds:.0f} s: {pairs:,} figures of pairs")
        due += max(schedule.step, _cost(answers), (how.clock() - answered) / MOST_OWN)
        number += 1


def _cost(answers: Mapping[str, Mapping[str, Any]]) -> float:
    """Seconds that must lie between two polls for the dearest node to spend `MOST_COST` on them."""
    spent = [one["cpu_seconds"] for one in answers.values() if one["cpu_seconds"] is not None]
    return max(spent, default=0.0) / MOST_COST


def _answers(alive: dict[str, Session], by_program: bool, failed: dict[str, NodeError]) -> dict[str, dict[str, Any]]:
    """What the nodes say; one that does not answer has failed, and is asked no more."""
    asked = {node: session.call("sockets", by_program=by_program) for node, session in alive.items()}
    found, deadline = {}, time.monotonic() + PATIENCE
    for node, answer in asked.items():
        try:
            found[node] = answer.result(max(0.0, deadline - time.monotonic()))
        except FutureTimeout:
            failed[node] = NodeError(node, f"no answer to a poll within {PATIENCE:g} s", "is it overloaded?")
        except NodeError as error:
            failed[node] = error
        if node in failed:
            del alive[node]
    return found


def _plan(cells: Iterable[Cell], seed: int, polls: int) -> Plan:
    return Plan(tuple(cells), seed, looks=(max(1, polls),))


def _finished(found: Followed, writer: RunWriter, seed: int, state: str) -> RunOutcome:
    """The run with its records, what they come to, and its page."""
    polls = found.polls
    plan = _plan(polls.cells, seed, max(1, polls.blocks))
    records = traffic_records(plan, polls, writer.id, utc_now(), found.fingerprint)
    for record in records:
        writer.append(record)
    between = sum(cell.program == NET for cell in polls.cells)
    findings = [
        *find([], found.fingerprint, found.failed),
        *traffic_findings(records, found.fingerprint, traffic_losses(polls), polls.outside, found.every),
        *unseen_findings(polls.unseen, between),
    ]
    writer.write_findings(findings)
    code = exit_code_of(findings, state)
    writer.finish(state, exit_code=code)
    return reported(writer, RunOutcome(read_run(writer.path), code))


def exit_code_of(findings: Iterable[Finding], state: str) -> int:
    """130 interrupted, 3 where a node could not be asked, 1 where something stands out, else 0."""
    if state == "interrupted":
        return INTERRUPTED
    found = list(findings)
    if any(one.kind == "failed" for one in found):
        return INCOMPLETE
    return FOUND if any(one.severity is Severity.BAD for one in found) else OK
