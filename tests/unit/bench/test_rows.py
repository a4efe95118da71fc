import io
from dataclasses import replace

import pytest
from bench import rows, table
from bench.rows import BEST, Row
from rich.console import Console

PAIRS = [(1.0, 2.0), (1.1, 2.0), (1.2, 2.0), (1.3, 2.0), (1.4, 2.0), (1.5, 2.0)]


def row(name="a", ratio=1.0, better="lower", peer_name="tool"):
    return Row(
        name, ratio, 1.0, peer_name, "s", ratio, ratio, ratio, better, 1.0, rows.is_met(ratio, None, None, better)
    )


def test_the_ratio_is_the_median_of_the_blocks_ratios_with_its_interval():
    made = rows.compared("rtt", "tool", "s", "lower", PAIRS)
    assert (made.ratio, made.low, made.high) == pytest.approx((0.625, 0.5, 0.75))
    assert (made.ours, made.peer) == pytest.approx((1.25, 2.0))
    assert made.met


def test_a_ratio_is_taken_within_its_block():
    drifting = [(10.0**i, 10.0**i) for i in range(6)]
    made = rows.compared("rtt", "tool", "s", "lower", drifting)
    assert (made.ratio, made.low, made.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "better", "met"),
    [
        (1.02, 0.99, 1.05, "lower", True),
        (1.02, 1.01, 1.05, "lower", False),
        (0.97, 0.95, 1.01, "higher", True),
        (0.97, 0.95, 0.99, "higher", False),
        (1.0, None, None, "lower", True),
        (1.01, None, None, "lower", False),
    ],
)
def test_a_goal_is_met_within_the_interval(ratio, low, high, better, met):
    assert rows.is_met(ratio, low, high, better) is met


def test_too_few_blocks_are_no_comparison():
    made = rows.compared("rtt", "tool", "s", "lower", PAIRS[:5])
    assert (made.peer, made.ratio, made.met) == (None, None, False)
    assert made.peer_name == "tool (5 of 6 blocks)"


def test_limit_of_many_samples_has_an_interval_and_of_one_has_none():
    many = rows.limited("help", "s", [0.1, 0.2, 0.3, 0.2, 0.2, 0.2], 0.25)
    assert (many.ours, many.ratio, many.low, many.high) == pytest.approx((0.2, 0.8, 0.4, 1.2))
    one = rows.limited("survey", "s", [50.0], 45.0)
    assert (one.peer_name, one.low, one.high, one.met) == ("limit", None, None, False)


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


def test_two_words_for_one_fact_may_differ_by_a_twentieth():
    assert rows.is_met(1.04, None, None, "same") and rows.is_met(0.96, None, None, "same")
    assert not rows.is_met(1.06, None, None, "same") and not rows.is_met(0.94, None, None, "same")
    assert rows.is_met(1.08, 1.02, 1.11, "same"), "the interval holds 1.05"
    assert not rows.is_met(1.08, 1.06, 1.11, "same")
