"""BLAS libraries side by side, read back from the records of `wulf app blas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from wulf.core.records import Record
from wulf.measure.plan import AGENT

_PRODUCT, _PEAK = "dgemm", "fma"
"""The probes of products and of the peak."""


@dataclass(frozen=True)
class Row:
    """A library on a node: its rate by NB (records), and the variables that choose it for a program."""

    node: str
    path: str
    rates: Mapping[int, Record]
    choose: Mapping[str, str]

    @property
    def label(self) -> str:
        """openblas-pthread, of Debian's folders; else the file's name."""
        path = PurePath(self.path)
        return path.parent.name if path.name.startswith("libblas.so") else path.name

    @property
    def plain(self) -> bool:
        """Whether programs can use it: the libraries of NumPy's and SciPy's wheels give their functions other names."""
        infos = ((record.model_extra or {}).get("info") or {} for record in self.rates.values())
        return all(library.get("plain", True) for info in infos for library in info.get("libraries", ()))

    @property
    def best(self) -> Record | None:
        """Its fastest NB; None where it has no rate."""
        there = [record for record in self.rates.values() if record.value is not None]
        return max(there, key=lambda record: record.value or 0.0) if there else None


@dataclass
class Table:
    """All rows, the fastest library of each node first, and the nodes' measured peaks."""

    rows: list[Row]
    peaks: dict[str, Record]


Found = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Node → path → the variables that choose it."""


def table_of(records: Sequence[Record], found: Found) -> Table:
    """The rows of a run's records, as a pure function of them."""
    rates: dict[tuple[str, str], dict[int, Record]] = {}
    for record in records:
        if record.probe == AGENT and record.params.get("pattern") == _PRODUCT:
            key = (record.subject, str(record.params["library"]))
            rates.setdefault(key, {})[int(str(record.params["k"]))] = record
    rows = [Row(node, path, by_block, found.get(node, {}).get(path, {})) for (node, path), by_block in rates.items()]
    rows.sort(key=lambda row: (row.node, -((row.best.value or 0.0) if row.best else 0.0)))
    peaks = {record.subject: record for record in records if record.params.get("pattern") == _PEAK}
    return Table(rows, peaks)
