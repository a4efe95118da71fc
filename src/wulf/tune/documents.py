"""The catalogue as a page for people: docs/reference/settings.md is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from wulf.core.names import markdown as plain
from wulf.core.names import markdown_cell as cell
from wulf.tune.explaining import explain, shown
from wulf.tune.setting import CHECKLIST, GROUPS, PERSIST, Aim, Setting

INTRODUCTION = """\
# Settings

Every setting that `wulf audit` looks at and `wulf tune` can change: {count} of them. Each is one TOML in
`src/wulf/tune/catalogue/`, of which this page is made (`WULF_UPDATE=1 pytest tests/unit/tune/test_explaining.py`).
`wulf audit --explain NAME` prints one. A new setting is one more file there; `src/wulf/tune/setting.py` explains its
fields, and `tests/contract/test_settings.py` looks at every one.

Advice is given for three aims: `latency` (small messages are fast), `throughput` (streams are fast), `quiet` (what
computes is disturbed little). A dash is no advice: it depends, and the section says on what. Several values are tried
by a campaign, which measures what is best here. What is *reported* is never changed by wulf; what is done *by hand* no
program can do. Evidence is *measured*, with figures; *documented*, by those who wrote the code; or *folklore*: many say
so, and nobody shows it. Nothing here is true of your cluster until it was measured there.

Values are in SI units. *After*: written after these settings. *Masked*: without effect while these have that value.
*Sets anew*: a change may reset these, which are saved and restored with it. Notes in the tables: *link*: a change takes
the link down for a moment; *reboot*: it takes effect after one; *host*: it holds for the whole host even where it is
written within a network namespace; *weakens*: security, so that it is changed only where it is named; *inert*: it does
nothing on kernels of today."""


def page(settings: Mapping[str, Setting]) -> str:
    """The whole page, in Markdown."""
    lines = [INTRODUCTION.format(count=len(settings)), "", *_checklist(settings), *_fields()]
    for group, title in GROUPS.items():
        members = [setting for setting in settings.values() if setting.group == group]
        if members:
            lines += [f"## {title}", "", *_index(members), ""]
            for setting in members:
                lines += _section(setting)
    return "\n".join(lines).rstrip() + "\n"


def _checklist(settings: Mapping[str, Setting]) -> Iterator[str]:
    yield from ("## The papers' checklist", "", "| question | asks whether | settings |", "| --- | --- | --- |")
    for key, asks in CHECKLIST.items():
        members = [_link(setting.name) for setting in settings.values() if key in setting.checklist]
        yield f"| {key} | {cell(asks)} | {', '.join(members)} |"
    yield ""


def _fields() -> Iterator[str]:
    yield from ("## How settings persist", "", "| kind | names |", "| --- | --- |")
    for kind, names in PERSIST.items():
        yield f"| {kind} | {cell(names)} |"
    yield ""


def _index(members: Iterable[Setting]) -> Iterator[str]:
    yield "| setting | what | latency | throughput | quiet | notes |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for setting in members:
        aims = " | ".join(cell(_brief(setting, aim)) for aim in Aim)
        yield f"| {_link(setting.name)} | {cell(setting.title)} | {aims} | {cell(', '.join(_notes(setting)))} |"


def _brief(setting: Setting, aim: Aim) -> str:
    advice = setting.advice.get(aim)
    if advice is None:
        return ""
    if advice.value is not None:
        return shown(advice.value, setting.unit)
    return " / ".join(shown(value, setting.unit) for value in advice.sweep) or "–"


def _notes(setting: Setting) -> Iterator[str]:
    marks = {
        "by hand": setting.by_hand,
        "reported": setting.access == "report" and not setting.by_hand,
        "link": setting.flap,
        "reboot": setting.reboot,
        "weakens": setting.security == "weakens",
        "inert": setting.kernels.inert_since is not None,
        "host": setting.global_in_netns,
    }
    return (mark for mark, holds in marks.items() if holds)


def _section(setting: Setting) -> Iterator[str]:
    yield from (f"### {setting.name}", "", f"**{setting.title}**", "")
    for heading, text in explain(setting):
        yield f"- *{heading}*: {plain(text)}"
    yield ""


def _link(name: str) -> str:
    """GitHub's anchors leave dots out."""
    return f"[{name}](#{name.replace('.', '')})"
