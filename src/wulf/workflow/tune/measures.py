"""What a campaign measures, once for every configuration: the network, MPI, or a program's own time.

Each is a function of what its records shall say beside: which arm, which block, which settings were true.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from typing import Any, Protocol

from wulf.agent.jobs.app import app_run
from wulf.apps.command import reader
from wulf.apps.ran import judge
from wulf.core.errors import NodeError, UsageError, WulfError
from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.ends import Servers
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Probe
from wulf.measure.engine.runner import Runner
from wulf.store.run import RunWriter, utc_now
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.tune.setting import Aim
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Beside
from wulf.workflow.mpi.probes import Ranks

PHASE = "tune"
REPLICATES = 6
"""Of one configuration in one block: the fewest whose median has an interval by itself."""

PINGPONG_SECONDS, STREAM_SECONDS = 0.05, 0.1
OVERHEAD_SECONDS = 0.02
"""Of one replicate beside its measuring: sockets, warm-up."""

FULL_BYTES, REACH_TIMEOUT = 65536, 2.0
"""A message that fills packets of any size: where one size vanishes on the way, it does not arrive."""


@dataclass(frozen=True)
class What:
    """Which network figure an aim is measured by.

    Attributes
    ----------
    quantile
        Of the round trips; None: the probe's own value.
    """

    pattern: str
    metric: CampaignMetric
    seconds: float
    quantile: str | None = None


NET = {
    Aim.LATENCY: What("pingpong", CampaignMetric("rtt", "s"), PINGPONG_SECONDS),
    Aim.THROUGHPUT: What("stream", CampaignMetric("throughput", "B/s", lower_is_better=False), STREAM_SECONDS),
    Aim.QUIET: What("pingpong", CampaignMetric("rtt, 99 %", "s"), PINGPONG_SECONDS, "0.99"),
}


class Measure(Protocol):
    """One measurement of the configuration that is there."""

    def __call__(self, about: Mapping[str, Param]) -> float | None: ...


def neighbours(nodes: Sequence[str]) -> list[tuple[str, str]]:
    """Disjoint pairs that take every node in; the last of an odd number with the first; one node with itself."""
    pairs = [(a, b) for a, b in zip(nodes[::2], nodes[1::2], strict=False)]
    return [*pairs, (nodes[-1], nodes[0])] if len(nodes) % 2 else pairs


class NetMeasure:
    """The round trip, or the stream, of neighbours: the geometric mean over the pairs."""

    def __init__(self, connected: Connected, writer: RunWriter, what: What, size: int | None, servers: Servers) -> None:
        self._connected, self._writer, self._what, self._servers = connected, writer, what, servers
        self._probe = _probe_of(connected)
        self._params: dict[str, Param] = {"seconds": what.seconds, **({} if size is None else {"bytes": size})}
        self._pairs = neighbours(list(connected.sessions))
        self.cells: list[Cell] = []

    def __call__(self, about: Mapping[str, Param]) -> float | None:
        cells = tuple(self._cell(len(self.cells) + i, pair, about) for i, pair in enumerate(self._pairs))
        self.cells += cells
        return geometric(measured(cells, self._connected, self._writer, self._servers), self._what.quantile)

    def _cell(self, number: int, pair: tuple[str, str], about: Mapping[str, Param]) -> Cell:
        params = self._connected.placed(*pair, self._params)
        if self._what.pattern == "pingpong" and "bytes" not in params:
            params["bytes"] = 1
        checked = self._probe.check(self._what.pattern, "tcp", params)
        metrics = self._probe.pattern(self._what.pattern).metrics
        return Cell(number, *pair, "tcp", self._what.pattern, checked, metrics, PHASE, about=dict(about))


class MpiMeasure:
    """The ping-pong between two ranks, launched anew for every replicate: buffers are sized when a program starts."""

    def __init__(self, ranks: Ranks, probe: Probe, connected: Connected, writer: RunWriter, size: int | None) -> None:
        self._ranks, self._probe, self._connected, self._writer = ranks, probe, connected, writer
        self._params: dict[str, Param] = {"bytes": size or 1}
        self.cells: list[Cell] = []

    def __call__(self, about: Mapping[str, Param]) -> float | None:
        made = self._ranks.cell(len(self.cells), self._probe, "pingpong", self._params, PHASE)
        cell = replace(made, about={**made.about, **about})
        self.cells.append(cell)
        return geometric(measured((cell,), self._connected, self._writer, {}, self._ranks.beside), None)


class AppMeasure:
    """A program's own figure: the seconds that it takes, or the number that its output names.

    Parameters
    ----------
    command
        Run on this machine, as a person would: perhaps `mpirun …`.
    figure
        A regular expression whose first group is the number; None: seconds of wall-clock time.
    timeout
        Seconds after which it is ended, and has no figure.
    """

    def __init__(
        self, command: Sequence[str], metric: CampaignMetric, writer: RunWriter, *, figure: str | None, timeout: float
    ) -> None:
        self._command, self._metric, self._writer, self._timeout = list(command), metric, writer, timeout
        self._read, self._main = reader(figure, metric.unit, "lower" if metric.lower_is_better else "higher")
        self.cells: list[Cell] = []

    def __call__(self, about: Mapping[str, Param]) -> float | None:
        value, reason = self._once()
        self._writer.append(
            Record(
                run=self._writer.id, subject="application", probe="app", metric=self._metric.name,
                unit=self._metric.unit, params={"command": " ".join(self._command), **about}, value=value,
                replicates=int(value is not None), statistic="one run", samples=[] if value is None else [value],
                verdict=Verdict.FAILED if value is None else Verdict.OK, reason=reason or None, at=utc_now(),
            )
        )  # fmt: skip
        return value

    def _once(self) -> tuple[float | None, str]:
        answer = app_run(command=self._command, timeout=self._timeout, folder=str(Path.cwd()))
        if "error" in answer:
            raise UsageError(f"{self._command[0]} can't be started: {answer['error']}", "check the command after --")
        ran = judge(answer, self._read, self._main)
        if ran.value is not None and ran.value <= 0:
            return None, f"its figure is {ran.value:g}: only numbers above 0 can be compared"
        return ran.value, ran.reason


def measured(
    cells: Sequence[Cell], connected: Connected, writer: RunWriter, servers: Servers, beside: Beside | None = None
) -> list[Record]:
    """The records of one measurement of each of these cells."""
    also = beside or Beside()
    plan = Plan(tuple(cells), secrets.randbelow(2**31), width=1.0, looks=(REPLICATES,),
                hosts={**connected.hosts, **also.lanes})  # fmt: skip
    runner = Runner(
        plan, connected.sessions, connected.addresses, writer,
        others={**connected.others, **also.sessions}, second=connected.second, servers=servers,
    )  # fmt: skip
    records = runner.run()
    if runner.lost:
        node, why = next(iter(runner.lost.items()))
        raise NodeError(node, f"died while it was measured: {why}", "its changes go back by themselves; see the notes")
    return records


def geometric(records: Sequence[Record], quantile: str | None) -> float | None:
    """The geometric mean over the pairs of the metric that was asked for; None where a pair has none."""
    main = [record for record in records if record.metric in ("rtt", "throughput", "time")] or list(records[:1])
    values = [record.value if quantile is None else record.quantiles.get(quantile) for record in main]
    known = [value for value in values if value is not None and value > 0]
    return exp(sum(map(log, known)) / len(known)) if known and len(known) == len(values) else None


class NetReach:
    """Whether the cluster's network carries full packets: a new connection from each node to the next."""

    def __init__(self, connected: Connected, servers: Servers) -> None:
        self._connected, self._servers = connected, servers

    def __call__(self, names: Sequence[str]) -> dict[str, str]:
        """Of these nodes those that can't reach the next one, and why."""
        order = list(self._connected.sessions)
        if len(order) < 2:
            return {}
        pending, silent = {}, {}
        for node in names:
            try:
                after = order[(order.index(node) + 1) % len(order)]
                pending[node] = self._connected.sessions[node].call("run", **self._request(after))
            except (NodeError, WulfError) as error:
                silent[node] = str(error)
        for node, future in pending.items():
            try:
                answer = future.result(timeout=3 * REACH_TIMEOUT + 5)
                if answer["metrics"]["rtt"].get("value") is None:
                    silent[node] = str(answer["metrics"]["rtt"].get("reason", "nothing came back"))
            except (NodeError, TimeoutError) as error:
                silent[node] = str(error) or "no answer"
        return silent

    def _request(self, server: str) -> dict[str, Any]:
        params = {"bytes": FULL_BYTES, "seconds": 0.01, "warmup_seconds": 0.0, "timeout": REACH_TIMEOUT}
        return {"pattern": "pingpong", "transport": "tcp", **self._served(server), "params": params}

    def _served(self, node: str) -> dict[str, Any]:
        """The node's server, started where the runner has not yet."""
        address = self._connected.addresses[node]
        where = (node, "tcp", False, address)
        if where not in self._servers:
            key, session = secrets.token_hex(16), self._connected.sessions[node]
            answer = session.request("serve", transport="tcp", address=address, key=key)
            self._servers[where] = {"address": answer["address"], "port": answer["port"], "key": key}
        return self._servers[where]


def _probe_of(connected: Connected) -> Probe:
    if connected.probe is None:
        raise UsageError("no node answered: nothing can be measured", "`wulf check` says what is wrong with them")
    return connected.probe


def net_seconds(what: What, pairs: int) -> float:
    """About how long one measurement takes, pairs one after the other."""
    return pairs * REPLICATES * (what.seconds + OVERHEAD_SECONDS)
