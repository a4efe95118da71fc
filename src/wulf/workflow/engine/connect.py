"""From an inventory to open, measured-ready sessions: facts first, then the network probe on every node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from wulf.agent.cpulist import parse
from wulf.cluster.access import Access
from wulf.cluster.addresses import data_addresses
from wulf.cluster.launcher import Opened
from wulf.cluster.programs import Program, find_program
from wulf.cluster.session import Session
from wulf.core.errors import NodeError
from wulf.core.records import Param
from wulf.measure.engine.ends import ProbeSession, no_second_session
from wulf.measure.engine.probes import AGENT, Probe
from wulf.store.run import Facts

ABREAST = 256
"""Nodes up to which the probe is started while facts are read; with more, this machine has enough to do with either."""

FACTS_TIMEOUT = 30.0
"""Seconds for one node to read its facts; a node that hangs on a dead file system must not hold the others up."""


SecondSession = Callable[[str], Session]
"""Node → another session of the probe there; raises NodeError where it can't be opened."""


def _nothing() -> None:
    """Nobody is to be ended."""


@dataclass(frozen=True)
class Connected:
    """What a workflow measures with: made once, when the nodes have answered.

    Attributes
    ----------
    sessions
        Node → session of wulf-net.
    addresses
        Node → address for the probes.
    probe
        What the probe can do, in its own words; None where no node has one.
    fingerprint
        Node → facts; a node whose facts could not be read has the reason under `agent`.
    failed
        Node → why it can't be measured.
    notes
        What the user should know though it works, for instance where a node keeps its copy of the probe.
    second
        Opens another session on a node, once, when first asked for: a node that is measured with itself needs a
        process for each end, as two programs would be.
    others
        Further programs, as cells name them ("node") → node → session.
    probes
        What these can do.
    refused
        Further programs → node → why it could not be started there.
    settled
        To be called once all is there that asks the agents: those that nobody uses then end.
    """

    sessions: Mapping[str, Session]
    addresses: Mapping[str, str]
    probe: Probe | None = None
    fingerprint: Mapping[str, Facts] = field(default_factory=dict)
    failed: Mapping[str, NodeError] = field(default_factory=dict)
    notes: Sequence[str] = ()
    second: SecondSession = no_second_session
    others: Mapping[str, Mapping[str, ProbeSession]] = field(default_factory=dict)
    probes: Mapping[str, Probe] = field(default_factory=dict)
    refused: Mapping[str, Mapping[str, NodeError]] = field(default_factory=dict)
    settled: Callable[[], None] = _nothing

    @property
    def hosts(self) -> dict[str, str]:
        """Node → the machine it runs on, by its boot id: the lab's nodes share one."""
        return {node: host for node in self.fingerprint if (host := self._host(node))}

    def _host(self, node: str) -> str:
        """The machine that a node runs on; empty where it is not known."""
        return str(self.fingerprint.get(node, {}).get("kernel.boot_id", {}).get("value") or "")

    def shared_cpu(self, a: str, b: str) -> int | None:
        """The last CPU that two nodes on one machine may use; None where they have a machine each.

        Left to themselves, two processes of one machine are now on one CPU, now on two, as the scheduler wakes them:
        round trips then have two modes, seven times apart. On machines of their own nothing of the kind happens.
        """
        if not self._host(a) or self._host(a) != self._host(b):
            return None
        return next(reversed(self.cpus(a)), None)

    def cpus(self, node: str) -> list[int]:
        """The CPUs that processes may use on a node; none where that is not known."""
        try:
            return parse(str(self.fingerprint.get(node, {}).get("limits.cpus", {}).get("value")))
        except ValueError:
            return []

    def placed(self, client: str, server: str, params: Mapping[str, Param]) -> dict[str, Param]:
        """The parameters, with both ends put on one CPU where the nodes share a machine and no CPU was asked for."""
        shared = self.shared_cpu(client, server)
        if shared is None or {"cpu", "server_cpu"} & set(params):
            return dict(params)
        return {**params, "cpu": shared, "server_cpu": shared}


