"""A trace replayed on networks: the one that it was made on first, to see how far off that is, then those to be had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from wulf.core.errors import UsageError
from wulf.model.foresight.forecast import Forecast, gain_of
from wulf.model.foresight.prediction import Counterfactual, Differences, Prediction, Traced, TraceFit
from wulf.model.foresight.prediction import Path as CriticalPath
from wulf.model.foresight.worth import Doubts, Offer, candidate
from wulf.model.network.figures import Network, nominal, scaled
from wulf.model.network.file import shipped_network
from wulf.workflow.foresight.cautions import cautions, of_one_run
from wulf.workflow.foresight.engine import engine_for
from wulf.workflow.foresight.fit import FIRST, MOST_OPERATIONS, fitted_network
from wulf.workflow.foresight.replaying import Replay, ReplayError
from wulf.workflow.foresight.scaling import LEAST_COUNTS, scaling_of
from wulf.workflow.foresight.scene import TRACE, Scene, Wanted, loaded_for
from wulf.workflow.foresight.traced import middle_of

IDEAL: Final = "ideal"

CHANGES: tuple[tuple[str, dict[str, float]], ...] = (
    ("half the latency", {"latency": 0.5}),
    ("half the overhead of a message", {"overhead": 0.5}),
    ("half the gap between messages", {"gap": 0.5}),
    ("twice the bandwidth", {"bandwidth": 2.0}),
)
"""What a campaign of tuning could reach with one part of the network; what is gained then bounds what it can buy."""

LEAST_CONNECT, LEAST_SHARE = 1e-3, 0.2
"""Seconds a call below which it is nothing that ranks have to connect, as their begins differ by as much; and what
share of it the first messages must explain."""

Say = Callable[[str], None]


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
    program = loaded_for(replay, Path(traced.path), this, wanted)
    scene, fit = _connected(Scene(replay, program, traced, this, wanted)), None
    program = scene.program
    if wanted.fit:
        say("fitting the network's figures to the trace's calls")
        scene, fit = _fitted(scene)
        this, wanted = scene.this, scene.wanted
    runs = (1 + len(wanted.networks)) * (1 + wanted.draws)
    ways = [scene.ways(network) for network in (this, *wanted.networks)]
    engine, chosen = engine_for(replay, program, ways, wanted.engine, runs)
    wanted = scene.wanted = replace(wanted, engine=engine)
    say(f"replaying {program.ops:,} operations of {program.ranks} ranks on {1 + len(wanted.networks)} networks")
    forecasts = scene.forecasts([this, *wanted.networks])
    scene.calibrate(forecasts[this.name])
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
                baseline, forecasts[network.name], doubts, offers[network.name], asked=wanted.gain,
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
        beside=scene.beside(everyone) if wanted.beside else (),
        engine=wanted.engine, currency=_currency(wanted.networks),
        notes=(
            *traced.notes, *program.notes, *this.notes, *([chosen] if chosen else []), *warned,
            *of_one_run(calibration), *scene.notes,
        ),
    )  # fmt: skip


def _connected(scene: Scene) -> Scene:
    """The scene with the time that it took ranks to connect, as the trace's first calls tell it.

    They took longer than the replay's, which has no such thing. That goes by the library's own clocks and the kernel's
    rather than by the network's, so that it is the same on all networks.
    """
    if scene.kind != TRACE or scene.program.live or scene.program.ops > MOST_OPERATIONS:
        return scene
    try:
        calls, missing = _first_calls(scene)
    except (ReplayError, UsageError) as error:  # a topology, which these calls are not replayed on
        scene.lack("the time to connect", error.what)
        return scene
    if missing <= LEAST_CONNECT * calls:
        return scene
    tried = scene.connecting(missing / calls)
    added = missing - _first_calls(tried)[1]
    if added < LEAST_SHARE * missing:
        return scene  # it is no message that these calls waited for
    return scene.connecting(tried.program.connect * missing / added)


def _first_calls(scene: Scene) -> tuple[int, float]:
    """Ranks' first calls with another: how many, and seconds that they took longer than in the replay."""
    found = scene.replay.differences(scene.program, scene.object(scene.this), scene.source)
    first = [one for one in found.largest if one.peer == FIRST]
    return sum(one.calls for one in first), -sum(one.difference for one in first)


def _fitted(scene: Scene) -> tuple[Scene, TraceFit]:
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
    return Scene(scene.replay, scene.program, scene.traced, this, wanted), fit


def _changes(scene: Scene, baseline: Forecast) -> tuple[Counterfactual, ...]:
    """What the baseline would do with a part of it changed, and what no network at all would."""
    named = [(what, scaled(scene.this, **factors)) for what, factors in CHANGES]
    named.append(("a network that takes no time", Network(shipped_network(IDEAL))))
    replayed = scene.forecasts([network for _, network in named])
    forecasts = {name: scene.calibrated(one) for name, one in replayed.items()}
    return tuple(
        Counterfactual(what, forecasts[network.name], gain_of(baseline, forecasts[network.name]))
        for what, network in named
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
    return {name: one.seconds for name, one in run_times(replay, traced, this, replace(wanted, draws=0)).items()}


def run_times(replay: Replay, traced: Traced, this: Network, wanted: Wanted) -> dict[str, Forecast]:
    """A trace's run times on the baseline and the candidates, as the program's: nothing else is told of it.

    Raises
    ------
    ReplayError
        The trace is torn, or deadlocks.
    """
    program = loaded_for(replay, Path(traced.path), this, wanted)
    scene = Scene(replay, program, traced, this, wanted)
    everyone = [this, *wanted.networks]
    ways, runs = [scene.ways(network) for network in everyone], len(everyone) * (1 + wanted.draws)
    scene.wanted = replace(wanted, engine=engine_for(replay, program, ways, wanted.engine, runs)[0])
    forecasts = scene.forecasts(everyone)
    scene.calibrate(forecasts[this.name])
    return {name: scene.calibrated(one) for name, one in forecasts.items()}
