"""wulf-mpi's ranks over an inventory: one launch after the other, nothing of it left behind."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from wulf.cluster.access import Access
from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Node
from wulf.cluster.launcher import Launcher
from wulf.cluster.mpi.commands import Command
from wulf.cluster.mpi.deaths import RankPlace, cause_of_death, not_running
from wulf.cluster.mpi.installed import Installed
from wulf.cluster.programs import supervised
from wulf.cluster.session import MALFORMED, RequestError, Session, SessionLost, last_words
from wulf.core.errors import NodeError

START_TIMEOUT = 120.0
"""Seconds for all ranks to start; a launcher contacts hundreds of nodes in seconds."""

END_GRACE = 20.0
"""Seconds for a launch to end: the node's supervisor ends it by force after 10."""

ASK_TIMEOUT = 20.0
"""Seconds for an answer that takes no work."""

_SILENT_NEXT = (
    "do the ranks reach each other? MPI opens TCP ports of its own: a firewall between the nodes, or an interface that "
    "leads nowhere, stops it without a word; name the nodes' network in cluster.toml"
)
_HUNG_NEXT = "if a process is stopped, kill -CONT continues it; the launch is ended with the session"


class World:
    """The ranks of one launch, and the session that rank 0 holds.

    Attributes
    ----------
    session
        With wulf-mpi on rank 0. Its end says which rank died, and where.
    places
        The node of each rank, by rank.
    ranks
        The same with host and process.
    installed
        The MPI.
    notes
        What the user should know about this launch.
    argv
        The starter's command line.
    """

    def __init__(
        self,
        access: Access,
        starter: Launcher,
        *,
        names: Mapping[str, str],
        installed: Installed,
        planned: Sequence[str],
        made: Command,
    ) -> None:
        self._access = access
        self._starter = starter
        self._names = dict(names)
        self.installed = installed
        self.argv = made.argv
        self.notes = made.notes
        self.places = tuple(planned)
        self.ranks: tuple[RankPlace, ...] = ()
        self.session: Session = self._start()

    @property
    def first(self) -> Node:
        """Where the starter runs."""
        (node,) = self._access.inventory.pick(self.places[:1])
        return node

    def describe(self) -> dict[str, Any]:
        """What wulf-mpi can do, in its own words; ``mpi`` is the library that it runs with."""
        described: dict[str, Any] = self.session.request("describe", timeout=ASK_TIMEOUT)["describe"]
        return described

    def relaunch(self) -> None:
        """End these ranks and start new ones, by the same command line.

        Raises
        ------
        NodeError
            They don't start any more.
        """
        self.close()
        self.session = self._start()

    def close(self) -> None:
        """End the ranks, and wait until they are gone."""
        self.session.close(END_GRACE)

    def run(self, probe: str, params: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """One replicate.

        Parameters
        ----------
        timeout
            Seconds until it counts as hung.

        Raises
        ------
        RequestError
            wulf-mpi refuses it, or its result is wrong.
        NodeError
            A rank died or does not run: says which one, and where.
        """
        try:
            return self.session.request("run", timeout, probe=probe, params=dict(params))
        except RequestError as error:
            if error.code != "no-answer":
                raise
            raise NodeError(error.node, f"{probe}: {error.message}; {self.diagnose()}", _HUNG_NEXT) from error

    def diagnose(self) -> str:
        """Why there is no answer: which ranks do not run, and on which nodes. Asks the nodes' process tables."""
        found = not_running(self.ranks, self._states())
        return "; ".join(found) if found else "all ranks run: they wait for each other, or are slow"

    def _states(self) -> dict[str, Mapping[str, str | None] | str]:
        by_node: dict[str, list[int]] = {}
        for place in self.ranks:
            by_node.setdefault(place.node, []).append(place.pid)
        with self._access.agents(self._access.inventory.pick(by_node)) as opened:
            states: dict[str, Mapping[str, str | None] | str] = {n: error.what for n, error in opened.failed.items()}
            asked = {
                name: session.call("mpi_processes", pids=by_node[name]) for name, session in opened.sessions.items()
            }
            for name, future in asked.items():
                try:
                    states[name] = future.result(ASK_TIMEOUT)["states"]
                except (NodeError, TimeoutError) as error:
                    states[name] = str(error) or "no answer"
        return states

    def _start(self) -> Session:
        opened = self._starter.open([self.first], supervised(self.argv, "wulf-mpi"), START_TIMEOUT)
        for error in opened.failed.values():
            raise self._start_error(error)
        session = opened.sessions[self.first.name]
        session.explain = self._explain
        try:
            self.ranks = self._find_ranks(session)
        except NodeError:
            session.close(END_GRACE)
            raise
        self.places = tuple(place.node for place in self.ranks)
        return session

    def _start_error(self, error: NodeError) -> NodeError:
        if not isinstance(error, SessionLost):
            return NodeError(error.node, error.what, _SILENT_NEXT)
        cause = cause_of_death(error.stderr, ()) or f"{error.end}{last_words(error.stderr)}"
        return NodeError(
            error.node,
            f"{self.installed.title} could not start wulf-mpi: {cause}",
            f"by hand, on {error.node}: {shlex.join(self.argv)}",
        )

    def _explain(self, end: Exit, stderr: Sequence[str], _greeted: bool) -> tuple[str, str]:
        cause = cause_of_death(stderr, self.ranks)
        if cause:
            return f"wulf-mpi ended: {cause}", "look there: dmesg, journalctl"
        return f"{self.installed.title}'s launcher ended: {end}{last_words(stderr)}", ""

    def _find_ranks(self, session: Session) -> tuple[RankPlace, ...]:
        """Where each rank really is: the node whose machine has the name that the rank's host has."""
        rows = session.request("ranks", ASK_TIMEOUT)["ranks"]
        if any(row["rank"] >= len(self.places) for row in rows):
            what = f"tells of rank {max(row['rank'] for row in rows)}, and {len(self.places)} were started"
            raise RequestError(session.node.name, "ranks", MALFORMED, what)
        by_host = {host: node for node, host in self._names.items()}
        known = len(by_host) == len(self._names) and len(rows) <= len(self.places)
        return tuple(
            RankPlace(
                row["rank"],
                by_host.get(row["host"], self.places[row["rank"]]) if known else self.places[row["rank"]],
                row["host"],
                row["pid"],
            )
            for row in rows
        )