def facts_of(sessions: Mapping[str, Session]) -> dict[str, Facts]:
    """All nodes' facts, read at the same time."""
    pending: dict[str, Future[dict[str, Any]]] = {node: session.call("facts") for node, session in sessions.items()}
    facts: dict[str, Facts] = {}
    for node, future in pending.items():
        try:
            facts[node] = future.result(timeout=FACTS_TIMEOUT)["facts"]
        except FutureTimeout:
            facts[node] = {"agent": {"value": None, "reason": f"no facts within {FACTS_TIMEOUT:g} s"}}
        except NodeError as error:
            facts[node] = {"agent": {"value": None, "reason": error.what}}
    return facts


def _describe(sessions: Mapping[str, Session]) -> dict[str, Any] | None:
    """What the first node that answers says of its program; None where no node does."""
    for session in sessions.values():
        with suppress(NodeError):  # whoever is gone by now fails where it is measured, with the reason
            described: dict[str, Any] = session.request("describe", timeout=FACTS_TIMEOUT)["describe"]
            return described
    return None


def _read_facts(access: Access, stack: ExitStack) -> tuple[Opened, dict[str, Facts], dict[str, str]]:
    """Agents, fingerprint and addresses. A node without Python is measured all the same; its facts are null with the
    reason.
    """
    opened = stack.enter_context(access.agents())
    facts = facts_of(opened.sessions)
    for node, error in opened.failed.items():
        facts[node] = {"agent": {"value": None, "reason": error.what}}
    return opened, facts, data_addresses(access.inventory, opened.sessions)


def _second_sessions(access: Access, program: Program) -> SecondSession:
    """Opens one more session a node at most; the launcher ends them with all others."""
    opened: dict[str, Session] = {}
    failed: dict[str, NodeError] = {}

    def second(node: str) -> Session:
        if node not in opened and node not in failed:
            outcome = access.launcher.open(access.inventory.pick([node]), program)
            opened.update(outcome.sessions)
            failed.update(outcome.failed)
        if node in failed:
            raise failed[node]
        return opened[node]

    return second


@contextmanager
def connect(
    access: Access, say: Callable[[str], None] = lambda _: None, programs: Sequence[str] = ()
) -> Iterator[Connected]:
    """Open the probe on every node; it ends with the access.

    Parameters
    ----------
    programs
        What else to open there, as cells name it: "node".
    say
        Told what happens, in a few words, for the progress line.
    """
    program, nodes = find_program("wulf-net"), access.inventory.nodes
    with ExitStack() as stack, ThreadPoolExecutor(1, "wulf-facts") as beside:
        settled = _nothing if AGENT in programs else stack.close  # agents that measure stay
        say("reading facts")
        reading = beside.submit(_read_facts, access, stack)
        if len(nodes) > ABREAST:
            reading.result()
            settled()
        say("starting the probes")
        opened = access.launcher.open(nodes, program)
        others = {name: access.launcher.open(nodes, find_program(f"wulf-{name}")) for name in programs if name != AGENT}
        agents, facts, addresses = reading.result()
        if AGENT in programs:
            others[AGENT] = agents
        second = _second_sessions(access, program)
        yield _connected(opened, others, facts, addresses, second=second, settled=settled)


def _connected(
    opened: Opened,
    others: Mapping[str, Opened],
    facts: Mapping[str, Facts],
    addresses: Mapping[str, str],
    *,
    second: SecondSession,
    settled: Callable[[], None],
) -> Connected:
    """What became of the probe on each node, and of further programs on the nodes that have it."""
    sessions = {node: session for node, session in opened.sessions.items() if node in addresses}
    failed = dict(opened.failed)
    for node in (node for node in opened.sessions if node not in sessions):
        step = f"give it in cluster.toml: [node.{node}] address = …"
        failed[node] = NodeError(node, "no address for the probes is known", step)
    refused = {
        name: {node: error for node, error in other.failed.items() if node in sessions}
        for name, other in others.items()
    }
    for name, of_nodes in refused.items():
        # a node without Python has no facts, which its fingerprint says, and is measured all the same
        if name != AGENT:
            failed |= of_nodes
    also = {
        name: {node: session for node, session in other.sessions.items() if node in sessions}
        for name, other in others.items()
    }
    described = {name: _describe(there) for name, there in also.items()}
    own = _describe(sessions)
    return Connected(
        sessions, addresses, Probe.from_describe(own) if own else None, facts, failed,
        [f"{node}: {note}" for node, note in opened.notes.items()], second, also,
        {name: Probe.from_describe(found) for name, found in described.items() if found}, refused,
        settled,
    )  # fmt: skip
