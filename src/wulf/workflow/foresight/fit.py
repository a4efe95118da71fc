"""The baseline's figures fitted to the trace itself, on one half of its calls; the other half says how well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wulf.core.errors import UsageError
from wulf.model.foresight.prediction import CallKind, Differences, ReplayProgram, TraceFit
from wulf.model.network.figures import Network, Values, nominal
from wulf.model.network.file import EITHER, Costs, Figure, NetworkFile
from wulf.model.network.trace_fit import FITTED, Kinds, fit
from wulf.stats.estimates import Interval
from wulf.workflow.foresight.replaying import Replay

MOST_OPERATIONS = 20_000_000
"""Of a trace whose figures are fitted: some hundred replays of it are made."""

FIRST, HALVES = "first", (0, 1)


def fitted_network(
    replay: Replay,
    program: ReplayProgram,
    trace: Path,
    this: Network,
    as_object: Callable[[tuple[Values, Values | None]], Mapping[str, Any]],
) -> tuple[Network, TraceFit]:
    """The baseline, with its latency, overheads, gap and time of a byte as the trace's calls have them.

    Parameters
    ----------
    as_object
        `inter` and `intra` as a network of the replay.

    Raises
    ------
    UsageError
        The trace is too large for so many replays.
    """
    if program.ops > MOST_OPERATIONS:
        raise UsageError(
            f"--fit makes some hundred replays, and the trace has {program.ops:,} operations",
            f"trace a shorter run, of {MOST_OPERATIONS:,} at most",
        )
    inter, intra = nominal(this)

    def differences(values: Mapping[str, float], half: int) -> Differences:
        return replay.differences(program, as_object(({**inter, **values}, intra)), trace, half)

    found = fit(inter, lambda values: _kinds(differences(values, HALVES[0])))
    values = {part: one.value for part, one in found.parts.items()}
    fitted, held_out = (_told(differences(values, half)) for half in HALVES)
    told = TraceFit({part: (inter[part], found.parts.get(part)) for part in FITTED}, fitted, held_out, found.replays)
    return replace(this, base=_network_file(this.base, found.parts)), told


def _of_messages(found: Differences) -> list[CallKind]:
    """Kinds whose time the figures explain: a rank's first call with another also connects them."""
    return [one for one in found.largest if one.peer != FIRST]


def _kinds(found: Differences) -> Kinds:
    return {
        (one.call, one.up_to, one.peer): (one.traced, one.replayed)
        for one in sorted(_of_messages(found), key=lambda one: (one.call, one.up_to, one.peer))
    }


def _told(found: Differences) -> tuple[float, float]:
    """Seconds of all such calls, as traced and as replayed."""
    own = _of_messages(found)
    return sum(one.traced for one in own), sum(one.replayed for one in own)


def _network_file(base: NetworkFile, parts: Mapping[str, Interval]) -> NetworkFile:
    """The network with these figures; those that stand for them in another way go."""
    source = f"fitted to the calls of the trace, from: {base.title}"
    figures = {name: Figure(value=one.value, low=one.low, high=one.high, source=source) for name, one in parts.items()}
    replaced = {name for pair in EITHER if figures.keys() & set(pair) for name in pair}
    kept = {name: figure for name, figure in base.inter.figures.items() if name not in replaced}
    return base.model_copy(update={"inter": Costs(**{**kept, **figures})})
