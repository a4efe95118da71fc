"""Many impacts in a terminal, on a page, and for programs."""

from __future__ import annotations

import json
from math import inf, log
from typing import Any

import pytest

from tests.unit.model.test_impacts import run
from tests.unit.report.tune.test_campaign import text_of
from tests.wording import Wording, lacking
from wulf.model.impacts import Load, MixGain, RunImpact, expectation, mix_gain
from wulf.report.impact.collection import ImpactsReport, impacts_object, impacts_view
from wulf.report.kit.page import render_view
from wulf.report.kit.view import Forest, walk

TREES = [
    run(f"/opt/phyml-mpi -i {name}.phy", gain, domain="phylogenetics", share=share)
    for name, gain, share in (("a", 0.05, 0.6), ("b", 0.09, 0.8), ("c", 0.07, 0.7), ("d", 0.02, 0.3))
]
OTHERS = [run("./wrf", 0.01, domain="climate", change="links", network="a lab's", share=0.1)]
VOID = RunImpact("run-v", "./wrong", "unknown", "links", "a lab's", None, None, why="answers are wrong (8 after)")


def report(**more: Any) -> ImpactsReport:
    return ImpactsReport([*TREES, *OTHERS, VOID], {"torn": "impact.json: not JSON"}, **more)


def mix() -> MixGain:
    loads = [Load("phylogenetics", 0.5), Load("phyml-mpi", 0.1), Load("climate", 0.3)]
    trees = expectation("phylogenetics", TREES)
    known = {"phylogenetics": trees, "phyml-mpi": trees, "climate": expectation("climate", OTHERS)}
    return mix_gain(loads, known, jobs=1000)


def test_all_of_it_within_eighty_columns(wording: Wording) -> None:
    text = text_of(impacts_view(report(mix=mix(), source="mix.toml", core_hours=50_000)), 80)
    assert all(len(line) <= 80 for line in text.splitlines()), text
    wording(text)


def test_groups_of_fewer_than_three_programs_are_not_told() -> None:
    text = text_of(impacts_view(report()), 80)
    climate = next(line for line in text.splitlines() if line.strip().startswith("climate"))
    assert "too few to say" in climate and "%" not in climate
    assert lacking(text, "5 runs of 5 programs", "! torn could not be read", "answers are wrong (8 after)") == []


def test_few_runs_say_what_is_needed() -> None:
    view = impacts_view(ImpactsReport(OTHERS))
    assert lacking(view.headline, "1 run of 1 program: too few to say", "(3 programs are needed)") == []
    assert impacts_view(ImpactsReport([VOID])).headline.startswith("0 runs of 0 programs")


def test_a_loss_is_a_gain_below_zero() -> None:
    worse = [run(str(i), -0.05 - 0.01 * i) for i in range(3)]
    assert "saved -6.2 % (" in impacts_view(ImpactsReport(worse)).headline
    lost = mix_gain([Load("x", 1.0)], {"x": expectation("x", worse)}, jobs=None)
    assert impacts_view(ImpactsReport(worse, mix=lost)).headline.startswith("This mix would save -6.2 % (")


def test_whether_gains_go_with_the_share_in_mpi() -> None:
    text = text_of(impacts_view(report()), 200)
    assert lacking(text, "Yes. By the line through 5 programs", "in proportion to it") == []
    assert "5 programs with profiles" in text_of(impacts_view(ImpactsReport(TREES)), 200), "four are too few"
    flat = [run(str(i), 0.01 * (i % 2), share=0.1 * i) for i in range(6)]
    assert "Not proven." in text_of(impacts_view(ImpactsReport(flat)), 200)


def test_pictures_are_of_what_is_told() -> None:
    forests = {one.key: one for one in walk(impacts_view(report(mix=mix())).sections) if isinstance(one, Forest)}
    assert [row.name for row in forests["forest-domain"].rows] == ["phylogenetics"]
    assert [row.name for row in forests["forest-mix"].rows] == ["phylogenetics", "phyml-mpi", "the whole"]
    assert len(forests["forest-runs"].rows) == 5 and "forest-network" in forests
    drawn = forests["forest-domain"].rows[0]
    assert drawn.outer is not None and drawn.outer.low < drawn.inner.low < drawn.inner.value


def test_a_page_works_offline_and_escapes_what_runs_say() -> None:
    hostile = [run(f"<script>alert({i})</script>", 0.1 * i, domain="<b>x</b>") for i in range(3)]
    page = render_view(impacts_view(ImpactsReport(hostile, {"<i>bad</i>": "<u>torn</u>"})))
    assert page.startswith("<!doctype html>") and page.count('"kind":"effects"') + page.count('"kind": "effects"') >= 2
    assert not [tag for tag in ("<script>alert", "<b>x", "<i>bad", "<u>torn") if tag in page]


def test_programs_read_the_same() -> None:
    found = json.loads(json.dumps(impacts_object(report(mix=mix(), source="mix.toml")), allow_nan=False))
    assert [one["counts"] for one in found["runs"]] == [True] * 5 + [False]
    trees, climate = found["by"]["domain"]
    assert (trees["name"], trees["programs"], trees["changes"]) == ("phylogenetics", 4, ["nic.mtu"])
    assert trees["one_more"]["low"] < trees["mean"]["low"] < trees["mean"]["value"] < trees["one_more"]["high"]
    assert climate["mean"] is None and climate["why"] == "too few to say"
    assert found["bad"] == [{"run": "torn", "why": "impact.json: not JSON"}]
    assert found["mix"]["unknown"] == pytest.approx(0.4) and found["mix"]["parts"][2]["saved"] is None
    assert found["mpi_share"]["proven"] is True and found["mix"]["more_jobs"]["value"] > 0


def test_intervals_beyond_all_bounds_are_null_and_drawn_to_the_edge() -> None:
    wild = [run(str(i), gain) for i, gain in enumerate((log(1e6), -log(1e6), 0.0))]
    view = impacts_view(ImpactsReport(wild))
    assert json.dumps(impacts_object(ImpactsReport(wild)), allow_nan=False)
    text = text_of(view, 80)
    assert "< -1000" in text and "inf" not in text
    assert all(abs(end) < inf for one in walk(view.sections) if isinstance(one, Forest) for end in one.axis)
    assert render_view(view)
