"""One program, the hosts and the baseline that all its networks share, and what is asked of the replay about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from wulf.core.errors import UsageError
from wulf.model.foresight.forecast import USUAL_DRAWS, Calibration, Forecast, calibrated, mixed, share_of
from wulf.model.foresight.prediction import Beside, Differences, ReplayProgram, Timeline, Traced
from wulf.model.foresight.prediction import Path as CriticalPath
from wulf.model.foresight.worth import Piecewise, Tolerance
from wulf.model.network.figures import (
    FOREVER,
    Network,
    Values,
    copy_object,
    draws,
    host_numbers,
    network_object,
    nominal,
)
from wulf.workflow.foresight.beside import beside, jobs_of
from wulf.workflow.foresight.calls import named
from wulf.workflow.foresight.engine import AUTO, TIMED
from wulf.workflow.foresight.replaying import Replay, ReplayError, forecast
from wulf.workflow.foresight.traced import source_of

T = TypeVar("T")

TRACE: Final = "trace"

SPAN = 10.0
"""Curves reach to so many times the baseline's latency, or time of a byte."""

LARGE: Mapping[str, bool] = {"progress": True, "in_order": False}
"""How large messages get on where nobody says: the fields of a network's file."""

COARSE, FINE = 240, 4000
"""Buckets of a timeline: those that are shown first, and those behind them."""

MOST_ROWS, MOST_CELLS = 128, 200_000
"""Of a timeline: rows of ranks, and rows times buckets."""


@dataclass(frozen=True)
class Wanted:
    """What a prediction is to be made of.

    Attributes
    ----------
    prices
        Network's name → what all of it costs.
    machine
        What the whole machine costs.
    gain
        Share of the run time that must be saved.
    collectives
        Operation → algorithm by which it runs.
    compute
        Factor of all computing.
    draws
        Of each network's figures.
    shares
        By which the run may get longer, for the tolerances.
    steps
        Of the critical path, at most.
    timeline
        Whether it is asked for.
    fit
        Whether the baseline's figures are to be fitted to the trace.
    asked
        Other numbers of ranks to predict.
    beside
        Traces of other jobs that run at the same time.
    origin
        Where the baseline's figures are from.
    extra
        Fields of every network besides its costs: a topology.
    """

    networks: Sequence[Network]
    prices: Mapping[str, float] = field(default_factory=dict)
    machine: float | None = None
    gain: float | None = None
    collectives: Mapping[str, str] = field(default_factory=dict)
    compute: float = 1.0
    engine: str = AUTO
    draws: int = USUAL_DRAWS
    seed: int = 0
    shares: Sequence[float] = (0.01, 0.05)
    steps: int = 2000
    timeline: bool = False
    fit: bool = False
    asked: Sequence[int] = ()
    beside: Sequence[Path] = ()
    origin: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


