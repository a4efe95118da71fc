"""Throughput over message size: in which ways it is measured, what may hold long messages back, and how that shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell

PHASE, PROOF = "throughput", "throughput proof"
"""All sizes, each measured until its interval is narrow; then what is claimed of them, in blocks."""

ARM, SUSPECT = "arm", "suspect"
"""What a record's `params` say beside the probe's own: in which way, and what was changed to tell a cause."""


@dataclass(frozen=True)
class Arm:
    """One way of sending: a curve.

    Attributes
    ----------
    params
        What it asks of the stream.
    """

    name: str
    params: Mapping[str, Param]


NET_ARMS = (
    Arm("one way, blocking", {"direction": "out", "waiting": "block"}),
    Arm("one way, non-blocking", {"direction": "out", "waiting": "epoll"}),
    Arm("both ways, blocking", {"direction": "both", "waiting": "block"}),
    Arm("both ways, non-blocking", {"direction": "both", "waiting": "epoll"}),
)

MPI_ARMS = (
    Arm("one way, blocking", {"both": False, "mode": "blocking"}),
    Arm("one way, non-blocking", {"both": False, "mode": "nonblocking"}),
    Arm("both ways, non-blocking", {"both": True, "mode": "nonblocking"}),
)
"""Without both ways by MPI_Send: two ranks that send what is not eager wait for each other for ever (MPI 4.1, 3.5)."""

_ORDER = {name: place for place, name in enumerate(dict.fromkeys(arm.name for arm in (*NET_ARMS, *MPI_ARMS)))}


@dataclass(frozen=True)
class Suspect:
    """What may make long messages slower than the best size, and the change that shows it.

    Attributes
    ----------
    changes
        Of the stream's parameters; `BEST` stands for the best size.
    at_best
        The change is made at the best size, and makes it as slow as the long message where the suspicion is true;
        else it is made at the long message, and makes that faster.
    cause
        What is said then.
    """

    name: str
    changes: Mapping[str, Param]
    at_best: bool
    cause: str

    def of(self, best: int) -> dict[str, Param]:
        """The changes, with the best size in its place."""
        return {name: best if value == BEST else value for name, value in self.changes.items()}


BEST = "best size"

NET_SUSPECTS = (
    Suspect(
        "pieces", {"call_bytes": BEST}, at_best=False,
        cause="Each call hands over a whole message: handed over in calls of the best size, it is faster",
    ),
    Suspect(
        "wake-ups", {"gather": False}, at_best=False,
        cause="The receiver sleeps until a whole message has come: woken as soon as there is anything, it is faster",
    ),
    Suspect(
        "cold memory", {"cold": True}, at_best=True,
        cause="Long messages do not stay in the caches: from memory that was not used lately the best size is slower",
    ),
)  # fmt: skip

MPI_SUSPECTS = (
    Suspect(
        "rendezvous", {"send": "synchronous"}, at_best=True,
        cause="Above the eager limit a message waits for its receive: the best size is slower by synchronous sends",
    ),
    Suspect(
        "cold memory", {"buffers": "cold"}, at_best=True,
        cause="Long messages do not stay in the caches: from buffers that were not used lately the best size is slower",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """A curve in short.

    Attributes
    ----------
    best, first, last
        The best size, and from where to where about as much goes through.
    fallen
        The longer size at which it has fallen the most; None where none has fallen.
    """

    best: int
    first: int
    last: int
    fallen: int | None

    @property
    def claimed(self) -> list[int]:
        """The sizes that something is said of beside the best: the ends of the range, what has fallen."""
        sizes = {self.first, self.last} | (set() if self.fallen is None else {self.fallen})
        return sorted(sizes - {self.best})


ABOUT = 0.05
"""Sizes within this of the best are as good; what lies farther below, beyond them, has fallen."""


def best_size(medians: Mapping[int, float]) -> int:
    """Of at least one size that at which the most goes through, the shortest where several are alike."""
    return max(sorted(medians), key=lambda size: medians[size])


def shape_of(medians: Mapping[int, float]) -> Shape | None:
    """What stands out in throughput over size; None without any.

    Chosen, not proven: the best of many noisy figures is too good. What is claimed is measured anew.
    """
    if not medians:
        return None
    sizes, best = sorted(medians), best_size(medians)
    good = [medians[size] >= (1 - ABOUT) * medians[best] for size in sizes]
    first = last = sizes.index(best)
    while first > 0 and good[first - 1]:
        first -= 1
    while last + 1 < len(sizes) and good[last + 1]:
        last += 1
    beyond = sizes[last + 1 :]
    fallen = min(beyond, key=lambda size: medians[size]) if beyond else None
    return Shape(best, sizes[first], sizes[last], fallen)


def arms_of(records: Sequence[Record]) -> dict[str, dict[int, Record]]:
    """Arm → size → throughput, of a curve's first phase; the arms in their order, whatever was measured first."""
    found: dict[str, dict[int, Record]] = {}
    for record in records:
        if record.phase == PHASE and record.metric == "throughput":
            found.setdefault(str(record.params.get(ARM)), {})[int(record.number("bytes"))] = record
    return dict(sorted(found.items(), key=lambda item: _ORDER.get(item[0], len(_ORDER))))


def medians(points: Mapping[int, Record]) -> dict[int, float]:
    """Size → throughput, where there is one."""
    return {size: record.value for size, record in points.items() if record.value}


def curve_cells(cell: Cell, arms: Sequence[Arm], sizes: Sequence[int]) -> list[Cell]:
    """Every size in every way.

    Parameters
    ----------
    cell
        A stream of the pair; its parameters are what all have in common.
    """
    points = [(arm, size) for arm in arms for size in sizes]
    return [
        replace(cell, id=i, phase=PHASE, params={**cell.params, **arm.params, "bytes": size},
                about={**cell.about, ARM: arm.name})
        for i, (arm, size) in enumerate(points)
    ]  # fmt: skip


def proof_cells(measured: Sequence[Cell], records: Sequence[Record], suspects: Sequence[Suspect]) -> list[Cell]:
    """What it takes to prove each arm's shape: its best size, the ends of the range, what has fallen, each suspect.

    Parameters
    ----------
    measured
        The cells of the curve.
    records
        Theirs.
    """
    found: list[Cell] = []
    for name, points in arms_of(records).items():
        shape = shape_of(medians(points))
        if shape is None:
            continue
        at = {cell.params["bytes"]: cell for cell in measured if cell.about.get(ARM) == name}
        sizes = sorted({shape.best, *shape.claimed})
        found += [replace(at[size], phase=PROOF) for size in sizes if len(sizes) > 1]
        found += _suspected(at, shape, suspects)
    return [replace(cell, id=len(measured) + i) for i, cell in enumerate(found)]


def _suspected(at: Mapping[Param, Cell], shape: Shape, suspects: Sequence[Suspect]) -> Iterator[Cell]:
    """A cell for each suspect, where anything has fallen."""
    for suspect in suspects if shape.fallen is not None else ():
        cell = at[shape.best if suspect.at_best else shape.fallen]
        yield replace(
            cell, phase=PROOF, params={**cell.params, **suspect.of(shape.best)},
            about={**cell.about, SUSPECT: suspect.name},
        )  # fmt: skip
