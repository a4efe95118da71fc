"""Peers end with their children, however they end."""

import pytest
from bench.engine.errors import BenchError
from bench.engine.programs import output

from tests.processes import gone, text_when_there

LEFT = "sleep 600 >/dev/null 2>&1 & echo $!"


def test_what_a_program_started_and_left_does_not_go_on():
    assert gone(int(output(["sh", "-c", LEFT], 10)), 10)


def test_nor_where_it_takes_too_long(tmp_path):
    pids = tmp_path / "pids"
    with pytest.raises(BenchError, match=r"did not end within 0\.5 s"):
        output(["sh", "-c", f"({LEFT}) > {pids}; sleep 600"], 0.5)
    assert gone(int(text_when_there(pids)), 10)


def test_a_failure_has_the_end_of_what_was_printed(tmp_path):
    assert output(["sh", "-c", "echo out; echo err >&2; pwd"], 10, tmp_path) == f"out\nerr\n{tmp_path}\n"
    with pytest.raises(BenchError, match="ended with 3: why"):
        output(["sh", "-c", "echo why; exit 3"], 10)
