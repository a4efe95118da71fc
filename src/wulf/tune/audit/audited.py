"""An audit as a whole: states of settings and the checklist's answers, from what settings.json holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.tune.audit.answers import Facts, Said
from wulf.tune.audit.checklist import answers
from wulf.tune.audit.judging import Mark, State, advice, audit
from wulf.tune.readings import Readings, shown
from wulf.tune.setting import Aim, Setting


@dataclass(frozen=True)
class Audited:
    """What an audit found.

    Attributes
    ----------
    counted
        Whether not following the aim's advice counts: the aim was asked for.
    checks
        Question of the checklist → node → answer.
    by_hand
        Settings that no agent was asked for: firmware, the switch, a job's own.
    """

    aim: Aim
    counted: bool
    roles: Mapping[str, str]
    readings: Readings
    states: Sequence[State]
    checks: Mapping[str, Mapping[str, Said]]
    by_hand: Sequence[Setting]


def audited(said: Mapping[str, Any], fingerprint: Mapping[str, Facts], settings: Mapping[str, Setting]) -> Audited:
    """Judge what was read.

    Parameters
    ----------
    said
        As settings.json has it: aim, counted, roles, interfaces, addresses, readings.
    settings
        The catalogue, by name.
    """
    aim, roles, readings = Aim(said["aim"]), said["roles"], said["readings"]
    kernels = {node: str(facts.get("kernel.release", {}).get("value") or "") for node, facts in fingerprint.items()}
    asked = {name for own in readings.values() for name in own}
    return Audited(
        aim, bool(said.get("counted")), roles, readings,
        audit([one for one in settings.values() if one.name in asked], readings, roles, aim, kernels),
        answers(fingerprint, said, settings),
        [one for one in settings.values() if one.name not in asked] if asked else (),
    )  # fmt: skip


def advised(setting: Setting, aim: Aim) -> str:
    """What is recommended for the aim, for people; empty where nothing is."""
    found = advice(setting, aim)
    if found is None:
        return ""
    if found.value is not None:
        return shown(found.value, setting.unit)
    return f"try {', '.join(shown(one, setting.unit) for one in found.sweep)}" if found.sweep else ""


def remarks(state: State, aim: Aim) -> list[str]:
    """What is remarkable about a state, in words; the gravest first."""
    setting, marks = state.setting, state.marks
    words = {
        Mark.RANGE: f"not among what is known: {limits(setting)}",
        Mark.ODD: f"most have {shown(state.usual, setting.unit)}",
        Mark.SPLIT: "nodes differ, no majority",
        Mark.STARTUP: f"a reboot makes it {shown(state.startup, setting.unit)}",
        Mark.ADVICE: f"advised for {aim}: {advised(setting, aim)}" + _security(setting),
        Mark.INERT: f"inert: without effect since Linux {setting.kernels.inert_since}",
        Mark.MASKED: f"masked: without effect while {state.masked_by}",
        Mark.UNKNOWN: f"not read: {state.reason}",
        Mark.ABSENT: f"not there: {state.reason}",
    }
    return [words[mark] for mark in Mark if mark in marks]


BYPASSES = ("nftables", "firewalld")
"""Mechanisms whose settings, where they can be written, are ways past the firewall for the cluster's network."""


def is_bypass(setting: Setting) -> bool:
    """Whether it spares the cluster's network the firewall: recommended where that is in the way, by the checklist."""
    return setting.mechanism in BYPASSES and setting.access == "write"


def _security(setting: Setting) -> str:
    if setting.security != "weakens":
        return ""
    reason = "where rules are in the way (2a)" if is_bypass(setting) else "which weakens security: not recommended"
    return f", {reason}"


def limits(setting: Setting) -> str:
    """Which values the catalogue allows: `68 B to 65535 B`."""
    if setting.choices:
        return ", ".join(shown(choice, setting.unit) for choice in setting.choices)
    low, high = (None if end is None else shown(end, setting.unit) for end in (setting.low, setting.high))
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"at least {low}" if low is not None else f"at most {high}" if high is not None else "any"


def as_json(found: Audited) -> list[dict[str, Any]]:
    """One object a check and node, then one a state."""
    checks: list[dict[str, Any]] = [
        {"object": "check", "question": key, "node": node, "answer": str(said.answer), "evidence": said.evidence}
        for key, own in found.checks.items()
        for node, said in own.items()
    ]
    return checks + [_state_json(state, found.aim) for state in found.states]


def _state_json(state: State, aim: Aim) -> dict[str, Any]:
    recommended = advice(state.setting, aim)
    content: dict[str, Any] = {
        "object": "setting", "name": state.setting.name, "role": state.role, "places": list(state.places),
        "nodes": list(state.nodes), "value": state.value, "unit": state.setting.unit, "startup": state.startup,
        "recommended": recommended.value if recommended else None, "marks": sorted(map(str, state.marks)),
        "remarks": remarks(state, aim),
    }  # fmt: skip
    if state.value is None:
        content["reason"] = state.reason
    if state.startup is None and state.startup_reason:
        content["startup_reason"] = state.startup_reason
    return content
