"""wulf-replay as a session on this machine: answers as values in SI units, refusals as errors with a next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.programs import find_program
from wulf.cluster.session import RequestError
from wulf.core.errors import UsageError, WulfError
from wulf.model.foresight.forecast import PARTS, Forecast
from wulf.model.foresight.prediction import TIMELINE, CallKind, Differences, LeftOut, ReplayProgram, Step, Timeline
from wulf.model.foresight.prediction import Path as CriticalPath
from wulf.model.foresight.worth import Piecewise, Tolerance
from wulf.model.network.figures import FRACTION_BITS, PICO

PROGRAM = "wulf-replay"

TOGETHER = 64
"""Networks of one request: so many share a pass over the program."""

MOST_HOSTS = 4_000_000
"""Hosts of ranks in one request, over all its networks: they are written out where ranks are not placed in order."""

MOST_KINDS = 10_000
"""Kinds of calls whose times as traced and as replayed are told."""

BY_BYTE = PICO * (1 << FRACTION_BITS)
"""Fixed point of a second a byte."""

NEXT_STEPS = {
    "deadlock": "the trace is cut, or what held these ranks up is not modelled: `wulf trace show` says which",
    "trace": "`wulf trace show` says what is left of it; collect all ranks' files, or trace the program again",
    "memory": "`wulf predict --spill FOLDER` keeps its arrays in files there; or predict on a machine with more memory",
    "spill": "give --spill a folder on a disk with room for some 100 B an operation",
    "write": "free some space, or name another place",
    "limit": "predict fewer networks at a time, with fewer --draws",
    "engine": "`wulf predict --engine b` matches wildcards as the program runs, and models topologies and slow start",
}
"""What to do about an error of the replay, by the field that it is about, or else its code."""


class ReplayError(WulfError):
    """The replay can't be done (exit 3).

    Attributes
    ----------
    reason
        The same in wulf-replay's own words.
    """

    def __init__(self, what: str, next_step: str = "", reason: str = "") -> None:
        super().__init__(what, next_step)
        self.reason = reason or what


class ReplaySession(Protocol):
    """What a session can be asked: `wulf.cluster.session.Session`, or a test's."""

    def request(self, op: str, timeout: float | None = ..., **fields: Any) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        ...


@contextmanager
def replay_session() -> Iterator[ReplaySession]:
    """wulf-replay, started on this machine; ended when the block ends.

    Raises
    ------
    UsageError
        It has not been built.
    NodeError
        It could not be started.
    """
    inventory = Inventory.this_machine()
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, find_program(PROGRAM))
        for error in opened.failed.values():
            raise error
        yield next(iter(opened.sessions.values()))


