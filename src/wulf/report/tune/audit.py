"""An audit in a report: the checklist node by node, and every setting with what is remarkable about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wulf.core.findings import Severity
from wulf.core.names import fold, fold_places, natural, plural
from wulf.report.kit.view import Cell, Columns, Element, Fold, Item, Note, Row, Section
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

AUDIT = "audit"
"""What a run's `derived` calls it."""

TELLING = frozenset({Mark.RANGE, Mark.ODD, Mark.SPLIT, Mark.STARTUP, Mark.ADVICE})
"""What makes a setting stand in the short table."""


METHOD = (
    Item("Read", "Every setting that an agent can read, on all nodes at the same time; nothing was changed."),
    Item(
        "Alike",
        "Nodes of a role vote with their value, or with having no such thing; unreadable nodes are excluded. What more "
        "than half have is what the others are held against.",
    ),
    Item(
        "Start-up",
        "What a reboot would give is taken from the files that start-up reads. Where none of them speaks of a setting, "
        "the kernel's or the driver's default would come, which is not known beforehand, and nothing is claimed.",
    ),
    Item(
        "Advice",
        "Stands in the catalogue with its evidence, which is of other machines. What weakens security is shown, and "
        "never advised.",
    ),
    Item("Missing values", "What could not be read is shown as a dash with the reason, never as 0."),
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


def setting_rows(states: Sequence[State], found: Audited) -> list[tuple[Cell, Cell, Cell, str]]:
    """A row a state: setting, value, nodes, remarks."""
    return [
        (
            Cell(state.setting.name, small=[state.setting.title]),
            Cell(_value(state), _style(state), small=_beside(state, found)),
            Cell(fold(state.nodes), small=[where] if (where := fold_places(state.places)) else [], brief=where),
            (f"{state.role}: " if state.role else "") + "; ".join(remarks(state, found.aim)),
        )
        for state in states
    ]


def _value(state: State) -> str:
    return shown(state.value, state.setting.unit) if state.value is not None else "–"


def _style(state: State) -> str:
    return "dim" if state.value is None else "off" if state.deviates else "strong"


def _beside(state: State, found: Audited) -> list[str]:
    """What it would be after a reboot, where that is not what it is, and what is advised, unless a remark says so."""
    startup = _startup(state)
    wanted = "" if Mark.ADVICE in state.marks else advised(state.setting, found.aim)
    said = [] if startup in ("–", "?", _value(state)) else [f"{startup} at start-up"]
    return [*said, *([f"advised: {wanted}"] if wanted else [])]


def _startup(state: State) -> str:
    if state.value is None:
        return "–"
    return shown(state.startup, state.setting.unit) if state.startup is not None else "?"


def telling(found: Audited) -> list[State]:
    """States that deviate, or are not as advised, by setting; those that deviate first."""
    by_name: dict[str, list[State]] = {}
    for state in sorted(found.states, key=lambda state: not state.deviates):
        if state.marks & TELLING:
            by_name.setdefault(state.setting.name, []).append(state)
    return [state for states in by_name.values() for state in states]


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
    for state in found.states:
        startup = _startup(state)
        told = f", {startup} at start-up" if startup not in ("–", "?", _value(state)) else ""
        said = f"{_value(state)}{told}" if state.value is not None else ""
        where = f" {fold_places(state.places)}".rstrip()
        marked = "; ".join(remarks(state, found.aim))
        lines.append((f"on {fold(state.nodes)}{where}", "; ".join(part for part in (said, marked) if part)))
    return lines


def audit_sections(run: Run) -> list[Section]:
    """What a run has of an audit; nothing where it has none."""
    found = audit_of(run)
    return [] if found is None else [_checklist(found), _settings(found)]


def _checklist(found: Audited) -> Section:
    nodes = sorted(next(iter(found.checks.values()), {}), key=natural)
    body: list[Element | str] = []
    if 0 < len(nodes) <= MOST_PAGE_COLUMNS:
        rows: list[Row] = [
            (f"{q.key} {q.text}", *(_answer(found.checks[q.key][node]) for node in nodes)) for q in QUESTIONS
        ]
        table = Columns(["Question", *nodes], rows, words=1 + len(nodes), key="checklist")
        body.append(table if len(nodes) <= MOST_COLUMNS else Fold("Node by node", [table], printed=False, open=True))
    evidence = [
        (Cell(question.key, small=[question.text]), _answer(said), fold(who), said.evidence)
        for question in QUESTIONS
        for said, who in grouped(found.checks[question.key])
    ]
    heads = ["Question", "Answer", "Nodes", "Because"]
    table = Columns(heads, evidence, words=len(heads), merged=True, key="checklist-evidence")
    body.append(Fold("Evidence", [table], open=not body))
    return Section("Checklist", key="audit", link="Checklist", body=body)


def _answer(said: Said) -> Cell:
    return Cell(SIGNS[said.answer], str(said.answer), title=said.evidence)


def _settings(found: Audited) -> Section:
    chosen = telling(found)
    aim = f"as advised for {found.aim}"
    body: list[Element | str] = [Note(f"{counts(found)} What advice is worth here is not known until it is measured.")]
    body.append(_setting_table(chosen, found) if chosen else f"No setting deviates, and all are {aim}.")
    for title, lines in (("Without effect", without_effect(found)), ("Not read", unread(found))):
        more = [f"and {len(lines) - MOST_REASONS} more"] if len(lines) > MOST_REASONS else []
        body += [Section(title, [*lines[:MOST_REASONS], *more])] if lines else []
    body.append(Fold("All settings", [_setting_table(found.states, found)], printed=False))
    heading = f"Settings that deviate, or are not {aim}" if chosen else "Settings"
    return Section(heading, key="settings", link="Settings", body=body)


def _setting_table(states: Sequence[State], found: Audited) -> Columns:
    heads = ["Setting", "Value", "Nodes", "Remarks"]
    return Columns(heads, setting_rows(states, found), words=len(heads), merged=True, most=MOST_ROWS)
