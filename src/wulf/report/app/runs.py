"""Applications of a run: figures with intervals over runs, what was checked, and why runs have no figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wulf.core.names import plural, printable, subject_text
from wulf.core.records import Record
from wulf.core.units import show
from wulf.report.app.hpcc import hpcc_parts, is_told
from wulf.report.kit.figures import interval_text, metric_name, value_text, verdict_text
from wulf.report.kit.printing import new_table, say
from wulf.store.run import Run

PROBE, PHASE = "app", "app"

WORDS = {
    "wrong": "a wrong answer", "timeout": "no end in time", "failed": "a bad end", "no-figure": "no figure",
}  # fmt: skip
"""Code of a run that has no figure → what it had instead."""

NOT_FACTS = frozenset({"checks", "notes", "usage"})

HIDDEN = frozenset({"pattern", "ranks", "per_node", "mpi", "program"})
"""Parameters that the line about the launch says."""


@dataclass(frozen=True)
class Application:
    """What one subject's runs of an application came to; the record of the figure that it was run for comes first."""

    records: tuple[Record, ...]
    failures: tuple[Mapping[str, str], ...]

    @property
    def main(self) -> Record:
        """Of the figure that decides when it has been run often enough."""
        return self.records[0]

    @property
    def runs(self) -> int:
        """All of them, those without a figure included."""
        return self.main.replicates + len(self.failures)

    @property
    def info(self) -> Mapping[str, Any]:
        """What its last good run said."""
        return self.main.info

    @property
    def name(self) -> str:
        """`phyml: bootstraps 8, taxa 16`."""
        params = self.main.params
        shown = [f"{key} {value}" for key, value in sorted(params.items()) if value is not None and key not in HIDDEN]
        said = str(params["command"]) if "command" in params else ", ".join(shown)
        return printable(f"{params.get('pattern', '')}{': ' if said else ''}{said}")

    @property
    def launch(self) -> str:
        """`2 ranks, openmpi 4.1.4, /usr/bin/phyml-mpi`."""
        params = self.main.params
        ranks = [plural(int(params["ranks"]), "rank")] if params.get("ranks") else []  # type: ignore[arg-type]
        return printable(", ".join([*ranks, *(str(params[key]) for key in ("mpi", "program") if params.get(key))]))

    def lines(self) -> list[str]:
        """What stands below its figures: checks, facts, notes, and runs that had no figure."""
        said = []
        checks, facts = self.info.get("checks") or {}, {k: v for k, v in self.info.items() if k not in NOT_FACTS}
        if checks:
            said.append(f"checked: {'; '.join(map(str, checks.values()))}")
        if facts:
            said.append(", ".join(f"{name} {_fact(value)}" for name, value in facts.items()))
        said += [f"note: {note}" for note in self.info.get("notes") or ()]
        if self.failures:
            counts = Counter(WORDS.get(failure["code"], failure["code"]) for failure in self.failures)
            words = ", ".join(f"{count} × {word}" for word, count in counts.items())
            said.append(f"of {plural(self.runs, 'run')}, {len(self.failures)} had no figure: {words}")
        return [printable(line) for line in said]


def _fact(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def is_app(record: Record) -> bool:
    """Whether a record is of `wulf app`; a campaign's measurements of a program stand in its own report."""
    return record.probe == PROBE and record.phase == PHASE


def applications(run: Run) -> list[Application]:
    """Each subject's, in the order measured."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in filter(is_app, run.records):
        key = str(sorted((name, str(value)) for name, value in record.params.items()))
        found.setdefault((record.subject, key), []).append(record)
    return [Application(tuple(records), _failures(run, records[0])) for records in found.values()]


def _failures(run: Run, main: Record) -> tuple[Mapping[str, str], ...]:
    """Why runs of this subject have no figure."""
    cells = {
        cell["id"]
        for cell in run.plan.get("cells", ())
        if cell.get("program") == PROBE and cell["client"] == main.subject and _same(cell, main)
    }
    return tuple(r["error"] for r in run.replicates if r.get("cell") in cells and not r.get("ok", True))


def _same(cell: Mapping[str, Any], main: Record) -> bool:
    return {"pattern": cell["pattern"], **cell["params"], **cell["about"]} == main.params


def print_apps(run: Run, console: Console) -> None:
    """A table for each application, nodes below each other; then what is to be said of each."""
    groups: dict[tuple[str, str], list[Application]] = {}
    for one in applications(run):
        groups.setdefault((one.name, one.launch), []).append(one)
    for (name, launch), members in groups.items():
        console.print()
        say(console, Text(name, style="bold"))
        if launch:
            say(console, Text(launch, style="dim"))
        console.print(Padding(_table(members), (0, 0, 0, 2), expand=False), highlight=False)
        for line, where in _lines(members).items():
            say(console, Text(f"{f'{where}: ' if len(members) > 1 else ''}{line}"), indent=2)


def _table(members: Sequence[Application]) -> Table:
    table = new_table("", "figure", "value", "interval", "runs", "verdict", right=range(2, 5), overflow="fold")
    for one in members:
        for record in one.records:
            cells = (metric_name(record.metric), value_text(record), interval_text(record), str(record.replicates))
            subject = subject_text(record.subject) if record is one.main else ""
            table.add_row(*map(printable, (subject, *cells, verdict_text(record))))
    return table


def _lines(members: Sequence[Application]) -> dict[str, str]:
    """Line → the nodes of which it is to be said."""
    found: dict[str, list[str]] = {}
    for one in members:
        for line in one.lines():
            found.setdefault(line, []).append(subject_text(one.main.subject))
    return {line: ", ".join(where) for line, where in found.items()}


def app_section(run: Run) -> list[dict[str, Any]]:
    """What the page says of each application; empty where none was run."""
    return [
        {
            "name": one.name,
            "subject": subject_text(one.main.subject),
            "launch": one.launch,
            "lines": one.lines(),
            "reasons": list(dict.fromkeys(printable(failure["message"]) for failure in one.failures)),
            "samples": [show(value, one.main.unit) for value in one.main.samples],
            "hpcc": (parts := hpcc_parts(one.records)),
            "rows": [_row(record) for record in one.records if parts is None or not is_told(record)],
        }
        for one in applications(run)
    ]


def _row(record: Record) -> dict[str, Any]:
    return {
        "metric": printable(metric_name(record.metric)),
        "value": value_text(record),
        "interval": interval_text(record),
        "runs": record.replicates,
        "verdict": printable(verdict_text(record)),
    }
