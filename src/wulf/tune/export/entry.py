"""What is exported: the settings that a campaign kept, each with the words that say what was measured of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wulf.core.errors import UsageError
from wulf.core.units import scale_for, show_in
from wulf.tune.dependencies import order
from wulf.tune.kept import SCREENED, Effect, Kept, members
from wulf.tune.setting import Setting


@dataclass(frozen=True)
class Source:
    """Where the settings come from."""

    run: str
    date: str
    """Of the run: '2026-11-22'."""


@dataclass(frozen=True)
class Entry:
    """One setting as the campaign kept it, and what the catalogue knows of it."""

    setting: Setting
    kept: Kept
    source: Source

    @property
    def title(self) -> str:
        """'nic.mtu on eth0'."""
        return f"{self.kept.name} on {self.kept.place}" if self.kept.place else self.kept.name

    @property
    def comment(self) -> str:
        """One line of ASCII: what it is, what it did here, and when that was measured."""
        effect = effect_words(self.kept.effect) if self.kept.effect else "not measured"
        return ascii_words(f"{self.title}: {effect}; run {self.source.run}, {self.source.date}")


def ascii_words(text: str) -> str:
    """One line of ASCII, as files of all formats are: what reads them at boot may know no other encoding."""
    plain = text.translate({ord("µ"): "u", ord("−"): "-", ord("–"): "-", ord("×"): "x", ord("\n"): " "})
    return "".join(c if c.isprintable() else "?" for c in plain.encode("ascii", "replace").decode())


_PLACE = re.compile(r"(?:[A-Za-z0-9][\w.:@-]*(?: of [A-Za-z0-9][\w.:@-]*)*)?", re.ASCII)
_NODES = re.compile(r"(?:[A-Za-z0-9][\w.-]*(?:\[[\d,/-]+\][\w.-]*)*(?:,(?!$)|$))*", re.ASCII)
_TEXT = re.compile(r"[A-Za-z0-9 \t_,.:/=+@-]*")


OF_WORDS = frozenset({"sysctl", "nftables"})
"""Mechanisms of which a value may be several words: it is the rest of a line, or is parsed as networks."""


def why_unsafe(entry: Entry) -> str:
    """Why something could become more than a value in a file that a shell, udev or Ansible reads; empty where nothing.

    A run may come from anybody; and what none of these gives a meaning to needs no quoting in any of them. Several
    words are one value in a file of sysctl.d, as networks, or where the catalogue has them so; elsewhere the second
    would be an argument, or a word for the kernel, of its own.
    """
    kept, setting = entry.kept, entry.setting
    if not _PLACE.fullmatch(kept.place):
        return f"{kept.place!r} is no name of a device that such a file may hold"
    if not _NODES.fullmatch(kept.nodes):
        return f"{kept.nodes!r} is no set of nodes that such a file may hold"
    for value in (kept.value, kept.before):
        if isinstance(value, str) and not _TEXT.fullmatch(value):
            return f"{value!r} has characters that such a file may take for more than a value"
        if isinstance(value, str) and value.split() != [value] and not _is_of_words(setting, value):
            return f"{value!r} is not one word, as {setting.name} takes"
    return ""


def _is_of_words(setting: Setting, value: str) -> bool:
    return setting.mechanism in OF_WORDS or value in setting.choices


def effect_words(effect: Effect) -> str:
    """'rtt -18.4 us (-18.9 to -17.8), faster', or 'rtt improved by 36.8 % (35.0 to 38.5), faster'.

    A figure by which the setting was selected is called that.
    """
    ends = [end for end in (effect.value, effect.low, effect.high) if end is not None]
    share = effect.unit == "1"
    divisor, unit = (0.01, "%") if share else scale_for(max(map(abs, ends)), effect.unit)
    value, *interval = (f"{'+' if end > 0 and not share else ''}{show_in(end, divisor)}" for end in ends)
    within = " to ".join(interval) if len(interval) == 2 else "no interval"
    basis = " (screened: selected for seeming large)" if effect.basis == SCREENED else ""
    return f"{effect.metric}{' improved by' if share else ''} {value} {unit} ({within}), {effect.verdict}{basis}"


def entries(kept: Iterable[Kept], catalogue: Mapping[str, Setting], source: Source) -> list[Entry]:
    """What was kept, with its settings, in the order of writing: what others need comes first.

    Raises
    ------
    UsageError
        The catalogue has no setting of that name.
    """
    found = []
    for each in kept:
        setting = catalogue.get(each.name)
        if setting is None:
            raise UsageError(f"the catalogue has no setting {each.name}", "export with the wulf that tuned")
        found.append(Entry(setting, each, source))
    at = {name: place for place, name in enumerate(order(catalogue, list({entry.kept.name: None for entry in found})))}
    return sorted(found, key=lambda entry: at[entry.kept.name])


def by_nodes(found: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Nodes that kept the same settings, with the same values before and after, are one group.

    Returns
    -------
    Node set ('n[1-4]', '' where no nodes are named) → what its nodes kept, in the campaign's order.

    Raises
    ------
    UsageError
        A set can't be parsed, or stands for too many.
    """
    from ClusterShell.NodeSet import NodeSet

    entries = list(found)
    names = members(entry.kept for entry in entries)
    of_node: dict[str, list[Entry]] = {}
    for entry in entries:
        for node in names[entry.kept.nodes] or [""]:
            of_node.setdefault(node, []).append(entry)
    groups: list[tuple[list[Entry], list[str]]] = []
    for node, its in of_node.items():
        nodes = next((members for like, members in groups if _alike(like, its)), None)
        if nodes is None:
            groups.append((its, [node]))
        else:
            nodes.append(node)
    return {str(NodeSet.fromlist(nodes)) if nodes != [""] else "": its for its, nodes in groups}


def _alike(first: list[Entry], second: list[Entry]) -> bool:
    return [_words(entry) for entry in first] == [_words(entry) for entry in second]


def _words(entry: Entry) -> tuple[object, ...]:
    kept = entry.kept
    return (kept.name, kept.place, repr(kept.value), repr(kept.before), kept.effect)
