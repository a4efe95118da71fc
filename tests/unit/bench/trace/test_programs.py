"""What tracing costs public programs: how their time is read, and how it is told."""

from __future__ import annotations

import pytest
from bench.engine.errors import BenchError
from bench.engine.rows import compared, without_peer
from bench.trace.programs import table, watched


def test_the_last_line_of_the_stopwatch_counts() -> None:
    assert watched("results\nstopwatch 0.5\nmore\nstopwatch 1.25\n") == 1.25
    with pytest.raises(BenchError, match="did not say"):
        watched("stopwatch is no line of its own: 3")


def test_each_program_has_a_line_and_all_have_a_median() -> None:
    pairs = [(1.02, 1.0), (1.01, 1.0), (1.03, 1.0), (1.02, 1.0), (1.01, 1.0), (1.03, 1.0)]
    some = [compared("cg", "untraced", "s", "lower", pairs), without_peer("mg", "untraced (failed)", "s", "lower")]
    lines = table(some).splitlines()
    assert lines[2] == "| cg | 1 | 1.02 | +2.0% | +0.0% to +4.0% |"
    assert lines[3] == "| mg | – | – | – | – |"
    assert "1 programs, 2 ranks, in the median +2.00%" in lines[-1]
