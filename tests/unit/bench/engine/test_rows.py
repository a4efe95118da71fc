import io
from dataclasses import replace

import numpy as np
import pytest
from bench.engine import rows
from bench.engine.rows import BEST, MET, MISSED, NONE, OPEN, Row
from bench.report import table
from rich.console import Console

PAIRS = [(1.0, 2.0), (1.1, 2.0), (1.2, 2.0), (1.3, 2.0), (1.4, 2.0), (1.5, 2.0)]


def row(name="a", ratio=1.0, better="lower", peer_name="tool"):
    return Row(name, ratio, 1.0, peer_name, "s", ratio, ratio, ratio, better, 1.0)


def test_the_ratio_is_the_median_of_the_blocks_ratios_with_its_interval():
    made = rows.compared("rtt", "tool", "s", "lower", PAIRS)
    assert (made.ratio, made.low, made.high) == pytest.approx((0.625, 0.5, 0.75))
    assert (made.ours, made.peer) == pytest.approx((1.25, 2.0))
    assert made.verdict == MET


def test_a_ratio_is_taken_within_its_block():
    drifting = [(10.0**i, 10.0**i) for i in range(6)]
    made = rows.compared("rtt", "tool", "s", "lower", drifting)
    assert (made.ratio, made.low, made.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "better", "verdict"),
    [
        (0.90, 1.02, "lower", MET),
        (0.90, 1.021, "lower", OPEN),
        (1.02, 1.10, "lower", OPEN),
        (1.021, 1.10, "lower", MISSED),
        (0.98, 1.30, "higher", MET),
        (0.979, 1.30, "higher", OPEN),
        (0.80, 0.979, "higher", MISSED),
        (0.95, 1.05, "same", MET),
        (0.949, 1.05, "same", OPEN),
        (1.051, 1.10, "same", MISSED),
        (0.5, 2.0, "same", OPEN),
        (None, None, "lower", OPEN),
    ],
)
def test_a_goal_is_met_or_missed_by_the_whole_interval_and_open_otherwise(low, high, better, verdict):
    assert replace(row("a", 1.0, better), low=low, high=high).verdict == verdict


def test_a_goal_of_its_own_moves_the_bound():
    assert replace(row("a"), goal=0.5, low=0.4, high=0.51).verdict == MET
    assert replace(row("a"), goal=0.5, low=0.4, high=0.52).verdict == OPEN


def test_a_tool_that_is_five_per_cent_worse_and_noisy_is_seldom_met():
    """The interval that only has to hold the goal called it met in 85 of 100."""
    rng = np.random.default_rng(1)
    pairs = 1.05 * rng.lognormal(0.0, 0.1, (400, 12))
    found = [rows.compared("a", "tool", "s", "lower", [(one, 1.0) for one in ratios]).verdict for ratios in pairs]
    assert found.count(MET) / len(found) <= 0.03


def test_each_look_widens_the_interval():
    pairs = [(float(ratio), 1.0) for ratio in np.random.default_rng(2).normal(1.0, 0.1, 40)]
    looks = ((40,), (12, 18, 27, 40))
    alone, fourth = (rows.compared("a", "tool", "s", "lower", pairs, looks=each) for each in looks)
    assert fourth.low < alone.low and alone.high < fourth.high


def test_three_to_five_blocks_have_students_interval_of_their_logarithms():
    """log 0.25, 0.5, 1 are one log 2 apart: t(95 %, 2) = 4.3027, so that half the width is 4.3027·log 2/√3."""
    made = rows.compared("build", "tool", "s", "lower", [(1.0, 2.0), (1.0, 4.0), (3.0, 3.0)])
    factor = 2 ** (4.30265 / 3**0.5)
    assert (made.ratio, made.low, made.high) == pytest.approx((0.5, 0.5 / factor, 0.5 * factor), rel=1e-4)
    assert (made.ours, made.peer, made.peer_name) == (1.0, 3.0, "tool (3 blocks)")


