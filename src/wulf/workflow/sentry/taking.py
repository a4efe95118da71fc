"""A measurement that has ended is taken in: figures, what they come to, incidents, whom to tell; in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from wulf.core.durations import DAY
from wulf.core.errors import FOUND, INCOMPLETE, OK
from wulf.core.findings import Severity
from wulf.sentry import judging
from wulf.sentry.choosing import after
from wulf.sentry.harvest import LOST, Harvest, hardware, of_checks, of_run
from wulf.sentry.incident import Kind, Observation, What, closed, seen
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.state import Measurement, SentryState, Sign
from wulf.store.reading import StoreError
from wulf.store.run import read_run
from wulf.workflow.sentry.channels import wanted
from wulf.workflow.sentry.children import CHECK, COMPLAINED, SAID, End

IN_A_ROW = 2
"""Times that a node could not be reached before that is told."""

DONE, FAILED, PREEMPTED, GONE = "done", "failed", "preempted", "lost"


@dataclass(frozen=True)
class Result:
    """What came of a measurement: its state, why it did not succeed, and what there is to take in."""

    state: str
    reason: str = ""
    harvest: Harvest = field(default_factory=lambda: Harvest(0.0))


def result_of(
    one: Measurement, measure: Measure, end: End | None, known: Mapping[str, Mapping[str, str]], now: float
) -> Result:
    """What a measurement that has ended left.

    Parameters
    ----------
    end
        How its command ended; None: nobody saw it, for the sentry was killed. Then only what is whole counts.
    known
        Node → facts of when it was last measured.
    """
    folder = Path(one.run)
    if end is not None and end.late:
        return Result(FAILED, "it took too long, and was ended")
    try:
        found = _harvest(one, measure, end, known, now)
    except (StoreError, ValueError, LookupError) as error:  # none of this wulf's: the watch goes on
        return Result(FAILED, f"its run can't be taken in: {error}")
    if found is None:
        if end is None:
            return Result(GONE, "the sentry ended before it")
        return Result(FAILED, last_words(folder) or f"it ended with {end.status}")
    if not found.measured:
        why = next(iter(found.unreached.values()), "") or last_words(folder) or "it has no figures"
        return Result(FAILED, why, found)
    return Result(DONE, "", found)


def _harvest(
    one: Measurement, measure: Measure, end: End | None, known: Mapping[str, Mapping[str, str]], now: float
) -> Harvest | None:
    """What there is of a measurement that ran to its end; None where it did not."""
    folder = Path(one.run)
    if end is not None and end.status not in (OK, FOUND, INCOMPLETE):
        return None
    if measure.command[0] == CHECK:
        text = (folder / SAID).read_text(errors="replace") if end is not None and (folder / SAID).is_file() else ""
        return of_checks(text.splitlines(), one.nodes, now) if text or end is not None else None
    if not (folder / "run.json").is_file():
        return None
    run = read_run(folder)
    return of_run(run, measure, one.nodes, known) if run.meta.get("state") == "complete" else None


def last_words(folder: Path) -> str:
    """The line that says why a command failed."""
    lines: list[str] = []
    with suppress(OSError):
        lines = (folder / COMPLAINED).read_text(errors="replace").splitlines()
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return (errors or [line for line in lines if line.strip()] or [""])[-1][:500]


def take_in(
    state: SentryState, plan: SentryPlan, one: Measurement, result: Result, *, seconds: float, now: float
) -> bool:
    """Take a measurement in; False, and nothing is done, where that has been done before.

    Parameters
    ----------
    seconds
        Node-seconds that it took.
    """
    with state.transaction():
        if not any(each.id == one.id for each in state.running()):
            return False
        found = result.harvest
        unreachable = _unreachable(state, found.unreached, now)  # asked before this run counts as measured
        known = state.facts(found.facts)
        state.keep_facts(found.facts)
        state.classify({node: hardware({**known.get(node, {}), **own}) for node, own in found.facts.items()})
        for info in found.metrics:
            state.metric(info)
        state.add(one.id, found.figures)
        state.finish(one.id, result.state, now, seconds, reason=result.reason, measured=found.measured)
        state.note_signs([*found.signs, *unreachable[0]])
        judgement = judging.judged(state, plan, found.figures, found.at) if found.figures else judging.Judgement()
        observations = [*found.observations, *unreachable[1], *judgement.observations]
        opened = _settle(
            state, observations, [*found.mended, *judgement.mended], now, run=one.run, channels=wanted(plan.tell)
        )
        worse = {each.node for each in opened if each.severity is Severity.BAD and each.kind is not Kind.UNREACHABLE}
        state.believe(after(state.nodes(), judgement.evidence, worse, now))
    return True


def note_unreached(state: SentryState, plan: SentryPlan, unreached: Mapping[str, str], now: float) -> None:
    """Nodes that did not even answer whether they are idle; why, by node."""
    with state.transaction():
        signs, observations = _unreachable(state, unreached, now)
        state.note_signs(signs)
        _settle(state, observations, (), now, run="", channels=wanted(plan.tell))


def _settle(
    state: SentryState, observations: Sequence[Observation], mended: Sequence[tuple[str, str, str]], now: float,
    *, run: str, channels: Sequence[str],
) -> list[Observation]:  # fmt: skip
    """Open, keep and close incidents: those that were opened; one that lasts is no other fault."""
    opened = []
    for one in observations:
        incident, what = seen(state.newest_incident(*one.key), one, now, run)
        state.keep(incident, what, now, channels)
        opened += [one] if what is not None else []
    for key in mended:
        known = state.newest_incident(*key)
        if known is not None and known.is_open:
            state.keep(closed(known, now), What.CLOSED, now, channels)
    return opened


def _unreachable(state: SentryState, unreached: Mapping[str, str], now: float) -> tuple[list[Sign], list[Observation]]:
    """Signs of nodes that could not be measured, and those of which it is told: after some times in a row."""
    signs = [Sign(node, now, LOST, 1.0, why) for node, why in unreached.items()]
    rows = lost_in_a_row(state, now)
    told = []
    for sign in signs:
        times, since = rows.get(sign.node, (0, now))
        if times + 1 >= IN_A_ROW:
            text = f"{sign.node} could not be measured {times + 1} times in a row: {sign.text}"
            told.append(
                Observation(
                    Kind.UNREACHABLE, sign.node, "", Severity.BAD, since, now, text, f"is it up? try: ssh {sign.node}"
                )
            )
    return signs, told


def lost_in_a_row(state: SentryState, now: float) -> dict[str, tuple[int, float]]:
    """Node → how often it could not be measured since it last was, within a day, and when that began."""
    last = state.last_seen()
    found: dict[str, tuple[int, float]] = {}
    for sign in state.signs(now - DAY):
        if sign.name == LOST and sign.at > last.get(sign.node, 0.0):
            times, since = found.get(sign.node, (0, sign.at))
            found[sign.node] = times + 1, since
    return found