class Replay:
    """Questions to one session, each answered as a value."""

    def __init__(self, session: ReplaySession) -> None:
        self._session = session

    def _ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """An answer, however long it takes: a replay of a large trace takes minutes, and a dead program is told."""
        try:
            return self._session.request(op, timeout=None, **fields)
        except RequestError as error:
            step = NEXT_STEPS.get(error.field or "") or NEXT_STEPS.get(error.code, "")
            if error.code == "bad-parameter":
                raise UsageError(f"the replay refuses: {error.message}", step) from error
            what = f"the replay can't go on: {error.message} ({error.code})"
            raise ReplayError(what, step, error.message) from error

    def spill(self, folder: Path) -> None:
        """Keep large arrays of what is loaded and replayed from now on in files of a folder, which have no names."""
        self._ask("spill", folder=str(folder.resolve()))

    def load(
        self,
        source: Path,
        kind: Literal["trace", "goal"],
        collectives: Mapping[str, str | float],
        compute: float,
        own: Mapping[str, int] | None,
        *,
        connect: float = 0.0,
    ) -> ReplayProgram:
        """A trace as a program of the replay.

        Parameters
        ----------
        collectives
            What it may hold is in docs/how-it-works/replay-lowering.md.
        own
            What a rank's messages to itself cost (`wulf.model.network.figures.copy_object`); None: as others.
        connect
            By how much longer the first messages between two ranks take [s].
        """
        changes: dict[str, Any] = {"collectives": dict(collectives)} if collectives else {}
        changes |= {"connect_ps": round(connect * PICO)} if connect else {}
        changes |= {"copy": dict(own)} if own is not None else {}
        answer = self._ask("load", **{kind: str(source.resolve())}, compute=compute, **changes)
        coverage, copies = answer.get("coverage", {}), answer.get("copies", {})
        left = tuple(
            LeftOut(str(one["what"]), int(one["calls"]), float(one["seconds"]), str(one["why"]))
            for one in coverage.get("left_out", ())
        )
        return ReplayProgram(
            int(answer["program"]), int(answer["ranks"]), int(answer["ops"]), int(answer["messages"]),
            int(answer["bytes"]), float(answer["compute"]), float(coverage.get("share", 1.0)), left,
            tuple(str(note) for note in answer.get("notes", ())),
            int(copies.get("messages", 0)), int(copies.get("bytes", 0)),
            int(answer.get("live", 0)), bool(answer.get("graph", False)), connect, int(answer.get("connecting", 0)),
        )  # fmt: skip

    def write(self, program: ReplayProgram, target: str, place: Path) -> None:
        """Write a program for another simulator, into a file or a folder that is there."""
        self._ask("write", program=program.number, **{target: str(place.absolute())})

    def expand(self, algorithm: str, **call: int | tuple[int, ...]) -> list[list[tuple[str, int, int]]]:
        """What a rank sends and receives in a collective: rounds of messages (docs/how-it-works/replay-engine.md)."""
        found: list[list[tuple[str, int, int]]] = self._ask("expand", algorithm=algorithm, **call)["rounds"]
        return found

    def runs(
        self, program: ReplayProgram, networks: Sequence[Mapping[str, Any]], engine: str, *, parts: bool = False
    ) -> list[dict[str, Any]]:
        """The program's run on each network, as the replay tells it; `parts`: with where the time goes."""
        found: list[dict[str, Any]] = []
        hosts = max((len(one["hosts"]) for one in networks if isinstance(one.get("hosts"), list)), default=1)
        together = max(1, min(TOGETHER, MOST_HOSTS // max(1, hosts)))
        for first in range(0, len(networks), together):
            some = list(networks[first : first + together])
            answer = self._ask("replay", program=program.number, networks=some, engine=engine, parts=parts)
            found += answer["runs"]
        return found

    def ends(self, program: int, network: Mapping[str, Any], engine: str) -> list[float]:
        """When each rank of the program of that number ends [s]."""
        answer = self._ask("replay", program=program, networks=[network], engine=engine, parts=False, detail=True)
        return [ps / PICO for ps in answer["runs"][0]["ranks"]]

    def join(self, programs: Sequence[ReplayProgram]) -> int:
        """The number of a program that is these beside each other: the first one's ranks, then the next one's."""
        return int(self._ask("join", programs=[one.number for one in programs])["program"])

    def curve(
        self,
        program: ReplayProgram,
        network: Mapping[str, Any],
        over: Literal["latency", "byte"],
        first: float,
        last: float,
    ) -> Piecewise:
        """Run time over a latency, or the time of a byte, between two of them: every breakpoint."""
        unit = PICO if over == "latency" else BY_BYTE
        answer = self._ask(
            "breakpoints", program=program.number, network=network, over=over,
            **{"from": round(first * unit), "to": round(last * unit)},
        )  # fmt: skip
        x, y = zip(*answer["points"], strict=True)
        slopes = tuple(float(slope) for slope in answer["slopes"])
        return Piecewise(over, tuple(v / unit for v in x), tuple(v / PICO for v in y), slopes)

    def tolerances(
        self, program: ReplayProgram, network: Mapping[str, Any], shares: Sequence[float]
    ) -> tuple[Tolerance, ...]:
        """How much more latency, and time of a byte, makes the run longer by each share."""
        answer = self._ask("tolerance", program=program.number, network=network, shares=list(shares))
        return tuple(
            Tolerance(share, _scaled(one.get("latency_ps"), PICO), _scaled(one.get("byte_fp"), BY_BYTE))
            for share, one in zip(shares, answer["tolerances"], strict=True)
        )

    def path(self, program: ReplayProgram, network: Mapping[str, Any], most: int) -> CriticalPath:
        """The critical path, or its longest stretches."""
        answer = self._ask("path", program=program.number, network=network, most=most)
        steps = tuple(
            Step(
                int(one["rank"]), one["begin"] / PICO, one["end"] / PICO, str(one["kind"]), int(one.get("mark", 0)),
                one.get("from"), one.get("to"), one.get("bytes"),
            )
            for one in answer["steps"]
        )  # fmt: skip
        ranks = {int(one["rank"]): {part: ps / PICO for part, ps in one["parts"].items()} for one in answer["ranks"]}
        return CriticalPath(steps, ranks, int(answer["count"]))

    def differences(
        self, program: ReplayProgram, network: Mapping[str, Any], trace: Path, half: int | None = None
    ) -> Differences:
        """Where the trace's calls took longer or shorter than in the replay.

        Parameters
        ----------
        half
            0 or 1: of every other stretch of the calls alone.
        """
        which = {} if half is None else {"half": half}
        answer = self._ask(
            "calls", program=program.number, network=network, trace=str(trace.resolve()), most=MOST_KINDS, **which
        )
        return Differences(
            tuple(_call_kind(one) for one in answer["calls"]),
            answer["traced_ps"] / PICO, answer["replayed_ps"] / PICO, int(answer["kinds"]),
        )  # fmt: skip

    def timeline(self, program: ReplayProgram, network: Mapping[str, Any], buckets: int, rows: int) -> Timeline:
        """What ranks do over time, in so many buckets and at most so many rows of ranks."""
        answer = self._ask("timeline", program=program.number, network=network, buckets=buckets, rows=rows)
        width, found = answer["bucket_ps"], answer["rows"]
        shares = {
            part: [[round(ps / (width * row["ranks"]), 3) for ps in row[part]] for row in found] for part in TIMELINE
        }
        ranks = tuple((int(row["rank"]), int(row["rank"]) + int(row["ranks"]) - 1) for row in found)
        return Timeline(width / PICO, ranks, shares)


def _call_kind(one: Mapping[str, Any]) -> CallKind:
    worst = one["worst"]
    single = (int(worst["rank"]), int(worst["mark"]), worst["traced_ps"] / PICO, worst["replayed_ps"] / PICO)
    return CallKind(
        str(one["call"]), int(one["up_to"]), str(one["with"]), int(one["calls"]), one["traced_ps"] / PICO,
        one["replayed_ps"] / PICO, single,
    )  # fmt: skip


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit


def forecast(name: str, nominal: Mapping[str, Any], drawn: Sequence[Mapping[str, Any]]) -> Forecast:
    """A forecast of the replay's runs: by the network's own figures, with parts, and by its draws."""
    parts = {part: nominal["parts"][part] / PICO for part in PARTS} if "parts" in nominal else {}
    draws = np.array([run["ps"] / PICO for run in drawn], dtype=float)
    return Forecast(name, nominal["ps"] / PICO, draws, parts, int(nominal.get("inversions", 0)))
