"""Rates measured anew in idle time: a few at a time, never on a busy host, and for a share of one core at most.

What was spent is kept as an account: it earns a share of the time that passes, up to a day's worth, and pays the CPU
seconds of everything that a refresh does. A batch is begun when the account holds what the costliest of late has taken,
so that the average keeps below the share from the first hour on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from wulf.core.durations import DAY
from wulf.rates.rate import Rate, unix_time

MARGIN = 0.95
"""Of the share, what is planned with: a batch may cost more than any before it."""

FIRST_COST = 30.0
"""CPU seconds that a batch is taken to cost before one has been measured."""

FORGETTING = 0.2
"""How fast the expected cost follows batches that cost less; it follows dearer ones at once."""

AGAIN = 3600.0
"""Seconds after which rates whose measuring failed have their turn again: what failed may be mended by then."""

BATCH = 8
"""Rates measured by one child process: what is lost when the load rises meanwhile."""


@dataclass(frozen=True)
class Account:
    """CPU seconds earned and not yet spent, at a Unix time; `tried`: rate → from when an attempt at it counts."""

    at: float
    credit: float = 0.0
    cost: float = FIRST_COST
    spent: float = 0.0
    since: float = 0.0
    tried: Mapping[str, float] = field(default_factory=dict)

    def earned(self, now: float, share: float) -> Account:
        """With what the time since has earned. A clock that was set back earns nothing; one set forward, a day's."""
        gain = share * MARGIN * max(0.0, now - self.at)
        return replace(self, at=now, credit=min(self.credit + gain, share * MARGIN * DAY))

    def paid(self, seconds: float) -> Account:
        """Without the CPU seconds spent; the credit may fall below 0, and is then earned first."""
        return replace(self, credit=self.credit - seconds, spent=self.spent + seconds)

    def settled(self, reserved: float, seconds: float, names: Sequence[str], tried: float) -> Account:
        """After a batch: what was reserved for it becomes what it cost, and its rates count as tried at that time."""
        expected = max(seconds, self.cost + FORGETTING * (seconds - self.cost))
        paid = self.paid(seconds - reserved)
        return replace(paid, cost=expected, tried={**self.tried, **dict.fromkeys(names, tried)})


@dataclass(frozen=True)
class Limits:
    """What a refresh keeps within.

    Parameters
    ----------
    max_load
        Load per CPU above which nothing is measured.
    share
        Of one core, on average: 0.01.
    max_age
        Seconds; younger rates are not measured again.
    seconds
        After so long no further batch is begun; the first always is, however long a slow host takes to get there.
    """

    max_load: float = 0.1
    share: float = 0.01
    max_age: float = 7 * DAY
    seconds: float = 300.0


class Why(StrEnum):
    """Why a refresh ended."""

    FRESH = "every rate is young enough"
    BUSY = "the load is above the limit"
    STOPPED = "the load rose while rates were measured: they were given up"
    SPENT = "the share of the CPU is spent for now"
    NEVER = "a batch costs more than a day's share: raise --share"
    TIME = "enough for one time"
    FAILED = "the measuring program failed"


@dataclass(frozen=True)
class Batch:
    """What measuring a few rates took: CPU seconds, children's included; and why it went no further, if so."""

    cpu_seconds: float
    ended: Why | None = None


@dataclass(frozen=True)
class RefreshOutcome:
    """What a refresh did."""

    why: Why
    measured: tuple[str, ...]
    account: Account


class RefreshHost(Protocol):
    """The machine, as a refresh sees it."""

    def now(self) -> float:
        """Unix time."""

    def load(self, *, first: bool) -> float:
        """Load per CPU; `first`: before anything was measured, so that the last minute's average says something."""

    def measure(self, names: Sequence[str], max_load: float) -> Batch:
        """Measure and publish these rates; give up within a second where the load rises above `max_load`."""

    def overhead(self) -> float:
        """CPU seconds of this process that no batch has counted, since it was last asked."""

    def save(self, account: Account) -> None:
        """Keep the account for the next time."""


def stale(
    wanted: Sequence[str], rates: Mapping[str, Rate], tried: Mapping[str, float], max_age: float, now: float
) -> list[str]:
    """Those of the rates to measure anew, the longest unmeasured first.

    One that was tried and gave nothing better counts from then: it must not keep all others from their turn.
    """

    def last(name: str) -> float:
        measured = unix_time(rates[name].at) if name in rates and rates[name].provenance == "measured" else 0.0
        return max(measured, tried.get(name, 0.0))

    return sorted((name for name in wanted if now - last(name) > max_age), key=last)


def refresh(
    host: RefreshHost,
    wanted: Callable[[], Sequence[str]],
    rates: Callable[[], Mapping[str, Rate]],
    limits: Limits,
    account: Account,
) -> RefreshOutcome:
    """Measure stale rates until there are none, the host is busy, the share is spent, or it is enough for one time.

    Parameters
    ----------
    wanted, rates
        The rates there could be, and those there are; asked for once load and share allow anything at all, since to
        know them costs more than all the rest of a look.
    """
    began = host.now()
    measured: tuple[str, ...] = ()
    account = account.earned(began, limits.share)
    why = Why.BUSY if host.load(first=True) > limits.max_load else _lack_of_credit(limits, account)
    names = stale(wanted(), rates(), account.tried, limits.max_age, began) if why is None else []
    while why is None:
        account = account.earned(host.now(), limits.share).paid(host.overhead())
        why = _reason_to_end(host, names, limits, account, host.now() - began if measured else 0.0)
        if why is None:
            batch, names = names[:BATCH], names[BATCH:]
            account, why = _one_batch(host, batch, limits, account)
            measured = measured if why else (*measured, *batch)
    account = account.paid(host.overhead())
    host.save(account)
    return RefreshOutcome(why, measured, account)


def _lack_of_credit(limits: Limits, account: Account) -> Why | None:
    if account.cost > limits.share * MARGIN * DAY:
        return Why.NEVER
    return Why.SPENT if account.credit < account.cost else None


def _reason_to_end(
    host: RefreshHost, names: Sequence[str], limits: Limits, account: Account, seconds: float
) -> Why | None:
    if not names:
        return Why.FRESH
    if lack := _lack_of_credit(limits, account):
        return lack
    if seconds > limits.seconds:
        return Why.TIME
    return Why.BUSY if host.load(first=False) > limits.max_load else None


def _one_batch(host: RefreshHost, names: Sequence[str], limits: Limits, account: Account) -> tuple[Account, Why | None]:
    """Pay for a batch beforehand, so that one that is killed has been paid for; then what it really cost."""
    reserved = account.cost
    account = account.paid(reserved)
    host.save(account)
    batch = host.measure(names, limits.max_load)
    tried = () if batch.ended is Why.STOPPED else names
    now = host.now()
    counts_from = now - max(limits.max_age - AGAIN, 0.0) if batch.ended is Why.FAILED else now
    account = account.settled(reserved, batch.cpu_seconds, tried, counts_from)
    host.save(account)
    return account, batch.ended
