"""Tables of what traces hold: a line for each record, `Op field=value …` without times, by family of calls and rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.process.native.trace_reading import Trace

TABLES = Path(__file__).parent / "trace" / "calls"


def _listed(values: Iterable[Any]) -> str:
    return ",".join(map(str, values)) or "-"


def _completion(one: dict[str, Any]) -> str:
    """`0`, or with what else is told: `0(from=1/11,bytes=20,cancelled)`."""
    told = [f"from={one['source']}/{one['tag']}"] if "source" in one else []
    told += [f"bytes={one['bytes']}"] if "bytes" in one else []
    told += ["cancelled"] if one.get("cancelled") else []
    return f"{one['request']}({','.join(told)})" if told else str(one["request"])


def _value(name: str, value: Any) -> str:
    if name == "completion":
        return _completion(value)
    if name == "completions":
        return _listed(map(_completion, value))
    return _listed(value) if isinstance(value, list) else str(value)


def line_of(record: dict[str, Any]) -> str:
    """A record's line."""
    fields = " ".join(f"{name}={_value(name, value)}" for name, value in record.items()
                      if name not in ("op", "gap", "call", "thread"))  # fmt: skip
    return f"{record['op'].removeprefix('MPI_')} {fields}".rstrip()


def lines_of(trace: Trace) -> list[str]:
    """A rank's lines. How often it asked in vain, and where its calls stand, is no other's."""
    return [line_of(record) for record in trace.records if record["op"] not in ("thread", "tests", "site", "site_name")]


@dataclass(frozen=True)
class Table:
    """A family of calls: its ranks' lines, those of one MPI alone marked by its name and a colon."""

    name: str
    ranks: tuple[tuple[str, ...], ...]

    def expected(self, kind: str) -> list[list[str]]:
        return [[line.partition(": ")[2] if ": " in line else line for line in lines
                 if ": " not in line or line.startswith(f"{kind}: ")] for lines in self.ranks]  # fmt: skip

    def calls(self) -> set[str]:
        """The table's calls that are asserted under every MPI."""
        return {line.split()[0] for lines in self.ranks for line in lines if ": " not in line}


def read_table(path: Path) -> Table:
    """A file of lines under `rank 0`, `rank 1` …; `#` begins a comment."""
    ranks: list[list[str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("rank "):
            assert text == f"rank {len(ranks)}", f"{path}: {text}"
            ranks.append([])
        elif text:
            ranks[-1].append(text)
    return Table(path.stem, tuple(map(tuple, ranks)))


def tables() -> list[Table]:
    return [read_table(path) for path in sorted(TABLES.glob("*.txt"))]
