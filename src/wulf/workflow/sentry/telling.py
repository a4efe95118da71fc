"""Whoever is to be told is told, and again later where that fails; beside the measuring, which never waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.sentry.messages import key_of
from wulf.sentry.plan import SentryPlan
from wulf.sentry.state import SentryState
from wulf.workflow.sentry.channels import Send, channels
from wulf.workflow.sentry.channels.untold import Untold
from wulf.workflow.sentry.drain import drain

FIRST, LONGEST = 30.0, 3600.0
"""Seconds until a channel is tried again after it failed once, and at most."""

Say = Callable[[str], None]


def tell_all(
    state: SentryState, plan: SentryPlan, now: float, say: Say, sends: Mapping[str, Send] | None = None
) -> None:
    """Tell what is due; a channel that fails is left alone for the rest of this pass."""
    known, failed = channels() if sends is None else sends, set()
    for one in state.due(now):
        if one.channel in failed:
            continue
        if one.channel not in known or not getattr(plan.tell, one.channel, None):
            state.delivered(one)  # the plan asks for it no longer
            continue
        try:
            known[one.channel](one, plan.tell, key_of(one, str(state.path.absolute())))
        except Untold as error:
            failed.add(one.channel)
            state.undelivered(one, now + pause(one.attempts), str(error))
            say(f"{one.channel}: {error}; tried again in {pause(one.attempts):.0f} s")
            continue
        state.delivered(one)


def pause(attempts: int) -> float:
    """Seconds until the next attempt after so many."""
    return float(min(LONGEST, FIRST * 2 ** min(attempts, 20)))


def tell_and_drain(path: Path, plan: SentryPlan, now: float, say: Say) -> None:
    """A whole pass, with a connection of its own to the state."""
    with SentryState(path) as state:
        tell_all(state, plan, now, say)
        if plan.tell.drain:
            try:
                for one in drain(state, plan.tell):
                    say(f"Slurm: {one.node} {'is drained' if one.reason else 'is resumed'}: incident {one.incident}")
            except UsageError as error:
                say(f"Slurm: {error.what}")


class Teller:
    """Passes on a thread of their own, one at a time."""

    def __init__(self, path: Path, plan: SentryPlan, clock: Callable[[], float], say: Say) -> None:
        self._path, self._plan, self._clock, self._say = path, plan, clock, say
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Begin a pass, unless one is under way."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._pass, name="wulf-teller", daemon=True)
            self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the pass that is under way."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _pass(self) -> None:
        tell_and_drain(self._path, self._plan, self._clock(), self._say)
