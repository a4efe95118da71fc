"""HPCC's seven parts as a table of the page."""

from __future__ import annotations

from tests.unit.report.make_hpcc import NO_CLOCK, PARAMS, PEAK, hpcc_records, hpcc_run
from tests.unit.report.make_run import failed
from tests.wording import lacking
from wulf.apps.hpcc import PARTS
from wulf.report.app.hpcc import hpcc_parts
from wulf.report.app.runs import app_sections
from wulf.report.kit.view import Columns, walk
from wulf.report.run.html import render


def rows(records=None):
    """Part → its rows, as texts, shares last; then what stands below the table."""
    table, *notes = hpcc_parts(hpcc_records() if records is None else records)
    found = {}
    for head, title, value, *_ in table.rows:
        found.setdefault(head.text, []).append((title, getattr(value, "text", ""), getattr(value, "small", [])))
    return found, [note.text for note in notes]


def test_every_part_has_its_figures_or_says_why_not():
    by_name, _ = rows()
    assert list(by_name) == list(PARTS)
    assert [sum(bool(row[1]) for row in own) for own in by_name.values()] == [2, 2, 0, 6, 8, 2, 10]
    assert by_name["HPL"][0][1] == "290 Mflop/s"
    assert by_name["PTRANS"][0][0] == "missing: all: the summary has no PTRANS_GBs"
    assert lacking(by_name["FFT"][-1][0], "a rank, all at once: ", "no StarFFT_Gflops") == []


def share(rate):
    return f"all ranks: {100 * rate / PEAK:.3g} % of the measured peak"


def test_shares_are_of_what_all_ranks_reach_together():
    by_name, notes = rows()
    rates = {record.metric: record.value for record in hpcc_records()}
    shares = {(name, row[0]): row[2] for name, own in by_name.items() for row in own}
    assert shares["HPL", "solving N equations, all ranks"] == [share(rates["hpl.rate"])]
    assert shares["DGEMM", "a rank, all at once"] == [share(2 * rates["dgemm.star"])]
    assert shares["DGEMM", "one rank alone"] == []
    assert notes[-1] == f"no share of the base and turbo peak: {NO_CLOCK}"


def test_a_run_that_failed_says_so_for_each_part():
    main = failed("n[1-2]", "hpl.rate", "3 of 3 attempts: status 1", probe="app", phase="app", params=PARAMS)
    by_name, _ = rows([main])
    assert {row[0] for own in by_name.values() for row in own} == {"missing: all: 3 of 3 attempts: status 1"}


def test_the_page_has_the_table_and_no_figure_twice():
    _, rest = (one for one in walk(app_sections(hpcc_run())) if isinstance(one, Columns))
    assert [row[1] for row in rest.rows] == ["share.measured"]
    page = render(hpcc_run())
    assert "RandomAccess<small>updates of random memory</small>" in page
    assert "missing: all: the summary has no PTRANS_GBs" in page


def test_other_applications_have_no_such_table():
    other = [record.model_copy(update={"params": {"pattern": "hpl"}}) for record in hpcc_records()]
    assert hpcc_parts(other) == []
    assert hpcc_parts([]) == []
