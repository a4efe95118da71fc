"""Applications of a run: figures with intervals over runs, what was checked, and why runs have no figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from wulf.core.names import plural, shortened, subject_text
from wulf.core.records import Record
from wulf.core.units import show
from wulf.report.app.hpcc import hpcc_parts, is_told
from wulf.report.kit.figures import interval_text, metric_name, usable, value_text, verdict_text
from wulf.report.kit.view import Cell, Columns, Element, Fold, Note, Section
from wulf.store.run import Run

PROBE, PHASE = "app", "app"

WORDS = {
    "wrong": "a wrong answer", "timeout": "no end in time", "failed": "a bad end", "no-figure": "no figure",
}  # fmt: skip
"""Code of a run that has no figure → what it had instead."""

LONGEST_COMMAND = 40
"""Of a headline."""

SHARE = "share."
PEAKS = {"base": "the base clock", "turbo": "the highest clock", "measured": "measured multiply-adds"}
"""Kind of a peak → what it comes from; the first that is known stands in the headline, as in the Top500."""


class _Told(TypedDict, total=False):
    """What the last good run said besides the program's facts."""

    checks: dict[str, Any] | None
    notes: list[str] | None
    usage: Any


NOT_FACTS = _Told.__optional_keys__

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
    def name(self) -> str:
        """`phyml: bootstraps 8, taxa 16`."""
        params = self.main.params
        shown = [f"{key} {value}" for key, value in sorted(params.items()) if value is not None and key not in HIDDEN]
        said = str(params["command"]) if "command" in params else ", ".join(shown)
        return f"{params.get('pattern', '')}{': ' if said else ''}{said}"

    @property
    def launch(self) -> str:
        """`2 ranks, openmpi 4.1.4, /usr/bin/phyml-mpi`."""
        params = self.main.params
        ranks = [plural(int(params["ranks"]), "rank")] if params.get("ranks") else []  # type: ignore[arg-type]
        return ", ".join([*ranks, *(str(params[key]) for key in ("mpi", "program") if params.get(key))])

    def lines(self) -> list[str]:
        """What stands below its figures: checks, facts, notes, and runs that had no figure."""
        said = []
        told = self.main.said(_Told)
        checks, facts = told.get("checks") or {}, {k: v for k, v in self.main.info.items() if k not in NOT_FACTS}
        if checks:
            said.append(f"checked: {'; '.join(map(str, checks.values()))}")
        if facts:
            said.append(", ".join(f"{name} {_fact(value)}" for name, value in facts.items()))
        said += [f"note: {note}" for note in told.get("notes") or ()]
        if self.failures:
            counts = Counter(WORDS.get(failure["code"], failure["code"]) for failure in self.failures)
            words = ", ".join(f"{count} × {word}" for word, count in counts.items())
            said.append(f"of {plural(self.runs, 'run')}, {len(self.failures)} had no figure: {words}")
        return said


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


def answer(run: Run) -> str:
    """The figure of the first application, and what share of a peak that is; empty where it has none."""
    first = next(iter(applications(run)), None)
    if first is None or not usable(first.main):
        return ""
    main = first.main
    peaks = {record.metric.removeprefix(SHARE): record for record in first.records if record.metric.startswith(SHARE)}
    share = next((f", {one.value:.0%} of the peak by {PEAKS[kind]}" for kind in PEAKS
                  if (one := peaks.get(kind)) is not None and one.value), "")  # fmt: skip
    figure = f"{metric_name(main.metric)} {value_text(main)} ({interval_text(main)})"
    what = shortened(str(main.params.get("command") or main.params.get("pattern") or "it"), LONGEST_COMMAND)
    return f"{what} on {subject_text(main.subject)}: {figure}{share}."


def app_sections(run: Run) -> list[Section]:
    """A section for each application, nodes below each other, with what is to be said of each; empty for none."""
    groups: dict[tuple[str, str], list[Application]] = {}
    for one in applications(run):
        groups.setdefault((one.name, one.launch), []).append(one)
    told = [Section(name, body=_body(launch, members)) for (name, launch), members in groups.items()]
    end = Note("What each run wrote stands in the run's folder, outputs/.", reading=True)
    return [Section("Applications", key="apps", link="Applications", body=[*told, end])] if told else []


def _body(launch: str, members: Sequence[Application]) -> list[Element | str]:
    body: list[Element | str] = [Note(launch)] if launch else []
    body += [each for one in members for each in hpcc_parts(one.records)]
    rows = [row for one in members for row in _rows(one)]
    heads = ["", "figure", "value", "interval", "runs", "verdict"]
    body += [Columns(heads, rows, words=2, tail=1, merged=True)] if rows else []
    body += [f"{where}: {line}" if len(members) > 1 else line for line, where in _lines(members).items()]
    samples = [f"{subject_text(one.main.subject)}: {_samples(one)}" for one in members if one.main.samples]
    reasons = list(dict.fromkeys(failure["message"] for one in members for failure in one.failures))
    body += [Fold("Every run, in order", samples, printed=False)] if samples else []
    body += [Fold("Why runs had no figure", reasons, printed=False)] if reasons else []
    return body


def _samples(one: Application) -> str:
    return ", ".join(show(value, one.main.unit) for value in one.main.samples)


def _rows(one: Application) -> list[tuple[str | Cell, ...]]:
    parts = hpcc_parts(one.records)
    return [
        (subject_text(one.main.subject), metric_name(record.metric), Cell(value_text(record), "strong"),
         interval_text(record), str(record.replicates), Cell(verdict_text(record), str(record.verdict)))
        for record in one.records if not parts or not is_told(record)
    ]  # fmt: skip


def _lines(members: Sequence[Application]) -> dict[str, str]:
    """Line → the nodes of which it is to be said."""
    found: dict[str, list[str]] = {}
    for one in members:
        for line in one.lines():
            found.setdefault(line, []).append(subject_text(one.main.subject))
    return {line: ", ".join(where) for line, where in found.items()}
