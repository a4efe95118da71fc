"""Likely causes: what differs, acts on the rows in question, and is said in the order of what tells most."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.unit.measure.node_records import record
from tests.wording import Wording, lacking
from wulf.agent.facts import all_facts
from wulf.core.records import Record
from wulf.findings.node.causes import causes, differing_facts, likely_causes
from wulf.measure.node.rows import table

NODES = ["n1", "n2", "n3", "n4"]


def fingerprint(**odd: Any) -> dict[str, dict[str, dict[str, Any]]]:
    usual = {
        "cpu.governor": "performance", "memory.thp": "always", "memory.size": 64 << 30, "clock.source": "tsc",
        "mitigations.spectre_v2": "Mitigation: IBRS", "limits.cpus": "0-7", "cpu.turbo": True,
    }  # fmt: skip
    changed = {key.replace("__", "."): value for key, value in odd.items()}
    return {
        node: {name: {"value": value} for name, value in (usual | (changed if node == "n4" else {})).items()}
        for node in NODES
    }


def asked(*rows: str, records: dict[str, dict[str, Record]] | None = None, **odd: Any) -> list[str]:
    return [
        one.text for one in likely_causes("n4", rows, NODES, differing_facts(NODES, fingerprint(**odd)), records or {})
    ]


@pytest.mark.parametrize(
    ("row", "odd", "words"),
    [
        ("cpu.int.add", {"cpu__governor": "powersave"}, "another frequency governor"),
        ("cpu.fma.double", {"cpu__turbo": False}, "turbo"),
        ("mem.triad.all", {"memory__size": 56 << 30}, "a module or channel less"),
        ("mem.random.latency", {"memory__thp": "never"}, "transparent huge pages"),
        ("os.syscall.null", {"clock__source": "hpet"}, "clock source"),
        ("os.syscall.null", {"mitigations__spectre_v2": "Vulnerable"}, "mitigations"),
        ("os.futex.spread", {"limits__cpus": "0-3"}, "another set of CPUs"),
    ],
)
def test_a_fact_that_differs_and_acts_on_the_row_is_named(row: str, odd: dict[str, Any], words: str) -> None:
    (text,) = asked(row, **odd)
    assert words in text


def test_a_fact_that_does_not_act_on_the_row_is_not() -> None:
    assert asked("cpu.int.add", memory__thp="never") == []
    assert asked("os.syscall.null", memory__size=1 << 30) == []
    assert asked("cpu.int.add") == []


def test_what_tells_most_stands_first_and_a_slower_clock_before_all(wording: Wording) -> None:
    texts = asked("mem.triad", memory__size=56 << 30, cpu__governor="powersave")
    assert ["governor" in texts[0], "module" in texts[1]] == [True, True]
    clocks = {node: {"cpu.clock": record(node, "cpu.clock", 3e9 if node != "n4" else 2.1e9)} for node in NODES}
    texts = asked("cpu.int.add", records=clocks, cpu__governor="powersave")
    assert lacking(texts[0], "its clock ran at 2.1 GHz", "others' at 3 GHz") == []
    wording("\n".join(texts))


def test_stolen_time_is_a_cause() -> None:
    flags = {"steal": "the hypervisor took 4.0% of the CPU's time meanwhile"}
    stolen = {"n4": {"os.syscall.null": record("n4", "os.syscall.null", 1e-7, flags=flags)}}
    assert asked("os.syscall.null", records=stolen) == [flags["steal"]]


def test_every_cause_is_of_facts_and_rows_that_there_are() -> None:
    known = [fact.name.replace("*", "x") for fact in all_facts()]
    rows = [row.name for row in table().rows]
    for cause in causes():
        assert any(fnmatchcase(name, cause.facts) for name in known), cause.facts
        assert any(fnmatchcase(row, pattern) for row in rows for pattern in cause.rows), cause.rows
