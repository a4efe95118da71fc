"""A campaign's plan and outcome in a terminal and on a page."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from tests.unit.workflow.tune.test_campaign import CATALOGUE, Lab
from tests.wording import lacking
from wulf.cli.runs.report import command as report
from wulf.report.kit.terminal import print_view
from wulf.report.kit.view import View
from wulf.report.tune.campaign import interval, percent, plan_view, result_view
from wulf.report.tune.outcome import OUTCOME, effects_chart
from wulf.store.reading import StoreError
from wulf.store.run import RunWriter
from wulf.workflow.tune.result import differences, result_object


def outcome() -> dict[str, Any]:
    """Of a campaign over nodes in memory, as campaign.json has it."""
    lab = Lab(drift=0.0005)
    told = lab.run()
    found = result_object("c1", lab.campaign, CATALOGUE, told)
    return json.loads(json.dumps(found | {"dumps": {"same": True, "reason": "", "differ": []}}))


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return outcome()


def text_of(view: View, width: int = 120) -> str:
    out = io.StringIO()
    print_view(view, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def test_the_table_has_mean_deviation_impact_interval_and_verdict(result: dict[str, Any]) -> None:
    text = text_of(result_view(result), 160)
    assert re.search(r"default +49\.\d+ µs|default +5\d\.\d µs", text)
    good = next(line.strip() for line in text.splitlines() if line.startswith("  net.good = 1 "))
    assert re.search(r" faster +3\d\.\d µs .*s +\+2\d\.\d %.* 10$", good), good
    assert re.search(r"all but net.good .*", text)
    assert re.search(r"A/A arm .*: [+-]\d\.\d\d % .*, clean\.", text)
    assert "clamped (asked 100, got 64): faster" in text
    assert "inert: no detectable effect; minimum detectable" in text
    assert "refused: Operation not permitted" in text
    assert re.search(r"kept: net\.good = 1 \(was 0\) on n\[1-3\]: \+2\d\.\d % \(.* %\), confirmed", text)
    assert re.search(r"setting +verdict +confirmed +95 % +screened +95 % +alone", text)
    assert "byte by byte, but for what was kept" in text
    assert "Drift from first to last: × 1.0" in text


def test_the_headline_says_what_is_proven_and_kept(result: dict[str, Any]) -> None:
    headline = result_view(result).headline
    assert lacking(headline, "net.good, net.clamped proven faster", " 1 slower", " 3 inconclusive") == []
    assert re.search(r"; together \+3\d\.\d % \(.*\).*, kept\.$", headline), headline


def test_an_interrupted_campaign_says_so_and_shows_what_there_is() -> None:
    lab = Lab()

    def interrupt() -> float:
        raise KeyboardInterrupt

    lab.truth.at[60] = interrupt
    view = result_view(result_object("c1", lab.campaign, CATALOGUE, lab.run()))
    assert view.headline.startswith("The campaign was interrupted")
    assert "default" in text_of(view)


def test_a_campaign_whose_a_a_arm_alarms_claims_nothing() -> None:
    lab = Lab()
    real = lab.truth

    def measure(about: Mapping[str, Any]) -> float | None:
        value = real(about)
        return value and value * (1.03 if "A/A" in about["arm"] and "but" not in about["arm"] else 1.0)

    lab.conductor._measure = measure
    view = result_view(result_object("c1", lab.campaign, CATALOGUE, lab.run()))
    assert lacking(view.headline, "A/A arm differs from itself", "nothing is claimed") == []
    text = text_of(view, 160)
    assert "NOT clean: nothing is claimed" in text
    assert re.search(r"net\.good = 1 +not claimed ", text)
    assert "kept" not in {line.partition(":")[0] for line in text.splitlines()}


def test_a_campaign_of_old_is_shown_with_what_it_has(result: dict[str, Any]) -> None:
    """It knew one figure of each setting, the one that selected it, and no other A/A arm than the main stage's."""
    old = json.loads(json.dumps(result))
    for name in ("together", "alarms"):
        del old[name]
    for one in old["settings"]:
        del one["confirmed"]
    for one in old["kept"]:
        del one["effect"]["basis"]
    view = result_view(old)
    assert re.search(r"; together \+3\d\.\d % \(.*\).*, kept\.$", view.headline), view.headline
    assert re.search(r"kept: net\.good = 1 .* %\), screened", text_of(view, 160))
    assert "net.good" in OUTCOME.render(old)


