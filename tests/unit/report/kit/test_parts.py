"""What features add to the report of a run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.unit.report.make_audit import AUDIT_SHAPES
from tests.unit.report.make_layers import layered
from tests.unit.report.make_node import NODE_SHAPES
from tests.unit.report.make_run import SHAPES
from wulf.report.kit.parts import parts, whole_part
from wulf.report.kit.terminal import print_all
from wulf.store.run import Run

RUNS = {**SHAPES, **NODE_SHAPES, **AUDIT_SHAPES, "layered": layered}


def test_every_part_has_a_place_of_its_own() -> None:
    places = [part.place for part in parts()]
    assert places == sorted(set(places))


@pytest.mark.parametrize("shape", ["two-nodes", "node-five", "layered", "audit"])
def test_what_is_shown_on_the_page_is_printed_too(shape: str) -> None:
    run = RUNS[shape]()
    told = [sections for part in parts() if (sections := part.view(run))]
    assert told
    for sections in told:
        out = io.StringIO()
        print_all(sections, Console(file=out, width=80))
        assert out.getvalue(), sections
        assert all(section.key and section.link for section in sections)


def test_no_record_is_shown_by_two_parts() -> None:
    for make in RUNS.values():
        run: Run = make()
        shown = [id(record) for part in parts() for record in part.shown(run)]
        assert len(shown) == len(set(shown))


def test_an_audit_is_a_whole_run() -> None:
    assert whole_part(layered()) is None
    found = whole_part(AUDIT_SHAPES["audit"]())
    assert found is not None
    assert found.without_records
