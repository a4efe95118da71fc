"""A trace replayed on networks: the one that it was made on first, to see how far off that is, then those to be had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

from wulf.core.errors import UsageError
from wulf.model.forecast import USUAL_DRAWS, Calibration, Forecast, calibrated, gain_of
from wulf.model.foresight import Doubts, Offer, Piecewise, Tolerance, candidate
from wulf.model.network import (
    FOREVER,
    Network,
    Values,
    copy_object,
    draws,
    network_object,
    nominal,
    scaled,
)
from wulf.model.network_file import shipped_network
from wulf.model.prediction import Change, Differences, Prediction, Program, Timeline, Traced, TraceFit
from wulf.model.prediction import Path as CriticalPath
from wulf.workflow.predict_calls import named
from wulf.workflow.predict_cautions import cautions, of_one_run
from wulf.workflow.predict_engine import AUTO, engine_for
from wulf.workflow.predict_fit import FIRST, MOST_OPERATIONS, fitted_network
from wulf.workflow.predict_scaling import LEAST_COUNTS, scaling_of
from wulf.workflow.predict_trace import middle_of, source_of
from wulf.workflow.replaying import Replay, ReplayError, forecast

T = TypeVar("T")

IDEAL: Final = "ideal"
TRACE: Final = "trace"

CHANGES: tuple[tuple[str, dict[str, float]], ...] = (
    ("half the latency", {"latency": 0.5}),
    ("half the overhead of a message", {"overhead": 0.5}),
    ("half the gap between messages", {"gap": 0.5}),
    ("twice the bandwidth", {"bandwidth": 2.0}),
)
"""What a campaign of tuning could reach with one part of the network; what is gained then bounds what it can buy."""

SPAN = 10.0
"""Curves reach to so many times the baseline's latency, or time of a byte."""

COARSE, FINE = 240, 4000
"""Buckets of a timeline: those that are shown first, and those behind them."""

LEAST_CONNECT, LEAST_SHARE = 1e-3, 0.2
"""Seconds a call below which it is nothing that ranks have to connect, as their begins differ by as much; and what
share of it the first messages must explain."""

