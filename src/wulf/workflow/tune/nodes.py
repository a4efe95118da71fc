"""The nodes of a campaign as the change protocol has them: changed, confirmed over new connections, taken back.

What a node does by itself (journal, watchdog, read-back) is the agent's. Here is what only a controller can do: it
opens a new session to each changed node, proves that the cluster's network carries full packets, and then confirms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from wulf.core.errors import NodeError, WulfError

ANSWER_SECONDS = 60.0
"""For a node to write or take back: a driver that makes its rings anew takes seconds for each."""

REACH_SECONDS = 12.0
"""For the cluster's network to come back after a change: a link that goes down takes some seconds to agree again."""

PAUSE_SECONDS = 0.2


class AgentSession(Protocol):
    """What is needed of a session of the agent (`wulf.cluster.session.Session`)."""

    @property
    def alive(self) -> bool: ...

    def call(self, op: str, **fields: Any) -> Any:
        """Ask; a future that fails with a NodeError."""

    def close_input(self) -> None:
        """Have it end, and go on."""


class OpenedAgents(Protocol):
    """What becomes of opening sessions (`wulf.cluster.launcher.Opened`)."""

    @property
    def sessions(self) -> Mapping[str, Any]: ...

    @property
    def failed(self) -> Mapping[str, NodeError]: ...


Open = Callable[[Sequence[str]], OpenedAgents]
"""New sessions of the agent on these nodes."""

Reach = Callable[[Sequence[str]], Mapping[str, str]]
"""Of these nodes those that the cluster's network does not reach, and why."""


class ChangeFailedError(WulfError):
    """Nodes that could not be changed, confirmed, or asked: node → why."""

    def __init__(self, what: str, nodes: Mapping[str, str]) -> None:
        said = "; ".join(f"{node}: {why}" for node, why in nodes.items())
        super().__init__(f"{what}: {said}", "`wulf tune status` shows what the nodes hold")
        self.nodes = dict(nodes)


class NotReachedError(ChangeFailedError):
    """After a change, nodes are not reached any more over the cluster's network."""


@dataclass(frozen=True)
class Leftover:
    """Something that was not taken back, and why."""

    node: str
    name: str
    place: str
    outcome: str
    text: str


