"""One setting in words for a person: what `--explain` prints, and of which docs/reference/settings.md is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wulf.tune import readings
from wulf.tune.setting import CHECKLIST, PERSIST, Advice, EffectEvidence, Setting, Special, Value

SCOPES = {
    "netns": "a network namespace",
    "nic": "an interface",
    "queue": "a queue of an interface",
    "irq": "an interrupt",
    "cpu": "a CPU",
    "host": "the whole node",
    "job": "a job",
    "switch": "the switch",
    "firmware": "the node's firmware",
}
TESTED = {
    "netns": "written in network namespaces",
    "qemu": "written in a virtual machine",
    "recorded": "read from recorded machines; never written in a test",
}
KINDS = {"measured": "measured", "documented": "documented", "folklore": "folklore: no figures known"}


def explain(setting: Setting) -> list[tuple[str, str]]:
    """Heading and text of every part that has something to say, the most important first.

    Texts are single lines; where a part has several, its heading comes several times.
    """
    return [(heading, text) for heading, text in _parts(setting) if text]


def _parts(setting: Setting) -> Iterator[tuple[str, str]]:
    yield "What", setting.what
    yield "Why", setting.why
    for aim, advice in setting.advice.items():
        yield f"For {aim}", advised(advice, setting.unit)
    yield "Effect seen", _inert(setting)
    for evidence in setting.evidence:
        yield "Effect seen", _seen(evidence)
    yield from _dangers(setting)
    yield from _dependencies(setting)
    yield "Values", values(setting)
    for special in setting.special:
        yield "Mode", _mode(special, setting.unit)
    yield from _handling(setting)


def _dangers(setting: Setting) -> Iterator[tuple[str, str]]:
    if setting.security == "weakens":
        yield "Security", "Changing it weakens the node: wulf changes it only where it is named, if at all."
    elif setting.security == "strengthens":
        yield "Security", "Changing it as recommended makes the node safer."
    yield "Risk", setting.risk
    yield "Link", "Changing it takes the link down for a moment." if setting.flap else ""
    yield "Reboot", "Takes effect only after a reboot, or a new loading of the driver." if setting.reboot else ""
    yield "Side effects", setting.side_effects


def _dependencies(setting: Setting) -> Iterator[tuple[str, str]]:
    yield "After", _listed(setting.needs)
    yield "Masked", _listed(f"{name} = {shown(value)}" for name, value in setting.masked_by.items())
    yield "Sets anew", _listed(setting.resets)
    yield "Conflicts", _listed(setting.conflicts)
    if setting.confounds:
        yield "Confounds", "What other settings do depends on it: it has to be the same in all that is compared."


def _handling(setting: Setting) -> Iterator[tuple[str, str]]:
    where = SCOPES[setting.scope]
    beyond = "; written within a network namespace, it still holds for the whole host" * setting.global_in_netns
    yield "Holds for", where + beyond
    yield "Drivers", _listed(setting.drivers)
    yield "Kernels", f"since Linux {setting.kernels.since}" if setting.kernels.since else ""
    yield "By hand", setting.how
    yield "Read by", "" if setting.by_hand else " ".join([setting.mechanism, *_target(setting)])
    report = setting.access == "report"
    yield "Changed", "never: it is reported only" if report and not setting.by_hand else ""
    for kind, text in setting.persist.items():
        yield "Persists", f"{text}: {PERSIST[kind]}"
    yield "Undo", "" if report else setting.undo
    for key in setting.checklist:
        yield "Checklist", f"{key}: {CHECKLIST[key]}"
    yield "Tested", TESTED[setting.tested]


def _target(setting: Setting) -> list[str]:
    return [f"{key}={value}" for key, value in setting.target.items()]


def _inert(setting: Setting) -> str:
    since = setting.kernels.inert_since
    return f"None since Linux {since}: it can be written, and does nothing (inert)." if since else ""


def _seen(evidence: EffectEvidence) -> str:
    return f"{evidence.effect} ({KINDS[evidence.kind]}; {evidence.source})"


def _mode(special: Special, unit: str | None) -> str:
    drivers = f" ({_listed(special.drivers)})" if special.drivers else ""
    return f"{shown(special.value, unit)}: {special.meaning}{drivers}"


def advised(advice: Advice, unit: str | None) -> str:
    """'0 s: no message waits.'; without a value the reason alone; with values to be tried, those."""
    value = "" if advice.value is None else f"{shown(advice.value, unit)}. "
    tried = f" To be tried: {_listed(shown(one, unit) for one in advice.sweep)}." if advice.sweep else ""
    return f"{value}{advice.why}{tried}"


def values(setting: Setting) -> str:
    """What it may be: 'on or off', a list, '68 to 65535 B'."""
    if setting.choices:
        return _listed(shown(choice, setting.unit) for choice in setting.choices)
    if setting.type == "bool":
        return "on or off"
    ends = [shown(end, setting.unit) for end in (setting.low, setting.high) if end is not None]
    if len(ends) == 2:
        return " to ".join(ends)
    least = f", {ends[0]} or more" if ends and setting.low is not None else ""
    kinds = {"int": "a number", "float": "a number", "word": "a word", "text": "a text"}
    return kinds[setting.type] + least


def shown(value: Value | None, unit: str | None = None) -> str:
    """A value for people. Bytes and counts are exact: 1500 B is no 1.46 KiB."""
    return "–" if value is None else readings.shown(value, unit)


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)