MOST_ROWS, MOST_CELLS = 128, 200_000
"""Of a timeline: rows of ranks, and rows times buckets."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """What a prediction is to be made of.

    Attributes
    ----------
    prices
        Network's name → what all of it costs.
    machine
        What the whole machine costs.
    wish
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
    origin
        Where the baseline's figures are from.
    extra
        Fields of every network besides its costs: a topology.
    """

    networks: Sequence[Network]
    prices: Mapping[str, float] = field(default_factory=dict)
    machine: float | None = None
    wish: float | None = None
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
    origin: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


def predict(replay: Replay, traced: Traced, this: Network, wanted: Wanted, say: Say = lambda _: None) -> Prediction:
    """Replay a trace on the baseline, the candidates, and the baseline with parts of it changed.

    Raises
    ------
    ReplayError
        The trace is torn, or deadlocks.
    UsageError
        An option is not one that the replay knows.
    """
    say("reading the trace")
    source, kind = source_of(Path(traced.path))
    known = cast(Literal["trace", "goal"], kind)
    program = _loaded(replay, source, known, this, wanted)
    scene, fit = _connected(_Scene(replay, program, traced, this, wanted)), None
    program = scene.program
    if wanted.fit:
        say("fitting the network's figures to the trace's calls")
        scene, fit = _fitted(scene)
        this, wanted = scene.this, scene.wanted
    runs = (1 + len(wanted.networks)) * (1 + wanted.draws)
    engine, chosen = engine_for(replay, program, scene.object(this), wanted.engine, runs)
    wanted = scene.wanted = replace(wanted, engine=engine)
    say(f"replaying {program.ops:,} operations of {program.ranks} ranks on {1 + len(wanted.networks)} networks")
    forecasts = scene.forecasts([this, *wanted.networks])
    scene.calibrate(forecasts[this.name], _calibrating(scene, source, known, forecasts[this.name]))
    calibration = scene.calibration
    forecasts = {name: scene.calibrated(one) for name, one in forecasts.items()}
    baseline = forecasts[this.name]
    doubts = Doubts(max(0.0, 1 - program.covered), None if calibration.error is None else abs(calibration.error))
    say("asking for tolerances, breakpoints and the critical path")
    everyone = (this, *wanted.networks)
    warned = cautions(
        program, this, scene.hosts, list(forecasts.values()), engine=wanted.engine, compute=wanted.compute
    )
    offers = {network.name: offer_of(network, traced, wanted) for network in wanted.networks}
    return Prediction(
        traced, program, baseline, wanted.origin, calibration,
        tuple(
            candidate(
                baseline, forecasts[network.name], doubts, offers[network.name], asked=wanted.wish,
                estimates=network.estimated,
            )
            for network in wanted.networks
        ),
        _changes(scene, baseline),
        {
            one.name: scene.ask(f"tolerances of {one.name}", partial(scene.tolerances, one, forecasts[one.name]), ())
            for one in everyone
        },
        {network.name: nominal(network)[0]["byte"] for network in everyone},
        scene.ask("breakpoints", scene.curves, ()), scene.ask("the critical path", scene.path, CriticalPath()),
        scene.ask("calls as traced and replayed", scene.differences, Differences()), fit,
        scene.ask("the timeline", scene.timelines, ()) if wanted.timeline else (),
        engine=wanted.engine, currency=_currency(wanted.networks),
        notes=(
            *traced.notes, *program.notes, *this.notes, *([chosen] if chosen else []), *warned,
            *of_one_run(calibration), *scene.lacking,
        ),
    )  # fmt: skip


class _Scene:
    """One program, and the hosts and the baseline that every network of it shares."""

    def __init__(self, replay: Replay, program: Program, traced: Traced, this: Network, wanted: Wanted) -> None:
        self.replay, self.program, self.this, self.wanted = replay, program, this, wanted
        self.traced = traced
        self.hosts = traced.hosts if len(traced.hosts) == program.ranks else ()
        self._own = (nominal(this), draws(this, wanted.draws, wanted.seed))
        self.source, self.kind = source_of(Path(traced.path))
        self.lacking: list[str] = []
        self.calibration = Calibration(0.0, None)
        self._baseline: Forecast | None = None

    def connecting(self, seconds: float) -> _Scene:
        """The same with first messages that take so much longer."""
        found = copy(self)
        found.program = _loaded(self.replay, self.source, TRACE, self.this, self.wanted, connect=seconds)
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
        shared_nic = network.base.shared_nic
        found = network_object(network.name, own[0], own[1] or base[1], self.hosts, shared_nic=shared_nic)
        return {**found, **self.wanted.extra}

    def forecasts(self, networks: Sequence[Network]) -> dict[str, Forecast]:
        """The run times by the networks' figures and by draws of them, as many as possible in one pass.

        Draw k of a network is held against draw k of the baseline: what is not known of both is the same then.
        """
        wanted, objects = self.wanted, [self.object(network) for network in networks]
        first = self.replay.runs(self.program, objects, wanted.engine, parts=True)
        drawn = [
            self._object(network, own, base)
            for network in networks
            for own, base in zip(draws(network, wanted.draws, wanted.seed), self._own[1], strict=True)
        ]
        runs = iter(self.replay.runs(self.program, drawn, wanted.engine))
        return {
            network.name: forecast(network.name, one, list(islice(runs, wanted.draws)))
            for network, one in zip(networks, first, strict=True)
        }

    def calibrate(self, baseline: Forecast, as_traced: float) -> None:
        """Have run times start from the measured one.

        Parameters
        ----------
        baseline
            Its replay.
        as_traced
            Seconds of it with computing as it was traced.
        """
        self.calibration = Calibration(as_traced, self.traced.seconds, self.traced.runs)
        self._baseline = baseline

    def calibrated(self, forecast: Forecast) -> Forecast:
        """A replay's run time as the program's."""
        return forecast if self._baseline is None else calibrated(self._baseline, forecast, self.calibration)

    def ask(self, what: str, question: Callable[[], T], otherwise: T) -> T:
        """The answer to a question beside the run time; where the replay has none, that is noted: the rest goes on."""
        try:
            return question()
        except (ReplayError, UsageError) as error:
            self.lacking.append(f"{what}: none; {error.what}")
            return otherwise

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
        self.lacking += [note] if note else []
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


def _connected(scene: _Scene) -> _Scene:
    """The scene with the time that it took ranks to connect, as the trace's first calls tell it.

    They took longer than the replay's, which has no such thing. That goes by the library's own clocks and the kernel's
    rather than by the network's, so that it is the same on all networks.
    """
    if scene.kind != TRACE or scene.program.live or scene.program.ops > MOST_OPERATIONS:
        return scene
    try:
        calls, missing = _first_calls(scene)
    except (ReplayError, UsageError) as error:  # a topology, which these calls are not replayed on
        scene.lacking.append(f"the time to connect: not known; {error.what}")
        return scene
    if missing <= LEAST_CONNECT * calls:
        return scene
    tried = scene.connecting(missing / calls)
    added = missing - _first_calls(tried)[1]
    if added < LEAST_SHARE * missing:
        return scene  # it is no message that these calls waited for
    return scene.connecting(tried.program.connect * missing / added)


def _first_calls(scene: _Scene) -> tuple[int, float]:
    """Ranks' first calls with another: how many, and seconds that they took longer than in the replay."""
    found = scene.replay.differences(scene.program, scene.object(scene.this), scene.source)
    first = [one for one in found.largest if one.peer == FIRST]
    return sum(one.calls for one in first), -sum(one.difference for one in first)