class Nodes:
    """Open sessions of the agent on a campaign's nodes.

    Parameters
    ----------
    campaign, by
        Identifier, and who changes: the nodes' lock and journal hold both.
    confirm, lease
        Seconds after which a node takes back what is not confirmed, or whose controller is silent.
    reach
        Asked before a change is confirmed.
    """

    def __init__(
        self, names: Sequence[str], open_: Open, campaign: str, by: str, *,
        confirm: float, lease: float, reach: Reach = lambda _: {}, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip # clock, sleep and reach are injected
        self.names = tuple(names)
        self._open, self._reach = open_, reach
        self._campaign, self._by = campaign, by
        self._confirm, self._lease = confirm, lease
        self._clock, self._sleep = clock, sleep
        self._sessions: dict[str, AgentSession] = {}
        self._touched: set[str] = set()
        self.taken_back: set[tuple[str, str, str]] = set()
        """(node, setting, place) that the last `revert` dealt with."""
        self._locked: set[str] = set()

    def open(self) -> None:
        """Sessions on all nodes.

        Raises
        ------
        ChangeFailedError
            Some can't be opened: a campaign needs all its nodes.
        """
        self._sessions = dict(self._fresh(self.names))

    def close(self) -> None:
        """End the sessions."""
        for session in self._sessions.values():
            session.close_input()

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """Ask all nodes; futures."""
        return {node: session.call(op, **fields) for node, session in self._sessions.items()}

    def read(self, wanted: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """What settings are: node → name → place → reading."""
        answers = self._all("settings", {node: {"read": list(wanted)} for node in self.names}, "can't read settings")
        return {node: answer["settings"] for node, answer in answers.items()}

    def apply(self, asked: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
        """Write, and confirm over new connections; returns node → what became of each write.

        Raises
        ------
        ChangeFailedError
            A node refused the change as a whole, died, or can't be reached afresh: `revert` is then due.
        """
        wanted = {node: list(settings) for node, settings in asked.items() if settings}
        if not wanted:
            return {}
        self._touched |= set(wanted)
        self._locked |= set(wanted)
        head = {"campaign": self._campaign, "by": self._by, "confirm": self._confirm, "lease": self._lease}
        told = {node: {**head, "settings": settings} for node, settings in wanted.items()}
        answers = self._all("change_apply", told, "can't be changed")
        fresh = self._fresh(tuple(wanted))
        self.settle(tuple(wanted))
        self._take(fresh)
        confirmed = {node: {"campaign": self._campaign, "change": answers[node]["change"]} for node in wanted}
        self._all("change_confirm", confirmed, "did not take the confirmation")
        return {node: answer["results"] for node, answer in answers.items()}

    def settle(self, names: Sequence[str]) -> None:
        """Wait until the cluster's network carries full packets between these nodes.

        Raises
        ------
        NotReachedError
            It does not, for longer than any link takes to come up.
        """
        until = self._clock() + min(REACH_SECONDS, self._confirm / 2)
        while silent := self._reach(names):
            if self._clock() >= until:
                raise NotReachedError("not reached over the cluster's network after a change", silent)
            self._sleep(PAUSE_SECONDS)

    def revert(self) -> list[Leftover]:
        """Take back whatever is open; returns what was not taken back.

        A node that does not answer gets one new session; one that can't be opened takes its changes back by itself.
        """
        self.taken_back = set()
        if not self._touched:
            return []
        told = {node: {"campaign": self._campaign} for node in sorted(self._touched)}
        answers, failed = self._ask("change_revert", told)
        again, lost = self._ask_anew("change_revert", {node: told[node] for node in failed})
        self._touched -= {*answers, *again}
        done = [(node, one) for node, answer in {**answers, **again}.items() for one in answer["results"]]
        self.taken_back = {(node, str(one["name"]), str(one.get("place", ""))) for node, one in done}
        left = [_leftover(node, one) for node, one in done if one["outcome"] != "reverted"]
        return left + [self._alone(node, why) for node, why in lost.items()]

    def recover(self) -> list[Leftover]:
        """Take back what this campaign left open when it was killed; returns what was not taken back."""
        self._touched |= set(self.names)
        return self.revert()

    def _alone(self, node: str, why: str) -> Leftover:
        text = (
            f"can't be asked ({why}); what is open there it takes back by itself within {self._lease:g} s of the last "
            f"word, `wulf tune revert {self._campaign}` asks it again"
        )
        return Leftover(node, "", "", "unknown", text)

    def keep(self, names: Mapping[str, Sequence[str]]) -> None:
        """What is written now stays: no silence takes it back any more. `names` are each node's own."""
        told = {node: {"campaign": self._campaign, "names": list(some)} for node, some in names.items() if some}
        self._all("change_keep", told, "did not keep the changes")
        self._touched.clear()

    def end(self) -> dict[str, str]:
        """Release the nodes' locks; returns those that can't be asked."""
        _, failed = self._ask("change_end", {node: {"campaign": self._campaign} for node in sorted(self._locked)})
        self._locked.clear()
        return failed

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Tell the nodes every third of the lease that the controller is still there."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(self._lease / 3):
                self._ask("change_renew", {node: {"campaign": self._campaign} for node in sorted(self._touched)})

        thread = threading.Thread(target=renew, name="wulf-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _fresh(self, names: Sequence[str]) -> Mapping[str, AgentSession]:
        """A new session on each of these nodes, or none at all."""
        opened = self._open(names)
        if opened.failed:
            for session in opened.sessions.values():
                session.close_input()
            raise ChangeFailedError("no new session", {node: error.what for node, error in opened.failed.items()})
        return opened.sessions

    def _take(self, fresh: Mapping[str, AgentSession]) -> None:
        """Go on with these sessions in the place of the old ones."""
        old = [self._sessions[node] for node in fresh if node in self._sessions]
        self._sessions = {**self._sessions, **fresh}
        for session in old:
            session.close_input()

    def _all(self, op: str, told: Mapping[str, Mapping[str, Any]], what: str) -> dict[str, dict[str, Any]]:
        answers, failed = self._ask(op, told, max(ANSWER_SECONDS, 2 * self._confirm))
        if failed:
            raise ChangeFailedError(what, failed)
        return answers

    def _ask(
        self, op: str, told: Mapping[str, Mapping[str, Any]], seconds: float = ANSWER_SECONDS
    ) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        """All at the same time: node → answer, and node → why there is none."""
        return ask_all(self._sessions, op, told, seconds)

    def _ask_anew(
        self, op: str, told: Mapping[str, Mapping[str, Any]]
    ) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        """As `_ask`, over new sessions; nodes that open none are among those without an answer."""
        if not told:
            return {}, {}
        opened = self._open(tuple(told))
        self._take(opened.sessions)
        answers, failed = self._ask(op, {node: told[node] for node in opened.sessions})
        return answers, failed | {node: error.what.removeprefix(f"{node}: ") for node, error in opened.failed.items()}


def ask_all(
    sessions: Mapping[str, AgentSession],
    op: str,
    told: Mapping[str, Mapping[str, Any]],
    seconds: float = ANSWER_SECONDS,
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Ask nodes at the same time, each in its own words: node → answer, and node → why there is none."""
    pending = {node: sessions[node].call(op, **fields) for node, fields in told.items() if node in sessions}
    answers, failed = {}, {node: "it has no session" for node in told if node not in sessions}
    for node, future in pending.items():
        try:
            answers[node] = future.result(timeout=seconds)
        except FutureTimeout:
            failed[node] = f"no answer to {op} within {seconds:g} s"
        except NodeError as error:
            failed[node] = error.what.removeprefix(f"{node}: ")
    return answers, failed


def _leftover(node: str, result: Mapping[str, Any]) -> Leftover:
    """What a node says of one setting that it did not take back."""
    now, wrote, before = (result.get(key) for key in ("now", "wrote", "before"))
    texts = {
        "changed-since": f"somebody else changed it meanwhile: it is {now!r}, wulf wrote {wrote!r}, it was {before!r}",
        "unconfirmed": f"can't be read back: it was {before!r}",
        "stale": f"the node was restarted since: it is {now!r}, it was {before!r}",
        "gone": f"its place is gone: it was {before!r}",
    }
    outcome = str(result["outcome"])
    text = texts.get(outcome, outcome) + (f" ({result['reason']})" if result.get("reason") else "")
    return Leftover(node, str(result["name"]), str(result.get("place", "")), outcome, text)
