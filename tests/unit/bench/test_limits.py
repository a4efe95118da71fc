from types import SimpleNamespace

from bench import limits
from bench.errors import BenchError


def test_a_figure_within_its_limit():
    said = []
    row = limits.judged(SimpleNamespace(say=said.append), "help", "s", 0.25, lambda: [0.125] * 15)
    assert (row.ratio, row.low, row.high, row.peer, row.verdict) == (0.5, 0.5, 0.5, 0.25, "met")
    assert said == ["help"]


def test_a_part_that_fails_is_a_row_that_says_so():
    trouble = "wulf survey ended with 3: no node answers"

    def fail():
        raise BenchError(trouble)

    said = []
    row = limits.judged(SimpleNamespace(say=said.append), "survey", "s", 45, fail)
    assert (row.ours, row.peer, row.peer_name, row.verdict) == (None, None, "limit (failed)", "–")
    assert said == ["survey", f"survey: {trouble}"]
