"""Rates out of a run: of one node, with sizes measured or reported, and never another machine's as this one's."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.rates.making import record
from tests.wording import lacking
from wulf.agent.facts import read
from wulf.agent.machine import Machine
from wulf.core.errors import UsageError
from wulf.core.records import Record
from wulf.measure.node.rows import table
from wulf.rates.machine import FACTS, read_identity
from wulf.store.run import Facts, Run
from wulf.workflow.node.rates import (
    NodeRates,
    busy_note,
    check_is_here,
    known_rates,
    names_of_rates,
    of_run,
    published,
    rates_with_sizes,
)


def here() -> Facts:
    with Machine() as machine:
        return read(machine, [*FACTS, "kernel.boot_id", "cpu.l1d_size", "cpu.l2_size", "cpu.l3_size"])


def row(name: str, subject: str = "n1", **changes: Any) -> Record:
    return record(subject=subject, row=name, **changes)


def edge(**changes: Any) -> Record:
    return row("mem.l2.size", **{"metric": "edge", "unit": "B", "value": 983040.0, **changes})


SIZES = {
    "cpu.l1d_size": {"value": 32768, "unit": "B", "provenance": "reported"},
    "cpu.l2_size": {"value": 1048576, "unit": "B", "provenance": "reported"},
    "cpu.l3_size": {"value": None, "reason": "no cache of level 3 in /sys", "absent": True},
}


def a_run(*records: Record, **facts: Facts) -> Run:
    return Run(Path("x"), {"id": "r"}, fingerprint=dict(facts), records=list(records))


def test_the_rates_are_the_rows_of_the_node() -> None:
    run = a_run(row("mem.l2.latency"), row("os.syscall.null", value=5e-8), n1=here())
    found = of_run(run)
    assert (found.node, found.here) == ("n1", True)
    assert found.machine == read_identity()
    assert found.rates["os.syscall.null"].value == 5e-8
    assert set(found.rates) == {"mem.l2.latency", "os.syscall.null", "mem.l1.size", "mem.l2.size", "mem.l3.size"}


def test_records_that_are_no_rows_are_no_rates() -> None:
    assert "latency" not in of_run(a_run(row("mem.l2.latency"), record(metric="latency"))).rates


def test_a_size_is_the_measured_edge() -> None:
    found = rates_with_sizes({"mem.l2.size": edge(low=900e3, high=1100e3)}, SIZES)["mem.l2.size"]
    assert (found.value, found.low, found.high, found.provenance) == (983040.0, 900e3, 1100e3, "measured")


@pytest.mark.parametrize(
    "unresolved",
    [
        edge(verdict="unresolved", reason="wider than an octave"),
        edge(value=None, verdict="unresolved", reason="wider than an octave"),
    ],
)
def test_where_the_edge_is_not_resolved_the_size_is_reported_and_says_so(unresolved: Record) -> None:
    found = rates_with_sizes({"mem.l2.size": unresolved}, SIZES)["mem.l2.size"]
    assert (found.value, found.provenance, found.verdict) == (1048576.0, "reported", "ok")
    assert found.reason == "reported: wider than an octave"
    assert (found.low, found.high) == (None, None), "nobody measured how sure that is"


def test_of_a_hybrid_processor_the_smallest_is_taken() -> None:
    facts: Facts = {
        "cpu.l1d_size": {"value": None, "reason": "2 sizes"}, "cpu.l1d_sizes": {"value": "49152:0-3 32768:4-7"},
    }  # fmt: skip
    found = rates_with_sizes({"x": row("x")}, facts)["mem.l1.size"]
    assert found.value == 32768
    assert str(found.reason).endswith("the smallest of a hybrid processor's")


def test_a_size_that_nobody_knows_has_the_reason() -> None:
    found = rates_with_sizes({"x": row("x")}, SIZES)["mem.l3.size"]
    assert (found.value, found.verdict) == (None, "unresolved")
    assert lacking(str(found.reason), "edge was not measured", "no cache of level 3 in /sys") == []


def test_one_node_of_several_has_to_be_chosen() -> None:
    run = a_run(row("a"), row("a", "n2", value=2e-9))
    with pytest.raises(UsageError, match="holds 2 nodes: n1, n2"):
        of_run(run)
    assert of_run(run, "n2").rates["a"].value == 2e-9
    with pytest.raises(UsageError, match="no rows of n3"):
        of_run(run, "n3")


def test_a_run_of_something_else_is_said() -> None:
    with pytest.raises(UsageError, match="holds no rows of a node") as caught:
        of_run(a_run(record()))
    assert "wulf node" in caught.value.next_step


def test_another_node_needs_a_file_of_its_own(tmp_path: Path) -> None:
    elsewhere = {**here(), "kernel.boot_id": {"value": "another"}}
    found = of_run(a_run(row("a"), n1=elsewhere))
    assert not found.here
    with pytest.raises(UsageError, match="n1 is not this machine"):
        check_is_here(found, {})
    check_is_here(found, {"WULF_RATES": "n1.json"})
    assert published(found, tmp_path / "n1.json").rates.host == "n1"


def test_this_machine_of_before_an_update_is_refused() -> None:
    found = of_run(a_run(row("a"), n1={**here(), "kernel.release": {"value": "2.4.18"}}))
    with pytest.raises(UsageError, match=r"kernel\.release was 2\.4\.18"):
        check_is_here(found, {})


def test_known_rates_are_none_where_the_file_is_of_no_use(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    assert known_rates(path) == {}
    path.write_text("{")
    assert known_rates(path) == {}
    published(NodeRates("n1", True, read_identity(), of_run(a_run(row("a"))).rates), path)
    assert known_rates(path)["a"].value == 1e-9
    published(replace(of_run(a_run(row("a"))), machine={"kernel.release": "2.4.18"}), path)
    assert known_rates(path) == {}


def test_every_rate_that_can_be_refreshed_is_a_row() -> None:
    names = names_of_rates()
    assert {"mem.l2.latency", "cpu.double.add", "os.syscall.null"} <= set(names)
    assert len(names) == len(set(names)) > 70


def test_on_a_busy_machine_it_is_said() -> None:
    assert busy_note(1.0, 2) == ""
    assert busy_note(1.1, 2).startswith("the load is 1.1 on 2 CPUs")


def test_every_row_may_be_the_name_of_a_rate() -> None:
    schema = json.loads((Path(__file__).parents[4] / "docs" / "reference" / "rates.schema.json").read_text())
    pattern = re.compile(schema["properties"]["rates"]["propertyNames"]["pattern"])
    assert all(pattern.match(row.name) and len(row.name) < 128 for row in table().rows), "wulf_rates.h takes 127 bytes"
