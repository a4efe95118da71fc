"""BLAS libraries side by side, read back from the records of `wulf app blas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from wulf.agent.blas.find import label
from wulf.core.errors import UsageError
from wulf.core.records import FOREIGN, Record, info_as
from wulf.measure.engine.probes import AGENT

_PRODUCT, _PEAK = "dgemm", "fma"
"""The probes of products and of the peak."""


class _Product(TypedDict):
    value: float | None
    n: NotRequired[int]
    reason: NotRequired[str | None]


class _Plain(TypedDict, total=False):
    plain: bool


class _Called(TypedDict, total=False):
    """What a record of `dgemm` says of its library."""

    libraries: list[_Plain]


class Library(_Plain):
    """A library that was called: its median rate [flop/s] of `n` products, and the seconds that they took."""

    path: str
    name: NotRequired[str]
    version: NotRequired[str | None]
    rate: _Product
    seconds: float


class _Products(TypedDict):
    """What `dgemm` says of its figure."""

    libraries: list[Library]


@dataclass(frozen=True)
class LibraryRates:
    """A library on a node: its rate by NB (records), and the variables that choose it for a program."""

    node: str
    path: str
    rates: Mapping[int, Record]
    choose: Mapping[str, str]

    @property
    def label(self) -> str:
        return label(self.path)

    @property
    def plain(self) -> bool:
        """Whether programs can use it: the libraries of NumPy's and SciPy's wheels give their functions other names."""
        told = (record.said(_Called) for record in self.rates.values())
        return all(library.get("plain", True) for products in told for library in products.get("libraries", ()))

    @property
    def best(self) -> Record | None:
        """Its fastest NB; None where it has no rate."""
        there = [record for record in self.rates.values() if record.value is not None]
        return max(there, key=lambda record: record.value or 0.0) if there else None


def called_libraries(node: str, answer: Mapping[str, Any]) -> list[Library]:
    """Of a node's answer to `dgemm`. Raises UsageError where it is none."""
    return info_as(_Products, answer.get("info"), f"{node}'s answer to {_PRODUCT}", FOREIGN)["libraries"]


def path_of(wanted: str, answer: Mapping[str, Any]) -> str | None:
    """Where a node has the library of this path or label; None: nowhere.

    Parameters
    ----------
    answer
        What the node's agent answered to `blas_find`, asked also for `wanted`.
    """
    there = {name: library["path"] for library in answer["libraries"] for name in (library["label"], library["path"])}
    return there.get(wanted) or (wanted if wanted in answer["also"] else None)


def common_path(wanted: str, answers: Mapping[str, Mapping[str, Any]]) -> str:
    """The one path at which all nodes have the library of this path or label.

    Raises
    ------
    UsageError
        A node lacks it, or has it elsewhere than the others.
    """
    paths = {node: path_of(wanted, answer) for node, answer in answers.items()}
    for node, path in paths.items():
        if path is None:
            there = ", ".join(library["label"] for library in answers[node]["libraries"])
            raise UsageError(f"the BLAS {wanted!r} is not there on {node}", f"it has: {there or 'none'}")
    if len(set(paths.values())) > 1:
        where = ", ".join(f"{path} on {node}" for node, path in paths.items())
        raise UsageError(f"the BLAS {wanted!r} is not at one path on all nodes: {where}", "name one by its path")
    return str(next(iter(paths.values()), wanted))


@dataclass
class Table:
    """All rows, the fastest library of each node first, and the nodes' measured peaks."""

    rows: list[LibraryRates]
    peaks: dict[str, Record]


Found = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Node → path → the variables that choose it."""


def table_of(records: Sequence[Record], found: Found) -> Table:
    """The rows of a run's records, as a pure function of them."""
    rates: dict[tuple[str, str], dict[int, Record]] = {}
    for record in records:
        if record.probe == AGENT and record.params.get("pattern") == _PRODUCT:
            key = (record.subject, record.text("library"))
            rates.setdefault(key, {})[int(record.number("k"))] = record
    rows = [
        LibraryRates(node, path, by_block, found.get(node, {}).get(path, {}))
        for (node, path), by_block in rates.items()
    ]
    rows.sort(key=lambda row: (row.node, -((row.best.value or 0.0) if row.best else 0.0)))
    peaks = {record.subject: record for record in records if record.params.get("pattern") == _PEAK}
    return Table(rows, peaks)
