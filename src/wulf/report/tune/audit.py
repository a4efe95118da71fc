"""An audit in a report: the checklist node by node, and every setting with what is remarkable about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from wulf.core.findings import Severity
from wulf.core.names import fold, fold_places, natural, plural, printable
from wulf.report.kit.printing import new_table, say
from wulf.store.run import Run
from wulf.tune.audit.answers import Answer, Said, is_on
from wulf.tune.audit.audited import Audited, advised, audited, remarks
from wulf.tune.audit.checklist import QUESTIONS
from wulf.tune.audit.judging import Mark, State, advice
from wulf.tune.catalogue import catalogue
from wulf.tune.readings import shown

MOST_COLUMNS = 8
"""Nodes that have a column each in a terminal; of more, answers are told of nodes together."""

MOST_PAGE_COLUMNS = 24
MOST_REASONS = 6
MOST_ROWS = 30

SIGNS = {Answer.YES: "yes", Answer.NO: "NO", Answer.UNKNOWN: "?"}
_STYLES = {Answer.YES: "green", Answer.NO: "bold red", Answer.UNKNOWN: "yellow"}

AUDIT = "audit"
"""What a run's `derived` calls it."""

TELLING = frozenset({Mark.RANGE, Mark.ODD, Mark.SPLIT, Mark.STARTUP, Mark.ADVICE})
"""What makes a setting stand in the short table."""


METHOD = (
    ("Read", "Every setting that an agent can read, on all nodes at the same time; nothing was changed."),
    (
        "Alike",
        "Nodes of a role vote with their value, or with having no such thing; who could not read it has no vote. What "
        "more than half have is what the others are held against.",
    ),
    (
        "Start-up",
        "What a reboot would give is taken from the files that start-up reads. Where none of them speaks of a setting, "
        "the kernel's or the driver's default would come, which is not known beforehand, and nothing is claimed.",
    ),
    (
        "Advice",
        "Stands in the catalogue with its evidence, which is of other machines. What weakens security is shown, and "
        "never advised.",
    ),
    ("Missing values", "What could not be read is shown as a dash with the reason, never as 0."),
)
"""How an audit came about: heading and text."""


def is_audit(run: Run) -> bool:
    """Whether the run is an audit, and nothing but that."""
    return run.meta.get("command") == "audit" and bool(run.settings)


def audit_of(run: Run) -> Audited | None:
    """The audit that a run holds, judged once, by today's catalogue; None where it holds none."""
    if not is_audit(run):
        return None
    if AUDIT not in run.derived:
        run.derived[AUDIT] = audited(run.settings, run.fingerprint, catalogue())
    found: Audited = run.derived[AUDIT]
    return found


def headline(run: Run) -> str:
    """The audit in a sentence: who was audited, and how much of each kind was found."""
    kinds = [finding.kind for finding in run.findings]
    asked, aim = run.settings.get("readings", {}), run.settings.get("aim", "")
    counted = [
        finding for finding in run.findings if finding.kind == "advice" and finding.severity is not Severity.INFO
    ]
    differ, startup, drift, no = (kinds.count(kind) for kind in ("setting", "startup", "drift", "checklist"))
    said = [
        f"{plural(differ, 'setting')} {_s(differ, 'deviates', 'deviate')}" if differ else "",
        f"{startup} would not survive a reboot" if startup else "",
        f"{drift} changed since the baseline" if drift else "",
        f"{plural(no, 'question')} of the checklist {_s(no, 'is', 'are')} answered with no" if no else "",
        *(f"{finding.text.partition(' ')[0]} not as advised for {aim}" for finding in counted),
    ]
    below = [one for one in run.findings if one.kind == "hardware" and one.severity is not Severity.INFO]
    said.append(f"{plural(len(below), 'device')} below {_s(len(below), 'its', 'their')} best" if below else "")
    found = ", ".join(part for part in said if part)
    nodes = plural(len(asked), "node")
    return f"{nodes} audited: {found}." if found else f"{nodes} audited: nothing deviates."


