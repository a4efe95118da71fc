from types import SimpleNamespace

from bench.engine.errors import BenchError
from bench.overhead import limits


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


def test_a_share_has_a_lower_limit():
    few, most = (
        limits.judged(SimpleNamespace(say=lambda _: None), "share", "1", 0.7, lambda shares=shares: shares, "higher")
        for shares in ([0.6] * 6, [0.75] * 6)
    )
    assert (few.verdict, most.verdict) == ("missed", "met")


def test_what_was_measured_is_read_from_the_run(tmp_path):
    (tmp_path / "run.json").write_text('{"time": {"whole": 30.0, "measured": 21.5}}')
    assert limits.measured_seconds(tmp_path) == 21.5