def test_too_few_blocks_are_no_comparison():
    made = rows.compared("rtt", "tool", "s", "lower", PAIRS[:2])
    assert (made.peer, made.ratio, made.verdict) == (None, None, NONE)
    assert made.peer_name == "tool (2 of 3 blocks)"


def test_blocks_that_depend_on_each_other_leave_the_goal_open():
    pairs = [(1.0, 2.0)] * 6 + [(1.5, 2.0)] * 6
    made = rows.compared("rtt", "tool", "s", "lower", pairs)
    assert (made.low, made.high, made.verdict) == (None, None, OPEN)
    assert "depends on the one before" in made.peer_name


def test_what_every_run_makes_the_same_is_its_own_interval():
    made = rows.exact("size", 90.0, 100.0, "tool", "B")
    assert (made.ratio, made.low, made.high, made.verdict) == (0.9, 0.9, 0.9, MET)


def test_limit_of_many_samples_has_an_interval_and_of_one_has_none():
    many = rows.limited("help", "s", [0.1, 0.2, 0.3, 0.2, 0.2, 0.2], 0.25)
    assert (many.ours, many.ratio, many.low, many.high) == pytest.approx((0.2, 0.8, 0.4, 1.2))
    one = rows.limited("survey", "s", [50.0], 45.0)
    assert (one.peer_name, one.low, one.high, one.verdict) == ("limit", None, None, OPEN)


def test_best_is_the_peer_beside_which_ours_looks_worst():
    missing = rows.without_peer("z", "no", "s", "lower")
    best = rows.best_of("all", [row("x", 0.9, peer_name="slow"), row("y", 1.1, peer_name="fast"), missing])
    assert (best.name, best.peer_name, best.ratio) == ("all", "fast", 1.1)
    throughput = [row("x", 0.9, "higher", "fast"), row("y", 1.1, "higher", "slow")]
    assert rows.best_of("all", throughput).peer_name == "fast"
    assert rows.best_of("all", [missing]) is None


def test_new_rows_replace_old_ones_of_the_same_name_and_tool():
    old = [row("a", 0.5), row("b", 0.6, peer_name="tool (not installed)"), row(f"c, {BEST}", peer_name="one")]
    new = [row("b", 0.7), row(f"c, {BEST}", peer_name="two"), row("d", 0.8)]
    assert rows.merged(old, new) == [old[0], new[0], new[1], new[2]]


def test_rows_survive_their_file(tmp_path):
    made = [row("µ", 0.5), rows.without_peer("b", "tool (not installed)", "s", "lower")]
    rows.write(tmp_path / "results" / "latest.json", made)
    assert rows.read(tmp_path / "results" / "latest.json") == made


def test_cells_scale_units_and_leave_out_what_is_not_there():
    shown = table.cells(replace(row("rtt"), ours=1.85e-5, peer=2e-5, ratio=0.925, low=0.9, high=0.95))
    assert shown == ("rtt", "18.5 µs", "tool 20 µs", "0.925", "0.900–0.950", "≤ 1", "yes")
    missing = rows.without_peer("rtt", "tool (not installed)", "B/s", "higher")
    assert table.cells(missing) == ("rtt", "–", "tool (not installed)", "–", "–", "≥ 1", "–")


def test_the_table_fits_100_columns():
    console = Console(width=table.WIDTH, file=io.StringIO())
    name = "UDP 14 B round trip, 2 CPUs, best peer"
    wide = replace(row(name, peer_name="sockperf"), ours=1.85e-5, peer=2.05e-5, low=10.123, high=12.123)
    missing = rows.without_peer(name, "sockperf (5 of 6 blocks)", "B/s", "higher")
    table.terminal([wide, missing], console)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    assert "sockperf 20.5 µs" in lines[1]
    assert "10.123–12.123" in lines[1]
    assert "best peer" in " ".join(lines)
