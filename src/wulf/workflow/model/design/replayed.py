"""How long a traced program takes on every pair of node and network, by a replay on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np

from wulf.core.errors import UsageError
from wulf.core.names import plural
from wulf.model.cost import from_interval
from wulf.model.design.timing import Timing, of_one, of_study, times
from wulf.model.draws import Uncertain
from wulf.model.foresight.forecast import Forecast
from wulf.model.foresight.prediction import Traced
from wulf.model.foresight.worth import LARGEST_MISS
from wulf.model.network.figures import Network
from wulf.model.speedup.study import study
from wulf.store.index import find_run
from wulf.workflow.foresight import replaying
from wulf.workflow.foresight.predict import Say, run_times
from wulf.workflow.foresight.replaying import Replay
from wulf.workflow.foresight.scaling import LEAST_COUNTS
from wulf.workflow.foresight.scene import Wanted
from wulf.workflow.foresight.traced import find_trace, middle_of, read_traced
from wulf.workflow.model.design.asked import Asked, Timings
from wulf.workflow.model.design.file import Candidates


def traces_of(asked: Asked) -> list[Traced]:
    """All of `--for` as traces; empty where they are none."""
    if not asked.sources or any(Path(name).is_file() for name in asked.sources):
        return []
    found: list[Traced] = []
    for name in asked.sources:
        try:
            found.append(read_traced(find_trace(name, asked.directory)))
        except UsageError:
            if len(asked.sources) > 1:
                raise
            find_run(name, asked.directory)  # it says what is wrong where there is no such run either
            return []
    return sorted(found, key=lambda one: one.ranks)


def replayed(
    given: Candidates,
    asked: Asked,
    traces: Sequence[Traced],
    nodes: Mapping[str, Uncertain],
    figures: Mapping[str, Network],
    *,
    say: Say,
) -> tuple[Timings, str, tuple[str, ...]]:
    """Of traces, replayed with every node's speed on every network: times, where they are from, and notes.

    Raises
    ------
    UsageError
        A network has no figures, or there are traces of two numbers of ranks.
    """
    lacking = next((row.name for row in given.network if row.name not in figures), None)
    if lacking is not None:
        raise UsageError(
            f"{asked.path}: network {lacking!r} has no figures, and a trace is replayed by them",
            "give figures = …: a name of `wulf networks list`, a TOML, or a run of `wulf model loggp`",
        )
    counts = sorted({one.ranks for one in traces})
    if 1 < len(counts) < LEAST_COUNTS:
        raise UsageError(
            f"traces of {len(counts)} numbers of ranks say nothing of others: {LEAST_COUNTS} are needed",
            "trace the program with another number of ranks, or give one trace: for designs of just its ranks",
        )
    found: Timings = {}
    missed: dict[int, float] = {}
    with replaying.replay_session() as session:
        for node in given.node:
            say(f"replaying {plural(len(traces), 'trace')} with {node.name}")
            wanted = Wanted([], compute=nodes[node.name].value, draws=asked.draws, seed=asked.seed)
            doubt = Uncertain(1.0, nodes[node.name].draws / nodes[node.name].value)
            forecasts = _forecasts(Replay(session), traces, given, figures, wanted)
            missed |= _missed(forecasts[given.base_network.name], traces) if node is given.base_node else {}
            for name, several in forecasts.items():
                timing = times(_forecast_timing(several, [asked.seed, crc32(f"{node.name} {name}".encode())]), doubt)
                found[node.name, name] = replace(timing, workers=node.workers)
    source = f"{plural(len(traces), 'trace')} of {', '.join(map(str, counts))} ranks"
    notes = [note for one in traces for note in one.notes]
    if missed and max(missed.values()) > LARGEST_MISS:
        worst = max(missed, key=lambda count: missed[count])
        notes.append(
            f"the replay misses the traced run of {worst} ranks by {missed[worst]:.0%}: too far for anything to "
            "follow; `wulf predict` says where it does"
        )
    return found, source, tuple(dict.fromkeys(notes))


def _missed(forecasts: Mapping[int, Forecast], traces: Sequence[Traced]) -> dict[int, float]:
    """Ranks → by which share of the measured time the replay of the base misses it, where it was measured."""
    seconds = {one.ranks: one.seconds for one in traces if one.seconds}
    return {count: one.doubt / seconds[count] for count, one in forecasts.items() if seconds.get(count)}


def _forecasts(
    replay: Replay, traces: Sequence[Traced], given: Candidates, figures: Mapping[str, Network], wanted: Wanted
) -> dict[str, dict[int, Forecast]]:
    """Network → ranks → the run time; of several traces with as many ranks the middle one is replayed."""
    this = figures[given.base_network.name]
    wanted = replace(wanted, networks=[figures[row.name] for row in given.network if row is not given.base_network])
    names = {figures[row.name].name: row.name for row in given.network}
    found: dict[str, dict[int, Forecast]] = {}
    for count in sorted({one.ranks for one in traces}):
        traced = middle_of([one for one in traces if one.ranks == count])
        for name, one in run_times(replay, traced, this, wanted).items():
            found.setdefault(names[name], {})[count] = one
    return found


def _forecast_timing(several: Mapping[int, Forecast], seed: Sequence[int]) -> Timing:
    """A fitted form, as uncertain as the prediction of the most ranks is; of one number of ranks that alone.

    What is not known of a prediction is drawn for each pair by itself (`seed`): what the replay misses of the traced
    run may be gone on another network, or there twice.
    """
    most = max(several)
    interval = several[most].interval
    random = np.random.default_rng(seed)
    seconds = interval.value
    if seconds <= 0:
        raise UsageError("the replay takes no time", "trace a program that runs for longer")
    if len(several) == 1:
        return of_one(most, from_interval(seconds, max(interval.low, 1e-3 * seconds), interval.high, random))
    try:
        timing = of_study(study({float(n): [one.seconds] for n, one in several.items()}, seed=seed[0]))
    except ValueError as error:
        raise UsageError(f"the replayed times can't be fitted: {error}", "trace more numbers of ranks") from error
    spread = from_interval(1.0, interval.low / seconds, interval.high / seconds, random)
    return times(timing, Uncertain(1.0, np.maximum(spread.draws, 1e-3)))