def test_leftovers_and_differences_stand_out(result: dict[str, Any]) -> None:
    left = {"node": "n2", "name": "net.good", "place": "", "outcome": "changed-since", "text": "it is 7, wulf wrote 1"}
    differ = {"node": "n2", "name": "net.x", "place": "eth0", "before": {"value": 1}, "after": None}
    bad = result | {"leftovers": [left], "dumps": {"same": False, "reason": "", "differ": [differ]}}
    text = text_of(result_view(bad))
    assert lacking(text, "NOT taken back: n2 net.good: it is 7") == []
    assert lacking(text, "DIFFERS from before: n2 net.x eth0: 1 →") == []


def test_the_page_draws_effects_with_intervals_and_needs_no_network(result: dict[str, Any]) -> None:
    page = OUTCOME.render(result)
    assert 'http-equiv="Content-Security-Policy"' in page and "net.good" in page
    chart = effects_chart(result)
    assert chart["names"][-1] == "A/A: nothing changed"
    effect = next(series for series in chart["series"] if series["name"] == "screened")
    assert len(effect["x"]) == len(chart["names"])
    for low, value, high in zip(effect["low"], effect["x"], effect["high"], strict=True):
        assert low <= value <= high
    assert 25.0 < effect["x"][effect["row"].index(chart["names"].index("net.good"))] < 27.0
    confirmed = next(series for series in chart["series"] if series["name"] == "confirmed")
    assert [chart["names"][row] for row in confirmed["row"]] == ["net.good", "net.clamped"]


def test_markup_in_names_is_escaped(result: dict[str, Any]) -> None:
    hostile = "<script>alert(1)</script>"
    bad = result | {"notes": [hostile], "nodes": [hostile]}
    assert hostile not in OUTCOME.render(bad)


def test_the_plan_says_that_nothing_was_changed() -> None:
    plan = {
        "aim": "latency", "nodes": ["n1", "n2"], "canary": "n1", "measured": "TCP pingpong", "design": "ablation",
        "blocks": 9, "seed": 7, "arms": 8, "visits": 90, "seconds": 300.0, "keep": False, "order": ["default", "a = 1"],
        "settings": [{"name": "nic.mtu", "title": "", "now": [["1500 B", "eth0 on n[1-2]"]], "to": ["9000 B"]}],
        "omitted": [{"name": "bios.smt", "reason": "only a person can change it"}], "risks": ["The link goes down."],
        "journalled": ["nic.mtu: 1500 B at eth0 on n[1-2]"], "notes": ["a note"],
    }  # fmt: skip
    text = text_of(plan_view(plan))
    for words in ("Nothing was changed", "about 5 min", "--apply does it", "1500 B (eth0 on n[1-2])", "9000 B",
                  "seed 7", "The link goes down.", "bios.smt", "then all is undone", "! a note"):  # fmt: skip
        assert words in text


def test_shares_for_people() -> None:
    assert percent(0.3679) == "+36.8 %"
    assert percent(None) == "–"
    assert interval({"improvement_low": -0.01, "improvement_high": 0.02}) == "-1.0 … +2.0 %"
    assert interval({"improvement_low": None, "improvement_high": None}) == "–"


def test_differences_of_dumps_spare_what_was_kept() -> None:
    before = {"n1": {"a": {"": {"value": 0}}, "b": {"eth0": {"value": 1}}}}
    after = {"n1": {"a": {"": {"value": 1}}, "b": {"eth0": {"value": 1}}}}
    assert differences(before, before, []) == []
    found = differences(before, after, [])
    assert [(one["node"], one["name"], one["before"], one["after"]) for one in found] == [
        ("n1", "a", {"value": 0}, {"value": 1})
    ]


def test_a_campaigns_run_is_shown_by_wulf_report(result: dict[str, Any], tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", "tune", {"nodes": ["n1"]}) as writer:
        writer.write_json("campaign.json", result)
        writer.finish("complete")
    shown = CliRunner().invoke(report, [str(tmp_path / "run")], standalone_mode=False)
    assert shown.exception is None, shown.exception
    assert "What each setting does" in shown.stdout
    assert "net.good" in (tmp_path / "run" / "report.html").read_text()
    (tmp_path / "run" / "campaign.json").write_text("{")
    assert isinstance(CliRunner().invoke(report, [str(tmp_path / "run")], standalone_mode=False).exception, StoreError)
