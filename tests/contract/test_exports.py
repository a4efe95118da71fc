"""Every setting of the catalogue in every format of export: a line with its effect, or a reason; nothing half made."""

from __future__ import annotations

import re

import pytest

from tests.unit.tune.make_exports import RTT, SOURCE
from wulf.tune.catalogue import catalogue
from wulf.tune.export import Exported, export
from wulf.tune.export.entry import Entry, entries
from wulf.tune.export.formats import formats
from wulf.tune.kept import Kept
from wulf.tune.setting import Setting

BRACES = {"nic": "eth0", "rx": "rx-0", "tx": "tx-0", "cpu": "cpu3", "policy": "policy0", "state": "state2",
          "node": "node0", "pages": "hugepages-2048kB", "place": "eth0"}  # fmt: skip
VALUES = {"bool": (True, False), "int": (2, 1), "float": (2e-6, 1e-6), "word": ("fq", "cubic"), "text": ("0-3", "none")}


def place(setting: Setting) -> str:
    words = re.findall("{([a-z]+)}", str(setting.target.get("path", setting.target.get("key", ""))))
    if words:
        return " of ".join(BRACES[word] for word in reversed(words))
    return "eth0" if setting.mechanism in ("link", "ethtool", "qdisc") else ""


def values(setting: Setting) -> tuple[object, object]:
    """What it is to be and what it was: as advised, where something is."""
    advised = [advice.value for advice in setting.advice.values() if advice.value is not None]
    first, second = VALUES[setting.type] if len(setting.choices) < 2 else setting.choices[:2]
    now = advised[0] if advised else first
    return now, second if second != now else first


@pytest.mark.parametrize("name", catalogue())
def test_a_setting_has_a_line_or_a_reason(name):
    setting = catalogue()[name]
    value, before = values(setting)
    kept = Kept(name=name, place=place(setting), value=value, before=before, effect=RTT, nodes="n[1-4]")
    (entry,) = entries([kept], catalogue(), SOURCE)
    for form in formats():
        whole(entry, export([entry], form))


def whole(entry: Entry, made: Exported) -> None:
    """All of it is there, or none of it and why."""
    lines = "".join(text for path, text in made.files.items() if path != "README.md")
    reasons = [reason for _, reason in made.refused]
    assert all(reasons)
    assert (f"# {entry.comment}" in lines) == (not reasons)
    assert not re.search(r"{(nic|rx|tx|cpu|policy|state|node|pages|place)}|<interface>|None", lines)
