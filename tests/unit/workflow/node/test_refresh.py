"""Idle-time refresh, over a simulated week: the share is kept, the load limit too, and every rate gets its turn."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate

import pytest

from tests.unit.rates.making import LATENCY, SIZE
from wulf.rates.rate import Rate
from wulf.workflow.node.refresh import AGAIN, BATCH, DAY, Account, Batch, Limits, RefreshOutcome, Why, refresh, stale

START = 1_770_000_000.0
WANTED = [f"rate.{number}" for number in range(150)]
PERIOD = 900.0
"""Of the timer."""


def at(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Simulated:
    """A machine whose clock goes on only as it is used; implements `wulf.workflow.node.refresh.RefreshHost`."""

    costs: Callable[[], float]
    idle: Callable[[float], bool] = lambda _: True
    failing: frozenset[str] = frozenset()
    clock: float = START
    spent: float = 0.0
    rates: dict[str, Rate] = field(default_factory=dict)
    saved: list[Account] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.clock

    def load(self, *, first: bool) -> float:
        self.clock += 0.4
        return 0.0 if self.idle(self.clock) else 1.0

    def measure(self, names: Sequence[str], max_load: float) -> Batch:
        assert len(names) <= BATCH
        assert self.idle(self.clock)
        self.begun.append(self.clock)
        cost, stopped = self.costs(), False
        for _ in range(int(cost / 0.4)):
            self.clock += 0.4
            if not self.idle(self.clock):
                stopped = True
                break
        self.spent += cost
        if not stopped:
            self.rates |= {n: replace(LATENCY, name=n, at=at(self.clock)) for n in names if n not in self.failing}
        return Batch(cost, Why.STOPPED if stopped else None)

    def overhead(self) -> float:
        self.spent += 0.3
        return 0.3

    def save(self, account: Account) -> None:
        self.saved.append(account)


def week(host: Simulated, limits: Limits, days: float = 7.0) -> list[RefreshOutcome]:
    """The timer fires every quarter of an hour; the account is what the last time saved."""
    account, done = Account(at=START, since=START), []
    for number in range(int(days * DAY / PERIOD)):
        host.clock = max(host.clock, START + number * PERIOD)
        done.append(refresh(host, lambda: WANTED, lambda: host.rates, limits, account))
        account = host.saved[-1]
        assert account.spent == pytest.approx(host.spent), "everything that is spent is in the account"
        assert host.spent <= limits.share * (host.clock - START) + 45 + 0.6 * (number + 1), "within a batch, always"
    return done


@pytest.mark.parametrize("share", [0.01, 0.002])
def test_the_share_is_kept_over_a_week_whatever_a_batch_costs(share: float) -> None:
    dice = random.Random(7)
    host = Simulated(lambda: dice.choice((2.0, 5.0, 8.0, 40.0)))
    week(host, Limits(share=share, max_age=DAY / 10))
    assert host.spent <= share * 7 * DAY
    assert host.spent >= 0.8 * share * 7 * DAY, "what may be used is used, while there are stale rates"


def test_every_rate_is_measured_anew_in_its_time() -> None:
    host = Simulated(lambda: 6.0, failing=frozenset(WANTED[:5]))
    done = week(host, Limits(max_age=2 * DAY))
    youngest = START + 7 * DAY - 2.5 * DAY
    assert set(host.rates) == set(WANTED[5:])
    assert all(rate.at > at(youngest) for rate in host.rates.values())
    assert done[-1].why is Why.FRESH
    assert host.spent < 0.005 * 7 * DAY, "rates that can't be measured are not tried all the time"


def test_nothing_is_begun_on_a_busy_machine_and_measuring_ends_when_it_becomes_busy() -> None:
    dice = random.Random(3)
    changes = list(accumulate((dice.uniform(5, 900) for _ in range(1000)), initial=START))

    def idle(now: float) -> bool:
        return bisect(changes, now) % 2 == 1

    host = Simulated(lambda: 12.0, idle)
    done = week(host, Limits(max_age=DAY), days=3)
    assert host.begun
    assert all(idle(moment) for moment in host.begun)
    assert {Why.BUSY, Why.STOPPED} <= {one.why for one in done}


def test_a_busy_machine_costs_a_look() -> None:
    host = Simulated(lambda: 1.0, lambda _: False)
    done = week(host, Limits(), days=1)
    assert {one.why for one in done} == {Why.BUSY}
    assert host.begun == []


def test_what_was_given_up_is_tried_first_next_time() -> None:
    host = Simulated(lambda: 4.0, idle=lambda now: now < START + 1)
    account = Account(at=START, credit=100.0)
    done = refresh(host, lambda: WANTED, lambda: {}, Limits(), account)
    assert (done.why, done.measured, done.account.tried) == (Why.STOPPED, (), {})
    assert done.account.credit < 100 - 4, "it was paid for all the same"


def test_a_batch_is_paid_for_before_it_begins() -> None:
    class Killed(Simulated):
        def measure(self, names: Sequence[str], max_load: float) -> Batch:
            raise KeyboardInterrupt

    host = Killed(lambda: 1.0)
    with pytest.raises(KeyboardInterrupt):
        refresh(host, lambda: WANTED, lambda: {}, Limits(), Account(at=START, credit=100.0, cost=30.0))
    assert host.saved[-1].credit == pytest.approx(70, abs=1)


def test_a_program_that_fails_ends_it_and_has_its_turn_again_after_an_hour() -> None:
    class Failing(Simulated):
        def measure(self, names: Sequence[str], max_load: float) -> Batch:
            return Batch(2.0, Why.FAILED)

    limits, account = Limits(), Account(at=START, credit=100.0)
    done = refresh(Failing(lambda: 1.0), lambda: WANTED, lambda: {}, limits, account)
    assert (done.why, done.measured) == (Why.FAILED, ())
    tried = done.account.tried
    assert set(tried) == set(WANTED[:BATCH])
    assert stale(WANTED[:BATCH], {}, tried, limits.max_age, START + 0.9 * AGAIN) == []
    assert stale(WANTED, {}, tried, limits.max_age, START + 1.1 * AGAIN) == [*WANTED[BATCH:], *WANTED[:BATCH]]


@pytest.mark.parametrize(("credit", "idle"), [(100.0, False), (0.0, True)])
def test_what_would_be_measured_is_only_asked_where_anything_may_be(credit: float, idle: bool) -> None:
    def never() -> list[str]:
        raise AssertionError("this is the costly part")

    host = Simulated(lambda: 1.0, lambda _: idle)
    done = refresh(host, never, lambda: {}, Limits(), Account(at=START, credit=credit))
    assert done.why in (Why.BUSY, Why.SPENT)


def test_too_dear_for_a_day_is_said() -> None:
    host = Simulated(lambda: 1.0)
    done = refresh(host, lambda: WANTED, lambda: {}, Limits(share=0.001), Account(at=START, credit=50.0, cost=100.0))
    assert done.why is Why.NEVER


def test_it_ends_in_time() -> None:
    host = Simulated(lambda: 20.0)
    done = refresh(host, lambda: WANTED, lambda: host.rates, Limits(seconds=50), Account(at=START, credit=800.0))
    assert done.why is Why.TIME
    assert len(done.measured) == 3 * BATCH


def test_a_slow_host_that_is_late_for_its_first_batch_measures_it_all_the_same() -> None:
    host = Simulated(lambda: 2.0)

    def slowly() -> list[str]:
        host.clock += 10
        return WANTED

    done = refresh(host, slowly, lambda: host.rates, Limits(seconds=1.0), Account(at=START, credit=500.0, since=START))
    assert (done.why, len(done.measured)) == (Why.TIME, BATCH)


def test_a_clock_that_jumps_earns_nothing_or_a_day() -> None:
    account = Account(at=START, credit=1.0)
    assert account.earned(START - 1e6, 0.01).credit == 1.0
    assert account.earned(START + 1e9, 0.01).credit == pytest.approx(0.01 * DAY, rel=0.06)


def test_the_longest_unmeasured_comes_first() -> None:
    now = START
    rates = {
        "old": replace(SIZE, name="old", at=at(now - 9 * DAY)),
        "older": replace(SIZE, name="older", at=at(now - 20 * DAY)),
        "young": replace(SIZE, name="young", at=at(now - DAY)),
        "reported": replace(SIZE, name="reported", at=at(now), provenance="reported"),
    }
    wanted = ["young", "old", "older", "reported", "missing", "tried"]
    found = stale(wanted, rates, {"tried": now - 8 * DAY}, 7 * DAY, now)
    assert found == ["reported", "missing", "older", "old", "tried"]