def _fitted(scene: _Scene) -> tuple[_Scene, TraceFit]:
    """The scene with the baseline as the trace's calls have it, and so of all networks that are it, changed.

    Raises
    ------
    UsageError
        The trace has no calls with times, or is too large; or computing is to be another than the trace's.
    """
    if scene.kind != TRACE:
        raise UsageError("--fit holds the replay against the trace's calls, and a schedule has none", "leave it out")
    if scene.wanted.extra:
        raise UsageError("--fit replays by engine a, which knows no topology", "leave out --topology, or --fit")
    if scene.wanted.compute != 1.0:
        raise UsageError("--fit needs computing as it was traced", "leave out --compute, or --fit")
    this, fit = fitted_network(scene.replay, scene.program, scene.source, scene.this, scene.object_of)
    old = scene.this.base
    networks = [replace(one, base=this.base) if one.base == old else one for one in scene.wanted.networks]
    wanted = replace(scene.wanted, networks=networks, origin=f"fitted to the trace, from {scene.wanted.origin}")
    return _Scene(scene.replay, scene.program, scene.traced, this, wanted), fit


def _loaded(
    replay: Replay,
    source: Path,
    kind: Literal["trace", "goal"],
    this: Network,
    wanted: Wanted,
    *,
    connect: float = 0.0,
) -> Program:
    """The trace as a program: what networks may make of its messages, and what ranks copy to themselves."""
    own = copy_object(nominal(this)[1])
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


def _calibrating(scene: _Scene, source: Path, kind: Literal["trace", "goal"], baseline: Forecast) -> float:
    """What is predicted of the run as it was: with computing as it was traced, whatever is asked for."""
    if scene.wanted.compute == 1.0:
        return baseline.seconds
    as_it_was = _loaded(
        scene.replay, source, kind, scene.this, replace(scene.wanted, compute=1.0), connect=scene.program.connect
    )
    run = scene.replay.runs(as_it_was, [scene.object(scene.this)], scene.wanted.engine)[0]
    return forecast(scene.this.name, run, ()).seconds


def _changes(scene: _Scene, baseline: Forecast) -> tuple[Change, ...]:
    """What the baseline would do with a part of it changed, and what no network at all would."""
    named = [(what, scaled(scene.this, **factors)) for what, factors in CHANGES]
    named.append(("a network that takes no time", Network(shipped_network(IDEAL))))
    replayed = scene.forecasts([network for _, network in named])
    forecasts = {name: scene.calibrated(one) for name, one in replayed.items()}
    return tuple(
        Change(what, forecasts[network.name], gain_of(baseline, forecasts[network.name])) for what, network in named
    )


def offer_of(network: Network, traced: Traced, wanted: Wanted) -> Offer:
    """What a network costs: as said, or its port's price for every host, where its file has one."""
    if network.name in wanted.prices:
        return Offer(wanted.prices[network.name], wanted.machine, "given")
    price, hosts = network.base.price, len(set(traced.hosts))
    if price is None or not hosts or network.edits:
        return Offer(None, wanted.machine)
    source = f"{hosts} × {price.currency}{price.port.value:,.6g}, {price.year}: {price.port.source}"
    return Offer(price.port.value * hosts, wanted.machine, source)


def _currency(networks: Sequence[Network]) -> str:
    return next((network.base.price.currency for network in networks if network.base.price is not None), "$")


def scaled_up(
    replay: Replay, traces: Sequence[Traced], this: Network, wanted: Wanted, say: Say = lambda _: None
) -> Prediction:
    """The prediction of the most ranks' trace; of several numbers of ranks, with how the run time goes over them.

    Parameters
    ----------
    traces
        By ranks, the fewest first. Several of the most ranks are runs of one program: the middle one is replayed, and
        all say by how much runs differ.
    """
    found = predict(replay, middle_of([one for one in traces if one.ranks == traces[-1].ranks]), this, wanted, say)
    if len({one.ranks for one in traces}) < LEAST_COUNTS:
        return found
    wanted = replace(wanted, engine=found.engine)
    seconds: dict[str, dict[int, list[float]]] = {}
    for traced in traces:
        say(f"replaying {traced.path} of {traced.ranks} ranks")
        for name, value in _times(replay, traced, this, wanted).items():
            seconds.setdefault(name, {}).setdefault(traced.ranks, []).append(value)
    return replace(
        found, scaling=tuple(scaling_of(name, own, wanted.asked, wanted.seed) for name, own in seconds.items())
    )


def _times(replay: Replay, traced: Traced, this: Network, wanted: Wanted) -> dict[str, float]:
    """A trace's run times by the networks' own figures."""
    source, kind = source_of(Path(traced.path))
    program = _loaded(replay, source, cast(Literal["trace", "goal"], kind), this, wanted)
    scene = _Scene(replay, program, traced, this, replace(wanted, draws=0))
    forecasts = scene.forecasts([this, *wanted.networks])
    scene.calibrate(
        forecasts[this.name], _calibrating(scene, source, cast(Literal["trace", "goal"], kind), forecasts[this.name])
    )
    return {name: scene.calibrated(one).seconds for name, one in forecasts.items()}
