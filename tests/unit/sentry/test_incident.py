"""The life of an incident: told once, closed when mended, opened again, told as flapping once."""

from __future__ import annotations

from dataclasses import replace

from wulf.core.findings import Severity
from wulf.sentry.incident import (
    DAY,
    FLAPPING_WITHIN,
    Kind,
    Observation,
    State,
    What,
    acknowledged,
    closed,
    gravest,
    seen,
)

SLOW = Observation(Kind.CHANGED, "n3", "memory.copy", Severity.BAD, 100.0, 200.0, "n3 copies 12 % less.", ratio=0.88)


def test_what_is_new_is_opened_and_what_lasts_is_told_once() -> None:
    first, what = seen(None, SLOW, 200.0, "run-1")
    assert (what, first.state, first.openings, first.run) == (What.OPENED, State.OPEN, (200.0,), "run-1")
    later, what = seen(first, replace(SLOW, since=250.0, until=300.0, ratio=0.8), 300.0)
    assert what is None
    assert (later.seen_at, later.what.ratio) == (300.0, 0.8)
    assert (later.what.since, later.what.until) == (100.0, 200.0), "when it changed is best known at first"


def test_who_acknowledges_is_kept_and_it_stays_open() -> None:
    one, _ = seen(None, SLOW, 200.0)
    taken = acknowledged(one, 210.0, "ada", "module ordered")
    assert (taken.state, taken.by, taken.note, taken.is_open) == (State.ACKNOWLEDGED, "ada", "module ordered", True)
    again, what = seen(taken, SLOW, 220.0)
    assert (what, again.state) == (None, State.ACKNOWLEDGED)


def test_what_comes_back_soon_is_the_same_incident_and_the_third_time_flapping() -> None:
    told, one, at = [], None, 0.0
    for _ in range(4):
        one, what = seen(one, SLOW, at)
        told.append(what)
        one = closed(one, at + DAY)
        at += 2 * DAY
    assert told == [What.OPENED, What.REOPENED, What.FLAPPING, What.REOPENED]
    assert one is not None
    assert one.is_flapping


def test_what_comes_back_after_long_is_another_incident() -> None:
    one, _ = seen(None, SLOW, 0.0)
    other, what = seen(replace(closed(one, DAY), id=7), SLOW, FLAPPING_WITHIN + DAY)
    assert (what, other.id, other.openings) == (What.OPENED, 0, (FLAPPING_WITHIN + DAY,))


def test_acknowledgement_ends_with_the_incident() -> None:
    one = closed(acknowledged(seen(None, SLOW, 0.0)[0], 1.0, "ada", "seen"), 2.0)
    again, _ = seen(one, SLOW, 3.0)
    assert (again.by, again.note, again.closed_at, again.state) == ("", "", None, State.OPEN)


def test_open_and_bad_ones_come_first() -> None:
    bad, _ = seen(None, SLOW, 10.0)
    newer, _ = seen(None, SLOW, 20.0)
    better, _ = seen(None, replace(SLOW, severity=Severity.INFO), 30.0)
    over = closed(seen(None, SLOW, 40.0)[0], 50.0)
    assert gravest([over, better, bad, newer]) == [newer, bad, better, over]
