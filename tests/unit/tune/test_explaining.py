"""A setting in words, and the page that is made of all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.wording import Wording, lacking
from wulf.tune.catalogue import catalogue
from wulf.tune.documents import page
from wulf.tune.explaining import explain, shown
from wulf.tune.setting import Setting, Value

ROOT = Path(__file__).parents[3]

FULL = Setting.model_validate(
    {
        "name": "nic.delay",
        "title": "Delay",
        "what": "Waits.",
        "why": "Gathers.",
        "type": "float",
        "unit": "s",
        "low": 0,
        "high": 0.01,
        "special": [{"value": 3e-6, "meaning": "dynamic", "drivers": ["e1000e"]}],
        "mechanism": "ethtool",
        "target": {"topic": "coalesce", "field": "rx_usecs"},
        "scope": "nic",
        "flap": True,
        "security": "weakens",
        "risk": "All is lost.",
        "checklist": ["1c"],
        "advice": {
            "latency": {"value": 0.0, "why": "At once."},
            "throughput": {"why": "It depends.", "sweep": [0, 5e-5]},
        },
        "masked_by": {"nic.adaptive": True},
        "kernels": {"since": "5.8"},
        "persist": {"link": "RxCoalesceSec"},
        "evidence": [{"effect": "faster", "source": "all say so", "kind": "folklore"}],
        "tested": "qemu",
    }
)


def test_every_part_that_has_something_to_say(wording: Wording) -> None:
    parts = {
        "What": ["Waits."],
        "Why": ["Gathers."],
        "For latency": ["0 s.", "At once."],
        "For throughput": ["It depends.", ": 0 s, 50 µs"],
        "Effect seen": ["faster", "folklore", "all say so"],
        "Security": ["weakens the node"],
        "Risk": ["All is lost."],
        "Link": ["takes the link down"],
        "Masked": ["nic.adaptive = on"],
        "Values": ["0 s to 10 ms"],
        "Mode": ["3 µs: dynamic (e1000e)"],
        "Holds for": ["an interface"],
        "Kernels": ["since Linux 5.8"],
        "Read by": ["ethtool topic=coalesce field=rx_usecs"],
        "Persists": ["RxCoalesceSec", "systemd.link(5)", "[Link]"],
        "Undo": ["value before"],
        "Checklist": ["1c: interrupt moderation"],
        "Tested": ["virtual machine"],
    }
    said = explain(FULL)
    assert [heading for heading, _ in said] == list(parts)
    assert {heading: lacking(text, *parts[heading]) for heading, text in said} == {heading: [] for heading in parts}
    wording("\n".join(f"{heading}: {text}" for heading, text in said))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "s", "–"),
        (True, None, "on"),
        (1500, "B", "1500 B"),
        (4294967295, "1", "4294967295"),
        (5e-5, "s", "50 µs"),
        (0, "s", "0 s"),
        ("4096 131072 6291456", None, "4096 131072 6291456"),
        (1.25e9, "B/s", "10 Gbit/s"),
    ],
)
def test_values_for_a_person(value: Value | None, unit: str | None, text: str) -> None:
    assert shown(value, unit) == text


def test_what_does_nothing_says_so_first_among_its_effects(wording: Wording) -> None:
    effects = [text for heading, text in explain(catalogue()["tcp.low_latency"]) if heading == "Effect seen"]
    assert effects[0].startswith("None since Linux 4.14")
    assert "inert" in effects[0]
    wording(effects[0])


def test_the_page_of_settings_is_of_this_catalogue() -> None:
    written = ROOT / "docs" / "reference" / "settings.md"
    if "WULF_UPDATE" in os.environ:
        written.write_text(page(catalogue()))
    assert written.read_text() == page(catalogue()), "write it with WULF_UPDATE=1"


def test_every_link_of_the_page_leads_somewhere() -> None:
    text = page(catalogue())
    anchors = {line.removeprefix("### ").replace(".", "") for line in text.splitlines() if line.startswith("### ")}
    links = {part.split(")")[0] for part in text.split("](#")[1:]}
    assert links == anchors


def test_the_pages_tables_are_whole() -> None:
    rows = [line.replace("\\|", "") for line in page(catalogue()).splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {3, 4, 7}
