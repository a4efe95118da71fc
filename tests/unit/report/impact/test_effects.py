"""An impact in a terminal and on a page: what is claimed, what is bounded, and what is left."""

from __future__ import annotations

import json
from dataclasses import replace
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.unit.model.test_impact import BLOCKS, RATE, RTT, TIME, visits
from tests.unit.model.test_mpi_share import MASTER, WORKER
from tests.unit.report.tune.test_campaign import text_of
from tests.wording import Wording, lacking
from wulf.apps import hpcc
from wulf.cli.runs.report import command as report
from wulf.model.impact import AFTER, BEFORE, Quantity, Visit, figures_of, impact_of
from wulf.model.mpi_share import mpi_share
from wulf.report.impact.effects import headline, impact_view
from wulf.report.impact.outcome import OUTCOME, improvements
from wulf.store.reading import StoreError
from wulf.store.run import RunWriter
from wulf.workflow.impact.profile import Profiled
from wulf.workflow.impact.result import figures_object, impact_object
from wulf.workflow.tune.campaign import CampaignState
from wulf.workflow.tune.nodes import Leftover

NAMED = [replace(TIME, name="application, wall time"), replace(RTT, name="ping-pong, TCP round trip"), RATE]


def outcome(effect: float = -0.2, told: CampaignState | None = None, **after: Any) -> dict[str, Any]:
    seen = [
        replace(v, values={NAMED[0].name: v.values["application"], NAMED[1].name: v.values["rtt"],
                           RATE.name: v.values["stream"]})
        for v in visits(effect, **after)
    ]  # fmt: skip
    share = mpi_share([MASTER, WORKER])
    profiles = {BEFORE: Profiled(share, "", 20.0), AFTER: Profiled(None, "no rank left a profile")}
    found = impact_of(seen, NAMED, blocks=BLOCKS)
    made = {
        "run": "r", "nodes": ["n1", "n2"], "application": "solve", "ranks": 2, "mpi": "Open MPI 4.1.4", "blocks": 8,
        "kind": "links", "changes": [{"name": "links", "before": ["delay 200us"], "after": ["delay 20us"]}],
        "notes": [], **impact_object(found, told or CampaignState("complete"), profiles),
    }  # fmt: skip
    return json.loads(json.dumps(made))


def test_the_applications_gain_stands_beside_the_ping_pongs_own() -> None:
    said = headline(outcome())
    assert said.startswith("links delay 200us → delay 20us ")
    assert lacking(said, "application faster: +1", "ping-pong by itself +90.0 % (") == []


def test_all_of_it_within_eighty_columns() -> None:
    text = text_of(impact_view(outcome()), 80)
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert "Every answer was the same in both arms: 42" in text
    assert "at most 20 %" in text and "rank 1 computes for the rest" in text and "launch included, 60 %" in text
    assert "(× 0.1)" in text and "a bound, not a forecast" in text
    assert "There is none: no rank left a profile." in text
    assert "The links are as before." in text


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"answer": "41"}, "two arms' answers differ"),
        ({"verdict": "timeout"}, "runs failed only after the change (8)"),
    ],
    ids=["answers", "failures"],
)
def test_nothing_is_claimed(after: dict[str, Any], said: str, wording: Wording) -> None:
    result = outcome(**after)
    assert lacking(headline(result), "nothing is claimed", said) == []
    wording(headline(result))
    assert ("The answers DIFFER" in text_of(impact_view(result))) == ("answer" in after)


def suite(blocks: int, void: bool = False) -> dict[str, Any]:
    """An impact of HPCC, whose latencies fall to a fifth, and nothing else changes."""
    random = np.random.default_rng(6)
    quantities = [Quantity(one.name, one.unit, one.unit == "s") for some in hpcc.PARTS.values() for one in some]
    seen = [
        Visit(block, arm, {
            one.name: exp(random.normal(0, 0.01)) * (1e-6 if one.lower_is_better else 1e9)
            * (0.2 if arm == AFTER and ".latency." in one.name else 1.0)
            for one in quantities
        }, "ok")
        for block in range(blocks) for arm in (BEFORE, AFTER)
    ]  # fmt: skip
    rows = figures_of(seen, quantities, hpcc.LEADING, blocks=blocks)
    return json.loads(json.dumps(outcome() | {"blocks": blocks} | figures_object(rows, hpcc.TITLES, void)))


def test_all_parts_of_a_suite_stand_in_one_table(wording: Wording) -> None:
    result = suite(9)
    leading = [one for one in result["figures"] if one["leading"]]
    assert [one["name"] for one in leading if one["proven"]] == ["ring.latency.random"]
    assert [one["name"] for one in leading] == [name for name in hpcc.TITLES if name in hpcc.LEADING]
    assert len(result["figures"]) == 32 and result["figures_blocks"] == 9
    text = text_of(impact_view(result), 80)
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert lacking(text, "8 comparisons", "24 further figures: on the page", "FFT: all ranks", "1 GB/s") == []
    wording(text[text.index("The application's own figures") : text.index("Runs that did not count")])


def test_too_few_blocks_for_so_many_figures_are_said() -> None:
    result = suite(8)
    (latency,) = (one for one in result["figures"] if one["name"] == "ring.latency.random")
    assert latency["verdict"] == "faster by itself" and not latency["proven"]
    assert "8 blocks can't prove any of so many: --blocks 9 at least" in " ".join(text_of(impact_view(result)).split())
    assert "can't prove" not in text_of(impact_view(suite(9)))


def test_what_is_void_claims_no_part_either() -> None:
    assert {one["verdict"] for one in suite(9, void=True)["figures"]} == {"not claimed"}


def test_the_page_has_the_further_figures_and_the_parts_intervals() -> None:
    result = suite(9)
    page = OUTCOME.render(result)
    assert "24 further figures, each by itself" in page and "RandomAccess: one rank alone" in page
    assert improvements(result)["names"][-1].startswith("bandwidth: ring,")


def test_an_impact_of_before_has_no_figures_of_parts() -> None:
    assert "The application's own figures" not in text_of(impact_view(outcome()))


def test_no_proof_is_no_gain() -> None:
    said = headline(outcome(0.0, noise=0.1))
    assert "no effect on the application is proven" in said and "it lies within" in said


def test_what_is_left_is_told() -> None:
    told = CampaignState(
        "failed", notes=["n1: gone"], leftovers=[Leftover("n1", "link", "", "unknown", "the node is down")]
    )
    text = text_of(impact_view(outcome(told=told)))
    assert "stopped early" in text and "NOT taken back: n1 link: the node is down" in text
    assert "are as before" not in text


def test_the_page_has_the_improvements_with_their_intervals() -> None:
    result = outcome()
    chart = improvements(result)
    assert chart["names"][0] == "application, wall time" and chart["series"][0]["x"][1] == pytest.approx(90.0)
    page = OUTCOME.render(result)
    assert page.startswith("<!doctype html>") and "makes the application faster" in page


def test_wulf_report_shows_it_again(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "r1", "impact", {"seed": 1}) as writer:
        writer.write_json("impact.json", outcome())
        writer.finish("complete", exit_code=0)
    done = CliRunner().invoke(report, [str(tmp_path / "r1")], catch_exceptions=False)
    assert "makes the application" in done.output and (tmp_path / "r1/report.html").is_file()
    (tmp_path / "r1/impact.json").write_text("{")
    with pytest.raises(StoreError, match="not JSON"):
        CliRunner().invoke(report, [str(tmp_path / "r1")], catch_exceptions=False)
