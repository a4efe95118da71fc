"""What a table's design can't tell."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.tune.table.make_table import PAPER, means, measured
from tests.wording import Wording
from wulf.stats.moments import Moments
from wulf.tune.table.arms import SettingTable
from wulf.tune.table.effects import analysed
from wulf.tune.table.limits import design_name, limits

FULL = ("none", "a", "b", "a + b")


def kinds(table: SettingTable) -> list[str]:
    return [one.kind for one in limits(table, analysed(table))]


def said(table: SettingTable, kind: str) -> str:
    (one,) = (each for each in limits(table, analysed(table)) if each.kind == kind)
    return one.text


def test_one_setting_at_a_time(wording: Wording) -> None:
    table = means(PAPER)
    assert design_name(table) == "one setting at a time"
    assert kinds(table) == ["baseline", "interactions", "order", "means"]
    wording("\n".join(one.text for one in limits(table, analysed(table))))


def test_a_factorial_in_randomised_blocks_hides_nothing() -> None:
    table = measured(FULL, {"a": -0.1}, named=True, ordered=True)
    assert design_name(table) == "full factorial"
    assert kinds(table) == []


def test_a_trend_goes_with_settings_that_were_measured_in_their_order() -> None:
    table = means(PAPER)
    places = {arm: float(place) for place, arm in enumerate(table.arms)}
    assert "aliased" in said(replace(table, places=places), "trend")


def test_a_trend_in_random_order_is_fitted() -> None:
    text = said(measured(FULL, {"a": -0.1}, drift=0.5, ordered=True, blocks=8), "trend")
    assert "aliased" not in text
    fitted = float(text.partition("× ")[2].partition(" ")[0])
    assert 1.5 < fitted < 1.8, "e to the 0.5 is 1.65"


def test_blocks_of_one_order_show_no_trend_within() -> None:
    table = measured(FULL, {}, named=True, ordered=True)
    rows = sorted(table.rows, key=lambda row: (row.block or "", table.name(row.arm)))
    alike = replace(table, rows=[replace(row, order=float(place)) for place, row in enumerate(rows)])
    assert "same in every block" in said(alike, "trend")


def test_arms_without_replicates_are_named() -> None:
    table = means({"none": (10.0, 0.1), "a": (9.0, 0.1), "b": 8.0})
    assert said(table, "replication").startswith("b was")
    once = measured(FULL, {}, blocks=1)
    assert said(once, "replication").startswith("none, a, b, a + b were measured once")


def test_unequal_numbers_are_said() -> None:
    table = means(PAPER)
    arms = dict(table.arms) | {frozenset({"firewall"}): Moments(41.62, 8.90, 30)}
    assert "10 to 30" in said(replace(table, arms=arms), "unequal")
    assert "unequal" not in kinds(table)


def test_pairs_beside_combinations_are_counted() -> None:
    table = means({"none": (10.0, 0.1), "a": (9.0, 0.1), "b": (8.0, 0.1), "c": (8.0, 0.1), "a + b + c": (6.0, 0.1)})
    assert design_name(table) == "one setting at a time, and 1 combination"
    assert "none can" in said(table, "interactions")
    assert "which" in kinds(table)


def test_without_a_baseline() -> None:
    table = means({"a": (9.0, 0.1), "b": (8.0, 0.1), "a + b": (6.0, 0.1)})
    assert kinds(table)[0] == "baseline"
    assert design_name(table) == "configurations without a baseline"


def test_aliases_are_written_out() -> None:
    found = said(means({"none": (10.0, 0.1), "a + b": (8.0, 0.1)}), "aliased")
    assert found == "Of a, b the sum alone is seen: a + b."