class Scene:
    """One program, and the hosts and the baseline that every network of it shares."""

    def __init__(self, replay: Replay, program: ReplayProgram, traced: Traced, this: Network, wanted: Wanted) -> None:
        self.replay, self.program, self.this, self.wanted = replay, program, this, wanted
        self.traced = traced
        self.hosts = traced.hosts if len(traced.hosts) == program.ranks else ()
        self._own = (nominal(this), draws(this, wanted.draws, wanted.seed))
        self.source, self.kind = source_of(Path(traced.path))
        self._unnamed: list[str] = []
        self._lacking: dict[str, list[str]] = {}
        self.calibration = Calibration(0.0, None)
        self._baseline: Forecast | None = None
        self._share = 0.5  # of requests at the end of a call that are seen in it

    def connecting(self, seconds: float) -> Scene:
        """The same with first messages that take so much longer."""
        found = copy(self)
        found.program = loaded_for(self.replay, Path(self.traced.path), self.this, self.wanted, connect=seconds)
        return found

    def object(self, network: Network) -> dict[str, Any]:
        """A network by its own figures, as the replay takes it."""
        return self._object(network, nominal(network), self._own[0])

    def object_of(self, own: tuple[Values, Values | None]) -> dict[str, Any]:
        """The baseline with other figures."""
        return self._object(self.this, own, own)

    def _object(
        self, network: Network, own: tuple[Values, Values | None], base: tuple[Values, Values | None]
    ) -> dict[str, Any]:
        """What a network does not say of messages within a host is as it is now."""
        found = network_object(
            network.name, own[0], own[1] or base[1], self.hosts, shared_nic=network.base.shared_nic,
            own_messages=self.program.graph or self.program.live > 0,
        )  # fmt: skip
        if self.wanted.extra and self.hosts:
            found["hosts"] = host_numbers(self.hosts)  # ranks of a host share its links
        return {**found, **self._large(network), **self.wanted.extra}

    def _said(self, network: Network, key: str) -> bool | None:
        """What the network's file says of how large messages get on, or else the baseline's; None: neither does."""
        said = (getattr(file, key) for file in (network.base, self.this.base))
        return next((one for one in said if one is not None), None)

    def _large(self, network: Network) -> dict[str, bool]:
        """How large messages get on, as the replay takes it."""
        found = {key: self._said(network, key) for key in LARGE}
        return {key: one for key, one in found.items() if one is not None and one != LARGE[key]}

    def _ways(self, network: Network) -> list[dict[str, bool]]:
        """In which ways large messages may get on besides what is said.

        Where they take turns, all depends on whether a request that comes at the end of a call is still seen in it: a
        matter of microseconds, and so of chance.
        """
        if not self._said(network, "in_order") or self._said(network, "progress"):
            return [{}]
        return [{"progress": seen} for seen in (False, True)]

    def ways(self, network: Network) -> list[dict[str, Any]]:
        """A network as the replay takes it, in all ways in which its large messages may get on."""
        own = self.object(network)
        return [{**own, **way} for way in self._ways(network)]

    def forecasts(self, networks: Sequence[Network]) -> dict[str, Forecast]:
        """The run times by the networks' figures and by draws of them, as many as possible in one pass.

        Draw k of a network is held against draw k of the baseline: what is not known of both is the same then.
        """
        late = self._forecasts(networks, 0)
        by_chance = [network for network in networks if len(self._ways(network)) > 1]
        if self.wanted.engine != TIMED or not by_chance:
            return late
        seen = self._forecasts(by_chance, -1)
        if self.this.name in seen:
            self._share = self._share_seen(late[self.this.name].seconds, seen[self.this.name].seconds)
        return {name: mixed(one, seen[name], self._share) if name in seen else one for name, one in late.items()}

    def _forecasts(self, networks: Sequence[Network], way: int) -> dict[str, Forecast]:
        """The same with large messages that get on in one of their ways, by its place among them."""
        wanted = self.wanted
        objects = [{**self.object(network), **self._ways(network)[way]} for network in networks]
        first = self.replay.runs(self.program, objects, wanted.engine, parts=True)
        drawn = [
            {**self._object(network, own, base), **self._ways(network)[way]}
            for network in networks
            for own, base in zip(draws(network, wanted.draws, wanted.seed), self._own[1], strict=True)
        ]
        runs = iter(self.replay.runs(self.program, drawn, wanted.engine))
        return {
            network.name: forecast(network.name, one, list(islice(runs, wanted.draws)))
            for network, one in zip(networks, first, strict=True)
        }

    def _share_seen(self, late: float, seen: float) -> float:
        """How often the traced run's requests were seen, by its time; half of them where that is not told."""
        measured = self.traced.seconds
        return share_of(late, seen, measured) if measured is not None and self.wanted.compute == 1.0 else 0.5

    def calibrate(self, baseline: Forecast) -> None:
        """Have run times start from the measured one.

        Parameters
        ----------
        baseline
            Its replay.
        """
        self.calibration = Calibration(self._as_traced(baseline), self.traced.seconds, self.traced.runs)
        self._baseline = baseline

    def _as_traced(self, baseline: Forecast) -> float:
        """What the replay makes of the run as it was: with computing as it was traced, whatever is asked for."""
        if self.wanted.compute == 1.0:
            return baseline.seconds
        wanted = replace(self.wanted, compute=1.0)
        program = loaded_for(self.replay, Path(self.traced.path), self.this, wanted, connect=self.program.connect)
        runs = self.replay.runs(program, self.ways(self.this), wanted.engine)
        late, seen = (forecast(self.this.name, run, ()).seconds for run in (runs[0], runs[-1]))
        return late + self._share * (seen - late)

    def calibrated(self, forecast: Forecast) -> Forecast:
        """A replay's run time as the program's."""
        return forecast if self._baseline is None else calibrated(self._baseline, forecast, self.calibration)

    def beside(self, networks: Sequence[Network]) -> tuple[Beside, ...]:
        """The program and the other jobs, alone and together, on each network."""

        def load(path: Path) -> ReplayProgram:
            return loaded_for(self.replay, path, self.this, self.wanted)

        others = jobs_of(self.traced, self.wanted.beside, load)
        objects = [self.object(network) for network in networks]
        return tuple(beside(self.replay, (self.traced, self.program), others, objects))

    def ask(self, what: str, question: Callable[[], T], otherwise: T) -> T:
        """The answer to a question beside the run time; where the replay has none, that is noted: the rest goes on."""
        try:
            return question()
        except (ReplayError, UsageError) as error:
            self.lack(what, error.what)
            return otherwise

    def lack(self, what: str, why: str) -> None:
        """Keep in mind that the replay does not tell something."""
        self._lacking.setdefault(why, []).append(what)

    @property
    def notes(self) -> list[str]:
        """What the replay does not tell, by why."""
        return [*self._unnamed, *(f"{', '.join(several)}: none; {why}" for why, several in self._lacking.items())]

    def tolerances(self, network: Network, forecast: Forecast) -> tuple[Tolerance, ...]:
        """How much more latency and time of a byte it takes until the run time is longer by the shares."""
        factor = forecast.seconds / forecast.replayed if forecast.replayed > 0 else 1.0
        shares = [share * factor for share in self.wanted.shares]
        found = self.replay.tolerances(self.program, self.object(network), shares)
        return tuple(replace(one, share=share) for one, share in zip(found, self.wanted.shares, strict=True))

    def curves(self) -> tuple[Piecewise, ...]:
        """The baseline's run time over its latency and its time of a byte, from none to a multiple."""
        values, own = self._own[0][0], self.object(self.this)
        both: tuple[Literal["latency", "byte"], ...] = ("latency", "byte")
        found = [
            self.replay.curve(self.program, own, over, 0.0, SPAN * values[over]) for over in both if values[over] > 0
        ]
        return tuple(
            replace(one, seconds=tuple(max(0.0, each + self.calibration.missing) for each in one.seconds))
            for one in found
        )

    def path(self) -> CriticalPath:
        """The baseline's critical path, its calls by name where the trace has ranks' files."""
        found = self.replay.path(self.program, self.object(self.this), self.wanted.steps)
        if self.kind != TRACE:
            return found
        path, note = named(found, self.source)
        self._unnamed += [note] if note else []
        return path

    def differences(self) -> Differences:
        """Where calls took another time as traced; of a schedule, and of other computing than the trace's, none."""
        if self.kind != TRACE or self.wanted.compute != 1.0:
            return Differences()
        return self.replay.differences(self.program, self.object(self.this), self.source)

    def timelines(self) -> tuple[Timeline, ...]:
        """The baseline's timeline, coarse, and where that is finer, fine."""
        rows = min(MOST_ROWS, self.program.ranks)
        fine = min(FINE, MOST_CELLS // rows)
        return tuple(
            self.replay.timeline(self.program, self.object(self.this), buckets, rows) for buckets in (COARSE, fine)
        )


def loaded_for(replay: Replay, trace: Path, this: Network, wanted: Wanted, *, connect: float = 0.0) -> ReplayProgram:
    """The trace as a program: what networks may make of its messages, and what ranks copy to themselves."""
    own = copy_object(nominal(this)[1])
    source, kind = source_of(trace)
    return replay.load(source, kind, _rules(this, wanted), wanted.compute, own, connect=connect)


def _rules(this: Network, wanted: Wanted) -> dict[str, str | int]:
    """How collectives are carried out, and from how many bytes on a network may make a message wait for its receive.

    The limit may be known by an interval alone: of all draws the least.
    """
    limits = [
        values["eager"]
        for network in (this, *wanted.networks)
        for both in (nominal(network), *draws(network, wanted.draws, wanted.seed))
        for values in both
        if values
    ]
    return {"eager": min(FOREVER, round(min(limits))), **wanted.collectives}