def _s(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def grouped(said: Mapping[str, Said]) -> list[tuple[Said, list[str]]]:
    """Answers with the nodes that give them: no first, then unknown."""
    groups: dict[Said, list[str]] = {}
    for node, each in said.items():
        groups.setdefault(each, []).append(node)
    order = [Answer.NO, Answer.UNKNOWN, Answer.YES]
    return sorted(groups.items(), key=lambda item: (order.index(item[0].answer), -len(item[1])))


def rows(states: Sequence[State], found: Audited) -> Iterator[dict[str, Any]]:
    """One row a state, as terminal and page show it."""
    for state in states:
        setting = state.setting
        known = state.value is not None
        yield {
            "name": setting.name,
            "title": printable(setting.title),
            "role": printable(state.role),
            "value": printable(shown(state.value, setting.unit)) if known else "–",
            "known": known,
            "startup": printable(_startup(state)),
            "advised": printable(advised(setting, found.aim)) or "–",
            "where": printable(fold_places(state.places)),
            "nodes": printable(fold(state.nodes)),
            "remarks": printable("; ".join(remarks(state, found.aim))),
            "bad": state.deviates,
            "marked": Mark.ADVICE in state.marks,
        }


def _startup(state: State) -> str:
    if state.value is None:
        return "–"
    return shown(state.startup, state.setting.unit) if state.startup is not None else "?"


def telling(found: Audited) -> list[State]:
    """States that deviate, or are not as advised; those that deviate first."""
    chosen = [state for state in found.states if state.marks & TELLING]
    return sorted(chosen, key=lambda state: not state.deviates)


def without_effect(found: Audited) -> list[str]:
    """Settings that are there and do nothing, each in a line with the reason."""
    lines = []
    for state in found.states:
        if state.marks & {Mark.INERT, Mark.MASKED} and _in_vain(state, found):
            why = next(words for words in remarks(state, found.aim) if words.startswith(("inert", "masked")))
            lines.append(f"{state.setting.name} on {fold(state.nodes)}: {why}")
    return list(dict.fromkeys(lines))


def _in_vain(state: State, found: Audited) -> bool:
    """Whether anybody may think that it does something: it is on, or recommended."""
    wanted = advice(state.setting, found.aim)
    return is_on(state.value) or (wanted is not None and wanted.value is not None)


def unread(found: Audited) -> list[str]:
    """Why settings could not be read, each reason with its settings and nodes."""
    reasons: dict[str, list[State]] = {}
    for state in found.states:
        if Mark.UNKNOWN in state.marks:
            reasons.setdefault(state.reason, []).append(state)
    lines = []
    for reason, states in reasons.items():
        names = list(dict.fromkeys(state.setting.name for state in states))
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        lines.append(f"{', '.join(names[:3])}{more} on {fold(n for s in states for n in s.nodes)}: {reason}")
    return lines


def counts(found: Audited) -> str:
    """How many settings were looked at, and how many of them are there."""
    names = {state.setting.name for state in found.states}
    there = {state.setting.name for state in found.states if state.value is not None}
    parts = [f"{plural(len(names), 'setting')} of the catalogue asked for, {len(there)} of them there"]
    if found.by_hand:
        parts.append(f"{len(found.by_hand)} more are a person's or a job's to set, and were not")
    return "; ".join(parts) + "."


def value_lines(found: Audited) -> list[tuple[str, str]]:
    """What one setting is on nodes: who, and value, start-up value and remarks."""
    lines = []
    for row in rows(found.states, found):
        startup = f", {row['startup']} at start-up" if row["startup"] not in ("–", "?", row["value"]) else ""
        said = f"{row['value']}{startup}" if row["known"] else ""
        where = f" {row['where']}" if row["where"] else ""
        lines.append((f"on {row['nodes']}{where}", "; ".join(part for part in (said, row["remarks"]) if part)))
    return lines


def print_audit(run: Run, console: Console) -> None:
    """Print what a run has of an audit; nothing where it has none."""
    found = audit_of(run)
    if found is None:
        return
    _print_checklist(found, console)
    _print_settings(found, console)
    for title, lines in (("Without effect", without_effect(found)), ("Not read", unread(found))):
        if lines:
            _title(title, console)
            for line in lines[:MOST_REASONS]:
                say(console, Text(printable(line)), indent=2)
            _rest(len(lines) - MOST_REASONS, console)
    console.print()
    say(console, Text(counts(found), style="dim"))


def _title(text: str, console: Console) -> None:
    console.print()
    say(console, Text(text, style="bold"))


def _rest(count: int, console: Console) -> None:
    if count > 0:
        say(console, Text(f"and {count} more; report.html has all", style="dim"), indent=2)


def _print_checklist(found: Audited, console: Console) -> None:
    nodes = sorted(next(iter(found.checks.values()), {}), key=natural)
    if not nodes:
        return
    _title("Checklist", console)
    names = [printable(node) for node in nodes]
    if len(nodes) <= MOST_COLUMNS and sum(map(len, names)) <= console.width // 3:
        _print_matrix(found, nodes, console)
        console.print()
    for question in QUESTIONS:
        for said, who in grouped(found.checks[question.key]):
            head = Text(f"{question.key} {SIGNS[said.answer]}", style=_STYLES[said.answer])
            say(console, Text.assemble(head, f"  {printable(fold(who))}: {printable(said.evidence)}"), indent=2)


def _print_matrix(found: Audited, nodes: Sequence[str], console: Console) -> None:
    table = new_table()
    table.add_column("", no_wrap=True)
    table.add_column("")
    for node in nodes:
        table.add_column(Text(printable(node)), no_wrap=True)
    for question in QUESTIONS:
        answers = [found.checks[question.key][node].answer for node in nodes]
        cells = [Text(SIGNS[answer], style=_STYLES[answer]) for answer in answers]
        table.add_row(question.key, Text(question.text), *cells)
    console.print(Padding(table, (0, 0, 0, 2), expand=False), highlight=False)


def _print_settings(found: Audited, console: Console) -> None:
    chosen = telling(found)
    if not chosen:
        return
    _title(f"Settings that deviate, or are not as advised for {found.aim}", console)
    for row in rows(chosen[:MOST_ROWS], found):
        place = f" {row['where']}" if row["where"] else ""
        head = Text.assemble((row["name"], "bold red" if row["bad"] else "bold"), f"{place}  {row['value']}")
        say(console, Text.assemble(head, (f"  {row['nodes']}", "dim"), f"  {row['remarks']}"), indent=2)
    _rest(len(chosen) - MOST_ROWS, console)


def audit_section(run: Run) -> dict[str, Any] | None:
    """The page's section; None where the run holds no audit."""
    found = audit_of(run)
    if found is None:
        return None
    nodes = sorted(next(iter(found.checks.values()), {}), key=natural)
    return {
        "aim": str(found.aim),
        "nodes": [printable(node) for node in nodes] if len(nodes) <= MOST_PAGE_COLUMNS else [],
        "questions": [_question(found, key, text, nodes) for key, text in ((q.key, q.text) for q in QUESTIONS)],
        "telling": _tabled(telling(found), found),
        "all": _tabled(found.states, found),
        "counts": counts(found),
        "without_effect": [printable(line) for line in without_effect(found)],
        "unread": [printable(line) for line in unread(found)],
    }


def _question(found: Audited, key: str, text: str, nodes: Sequence[str]) -> dict[str, Any]:
    said = found.checks[key]
    few = nodes if len(nodes) <= MOST_PAGE_COLUMNS else ()
    return {
        "key": key,
        "text": text,
        "cells": [{"answer": str(said[node].answer), "title": printable(said[node].evidence)} for node in few],
        "groups": [
            {"answer": str(each.answer), "evidence": printable(each.evidence), "nodes": printable(fold(who))}
            for each, who in grouped(said)
        ],
    }


def _tabled(states: Sequence[State], found: Audited) -> list[dict[str, Any]]:
    """Rows by setting, so that its name stands once."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in rows(states, found):
        by_name.setdefault(row["name"], []).append(row)
    return [{"name": name, "title": own[0]["title"], "rows": own} for name, own in by_name.items()]
