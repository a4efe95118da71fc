"""What an audit found, in sentences: nodes that differ, what a reboot would change, drift, the checklist, advice.

A finding that is no mere note counts for the exit code. Advice is one finding, and counts only where its aim was asked
for; what would weaken security is a note, whatever was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import fold, fold_places, plural
from wulf.tune.audit.answers import Answer, Said
from wulf.tune.audit.audited import Audited, is_bypass, limits
from wulf.tune.audit.checklist import QUESTIONS, Question
from wulf.tune.audit.drift import SettingDrift
from wulf.tune.audit.judging import Mark, State, advice
from wulf.tune.readings import shown
from wulf.tune.setting import Setting

MOST_NAMED = 6
"""Settings, or groups of nodes, that a sentence names; the table has all."""


def audit_findings(found: Audited) -> list[Finding]:
    """All but the drift, the gravest first."""
    return [
        *_by_setting(found.states, {Mark.ODD, Mark.SPLIT}, _uneven),
        *_by_setting(found.states, {Mark.RANGE}, _out_of_range),
        *_by_setting(found.states, {Mark.STARTUP}, _not_kept),
        *_checklist(found),
        *_advice(found),
        *_security(found),
    ]


Write = Callable[[Setting, Sequence[State], Sequence[State]], Finding]
"""From a setting, its states in one role that are meant, and all of that role."""


def _by_setting(states: Sequence[State], marks: set[Mark], write: Write) -> Iterator[Finding]:
    groups: dict[tuple[str, str], list[State]] = {}
    for state in states:
        groups.setdefault((state.setting.name, state.role), []).append(state)
    for like in groups.values():
        meant = [state for state in like if state.marks & marks]
        if meant:
            yield write(meant[0].setting, meant, like)


def where(state: State) -> str:
    """`eth0 of n[1-3]`, `n2`."""
    nodes, places = fold(state.nodes), fold_places(state.places)
    return f"{places} of {nodes}" if places else nodes


def _listed(states: Sequence[State], words: Callable[[State], str]) -> str:
    named = [words(state) for state in states[:MOST_NAMED]]
    more = f"; and {len(states) - MOST_NAMED} more groups" if len(states) > MOST_NAMED else ""
    return "; ".join(named) + more


def _evidence(states: Sequence[State], expected: str | None = None) -> list[Evidence]:
    return [
        Evidence(
            subject=where(state), metric=state.setting.name, value=shown(state.value, state.setting.unit),
            expected=expected,
        )
        for state in states
    ]  # fmt: skip


def _nodes(states: Sequence[State]) -> str:
    return fold(node for state in states for node in state.nodes)


def _role(states: Sequence[State]) -> str:
    return f" among {states[0].role}" if states[0].role else ""


def _uneven(setting: Setting, meant: Sequence[State], _like: Sequence[State]) -> Finding:
    odd = [state for state in meant if Mark.ODD in state.marks]
    usual = shown(odd[0].usual, setting.unit) if odd else None
    has = _listed(meant, lambda state: f"{where(state)} {_have(state)} {shown(state.value, setting.unit)}")
    rest = f"; most have {usual}" if odd else "; no value has a majority"
    return Finding(
        kind="setting",
        expected_of="the others",
        severity=Severity.BAD,
        subject=_nodes(meant),
        text=f"{setting.name} ({setting.title}) differs{_role(meant)}: {has}{rest}.",
        next_step=f"give all nodes of the role one value; `wulf audit --explain {setting.name}` says what it does",
        evidence=_evidence(meant, usual),
    )


def _have(state: State) -> str:
    return "has" if len(state.nodes) == 1 else "have"


def _out_of_range(setting: Setting, meant: Sequence[State], _like: Sequence[State]) -> Finding:
    has = _listed(meant, lambda state: f"{shown(state.value, setting.unit)} on {where(state)}")
    return Finding(
        kind="setting",
        expected_of="the others",
        severity=Severity.BAD,
        subject=_nodes(meant),
        text=f"{setting.name} ({setting.title}) is {has}: not among what is known, {limits(setting)}.",
        next_step=f"`wulf audit --explain {setting.name}` says which values there are",
        evidence=_evidence(meant),
    )


def _not_kept(setting: Setting, meant: Sequence[State], _like: Sequence[State]) -> Finding:
    def words(state: State) -> str:
        value, startup = shown(state.value, setting.unit), shown(state.startup, setting.unit)
        return f"{where(state)} {_have(state)} {value}, and {startup} after a reboot"

    return Finding(
        kind="startup",
        expected_of="after a reboot",
        severity=Severity.WARN,
        subject=_nodes(meant),
        text=f"{setting.name} ({setting.title}) is not what start-up gives: {_listed(meant, words)}.",
        next_step="write down what is meant to stay (`wulf tune export`), or set back what is not",
        evidence=_evidence(meant, shown(meant[0].startup, setting.unit)),
    )


def _checklist(found: Audited) -> Iterator[Finding]:
    """A finding for each question that some node answers with no."""
    for question in QUESTIONS:
        said = found.checks.get(question.key, {})
        if any(each.answer is Answer.NO for each in said.values()):
            yield _check(question, said)


def _check(question: Question, said: Mapping[str, Said]) -> Finding:
    groups: dict[str, list[str]] = {}
    for node, each in said.items():
        if each.answer is Answer.NO:
            groups.setdefault(each.evidence, []).append(node)
    named = [f"{fold(nodes)}: {evidence}" for evidence, nodes in list(groups.items())[:MOST_NAMED]]
    more = f"; and {len(groups) - MOST_NAMED} more groups" if len(groups) > MOST_NAMED else ""
    return Finding(
        kind="checklist",
        severity=Severity.WARN,
        subject=fold(node for nodes in groups.values() for node in nodes),
        text=f"Checklist {question.key}, {question.text} No. {'; '.join(named)}{more}.",
        next_step=question.step,
    )


def _advice(found: Audited) -> Iterator[Finding]:
    """One for all settings that are not as advised: nobody has measured here what each is worth."""
    states = [s for s in found.states if Mark.ADVICE in s.marks and s.setting.security != "weakens"]
    names = list(dict.fromkeys(state.setting.name for state in states))
    if not names:
        return
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    yield Finding(
        kind="advice",
        severity=Severity.WARN if found.counted else Severity.INFO,
        subject=_nodes(states),
        text=(
            f"{plural(len(names), 'setting')} {'is' if len(names) == 1 else 'are'} not as advised for {found.aim}: "
            f"{', '.join(names[:MOST_NAMED])}{more}. What each is worth here is not known until it is measured."
        ),
        next_step=f"`wulf tune --aim {found.aim}` plans how to measure them",
    )


def _security(found: Audited) -> Iterator[Finding]:
    """What the aim would want, were it not for security; of the bypass the checklist speaks."""
    states = [
        s
        for s in found.states
        if Mark.ADVICE in s.marks and s.setting.security == "weakens" and not is_bypass(s.setting)
    ]
    for name in dict.fromkeys(state.setting.name for state in states):
        own = [state for state in states if state.setting.name == name]
        wanted = advice(own[0].setting, found.aim)
        yield Finding(
            kind="security",
            expected_of="the others",
            severity=Severity.INFO,
            subject=_nodes(own),
            text=(
                f"{name} ({own[0].setting.title}) stays as it is: {shown(wanted.value if wanted else None)} "
                f"would serve {found.aim}, and weaken security."
            ),
            evidence=_evidence(own),
        )


def drift_findings(changed: Sequence[SettingDrift], gone: Sequence[str], new: Sequence[str]) -> list[Finding]:
    """What changed since the baseline, a finding a setting; and nodes that only one of the two knows."""
    by_setting: dict[str, list[SettingDrift]] = {}
    for change in changed:
        by_setting.setdefault(change.setting.name, []).append(change)
    found = [_drifted(own) for own in by_setting.values()]
    for nodes, words in ((gone, "are in the baseline, and were not asked"), (new, "are not in the baseline")):
        if nodes:
            text = f"{fold(nodes)} {words}."
            found.append(Finding(kind="drift", severity=Severity.INFO, subject=fold(nodes), text=text))
    return found


def _drifted(own: Sequence[SettingDrift]) -> Finding:
    setting = own[0].setting
    named = [_change_words(change) for change in own[:MOST_NAMED]]
    more = f"; and {len(own) - MOST_NAMED} more changes" if len(own) > MOST_NAMED else ""
    return Finding(
        kind="drift",
        expected_of="in the baseline",
        severity=Severity.WARN,
        subject=fold(node for change in own for node in change.nodes),
        text=f"{setting.name} ({setting.title}) has changed since the baseline: {'; '.join(named)}{more}.",
        next_step="set it back, or save a new baseline if it is meant: `wulf audit … --save FILE`",
        evidence=[
            Evidence(
                subject=_change_place(change), metric=setting.name, value=shown(change.now, setting.unit),
                expected=shown(change.before, setting.unit),
            )
            for change in own
        ],
    )  # fmt: skip


def _change_place(change: SettingDrift) -> str:
    places = fold_places(change.places)
    return f"{places} of {fold(change.nodes)}" if places else fold(change.nodes)


def _change_words(change: SettingDrift) -> str:
    what = "" if change.what == "value" else "at start-up "
    before, now = (shown(value, change.setting.unit) for value in (change.before, change.now))
    return f"{what}{before} → {now} on {_change_place(change)}"
