"""What stands beside the exported files for a person: what they hold, how they are used, and what they don't hold."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.core.units import show
from wulf.tune.export.entry import Entry, ascii_words, effect_words
from wulf.tune.export.format import Format, Written
from wulf.tune.setting import Value

README = "README.md"


def readme(form: Format, entries: Sequence[Entry], written: Written) -> str:
    """One page of Markdown."""
    source, nodes = entries[0].source, entries[0].kept.nodes
    lines = [
        f"# Settings of the run {source.run}", "",
        f"Kept by `wulf tune` on {source.date}{f', on {nodes}' if nodes else ''}. {form.help}", "",
        *table(entries, written), "", "## Use", "", form.install, "", "## Undo", "", form.undo, "",
        *_not_exported(written), "## Check", "", f"`wulf tune verify {source.run}`, after a restart too.",
    ]  # fmt: skip
    return "\n".join(map(ascii_words, lines)) + "\n"


def table(entries: Sequence[Entry], written: Written) -> list[str]:
    """What was kept, and what each did."""
    absent = [entry for entry, _ in written.refused]
    rows = ["| setting | before | now | effect measured here | exported |", "| --- | --- | --- | --- | --- |"]
    for entry in entries:
        kept = entry.kept
        effect = effect_words(kept.effect) if kept.effect else "not measured"
        unit = entry.setting.unit
        before = "not known" if kept.before is None else _value(kept.before, unit)
        cells = (entry.title, before, _value(kept.value, unit), effect, "no" if entry in absent else "yes")
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def _value(value: Value, unit: str | None) -> str:
    """For a person: 50 us; 1500 B, which nobody knows as 1.46 KiB."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str) or unit is None:
        return str(value)
    return show(value, unit) if unit == "s" else f"{value} {unit}"


def _not_exported(written: Written) -> list[str]:
    """NOT EXPORTED, each with its reason; nothing where all is there."""
    if not written.refused:
        return []
    lines = [
        f"- {entry.title} (to be {_value(entry.kept.value, entry.setting.unit)}): {reason}"
        for entry, reason in written.refused
    ]
    return ["## Not exported", "", *lines, ""]
