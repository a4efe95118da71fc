"""HPCC's seven parts as a table of the page."""

from __future__ import annotations

from tests.unit.report.make_hpcc import NO_CLOCK, PARAMS, PEAK, hpcc_records, hpcc_run
from tests.unit.report.make_run import failed
from tests.wording import lacking
from wulf.apps.hpcc import PARTS
from wulf.report.app.hpcc import hpcc_parts
from wulf.report.app.runs import app_section
from wulf.report.run.html import render


def parts(records=None):
    found = hpcc_parts(hpcc_records() if records is None else records)
    return {part["name"]: part for part in found["parts"]}, found


def test_every_part_has_its_figures_or_says_why_not():
    by_name, _ = parts()
    assert list(by_name) == list(PARTS)
    assert [len(part["rows"]) for part in by_name.values()] == [2, 2, 0, 6, 8, 2, 10]
    assert by_name["HPL"]["rows"][0]["value"] == "290 Mflop/s"
    assert by_name["PTRANS"]["missing"] == ["all: the summary has no PTRANS_GBs"]
    (missing,) = by_name["FFT"]["missing"]
    assert lacking(missing, "a rank, all at once: ", "no StarFFT_Gflops") == []


def test_shares_are_of_what_all_ranks_reach_together():
    by_name, found = parts()
    assert found["peaks"] == ["base", "turbo", "measured"]
    rates = {record.metric: record.value for record in hpcc_records()}
    shares = {row["title"]: row["shares"] for part in by_name.values() for row in part["rows"]}
    assert shares["solving N equations, all ranks"] == ["–", "–", f"{100 * rates['hpl.rate'] / PEAK:.3g} %"]
    star = next(row for row in by_name["DGEMM"]["rows"] if row["title"] == "a rank, all at once")
    assert star["shares"][2] == f"{200 * rates['dgemm.star'] / PEAK:.3g} %"
    single = next(row for row in by_name["DGEMM"]["rows"] if row["title"] == "one rank alone")
    assert single["shares"] == ["–", "–", "–"]
    assert found["notes"] == [f"no share of the base and turbo peak: {NO_CLOCK}"]


def test_a_run_that_failed_says_so_for_each_part():
    main = failed("n[1-2]", "hpl.rate", "3 of 3 attempts: status 1", probe="app", phase="app", params=PARAMS)
    by_name, _ = parts([main])
    assert {text for part in by_name.values() for text in part["missing"]} == {"all: 3 of 3 attempts: status 1"}


def test_the_page_has_the_table_and_no_figure_twice():
    (one,) = app_section(hpcc_run())
    assert [row["metric"] for row in one["rows"]] == ["share.measured"]
    page = render(hpcc_run())
    assert "RandomAccess: updates of random memory" in page
    assert "missing: all: the summary has no PTRANS_GBs" in page


def test_other_applications_have_no_such_table():
    other = [record.model_copy(update={"params": {"pattern": "hpl"}}) for record in hpcc_records()]
    assert hpcc_parts(other) is None
    assert hpcc_parts([]) is None
