"""What a run amounts to: every way in which one can go wrong, as a table."""

import pytest

from wulf.apps.command import reader
from wulf.apps.driver import Check, Figure, OutputReading
from wulf.apps.ran import FAILED, NO_FIGURE, OK, TIMEOUT, WALL, WRONG, judge

ANSWER = {
    "status": 0, "signal": None, "seconds": 2.5, "timed_out": False, "stdout": "rate: 3.5e1 x\n", "stderr": "",
    "files": {}, "counters": {"ctxt": 1}, "usage": {"user": 1.0}, "bytes": {"stdout": 14, "stderr": 0},
}  # fmt: skip


def read(figure=None, unit="Hz", better="higher", checks=()):
    return reader(figure, unit, better, checks)


def ran(how=None, **changed):
    return judge({**ANSWER, **changed}, *(how or read()))


def test_any_command_has_its_wall_time():
    found = ran()
    assert (found.verdict, found.reason, found.value) == (OK, "", 2.5)
    assert found.figures == (Figure(WALL, "s", 2.5, "lower"),)


def test_a_figure_of_its_own_comes_first_and_the_wall_time_is_kept():
    found = ran(read(r"rate: (\S+)"))
    assert [(figure.name, figure.unit, figure.value) for figure in found.figures] == [
        ("figure", "Hz", 35.0),
        (WALL, "s", 2.5),
    ]
    assert found.counters == {"ctxt": 1}


def test_of_several_the_last_counts_and_commas_are_no_harm():
    assert ran(read(r"rate: (\S+)"), stdout="rate: 1\nrate: 1,234.5\n").value == 1234.5


@pytest.mark.parametrize(
    ("how", "changed", "verdict", "words"),
    [
        (None, {"timed_out": True, "signal": "SIGTERM", "status": None, "seconds": 60.2}, TIMEOUT, "after 60.2 s"),
        (None, {"status": 3, "stderr": "a\nb\n---\nno such file\n"}, FAILED, "3; its last words: a / b / no such"),
        (None, {"status": None, "signal": "SIGSEGV", "stderr": ""}, FAILED, "killed by SIGSEGV; its last words: rate"),
        (read(checks=["PASSED"]), {}, WRONG, "wrong: output: 'PASSED' is not in"),
        (read(r"none (\d+)"), {}, NO_FIGURE, r"nothing that 'none (\\d+)' matches"),
        (read(r"rate(.*)"), {}, NO_FIGURE, "its output has ': 3.5e1 x' where"),
    ],
)  # fmt: skip
def test_a_run_that_went_wrong_has_no_figure_and_says_why(how, changed, verdict, words):
    found = ran(how, **changed)
    assert found.verdict == verdict
    assert words in found.reason
    assert found.value is None
    assert all(figure.value is None and figure.reason == found.reason for figure in found.figures)
    assert found.seconds is not None


def test_a_wrong_answer_is_not_fast_even_where_a_figure_is_there():
    def reading(_stdout, _files):
        return OutputReading(
            (Figure("gflops", "flop/s", 1e12, "higher"),), (Check("residual", False, "1e3, at most 16"),)
        )

    found = judge(ANSWER, reading, "gflops")
    assert (found.verdict, found.value) == (WRONG, None)
    assert "residual: 1e3, at most 16" in found.reason


def test_what_can_not_be_started():
    found = judge({"error": "/no/such: No such file or directory"}, *read())
    assert (found.verdict, found.value, found.seconds) == (FAILED, None, None)
    assert "can't be started: /no/such" in found.reason


def test_a_flood_is_a_note(wording):
    found = ran(flooded=True, bytes={"stdout": 100_000_000, "stderr": 0})
    assert found.verdict == OK
    (note,) = found.notes
    assert "100 MB" in note
    wording(note)


@pytest.mark.parametrize(
    ("figure", "checks", "words"),
    [("GFLOPS: [0-9]+", (), "has no group"), ("(", (), "no regular expression"), (None, ("[",), "--check '['")],
)
def test_what_can_not_be_a_pattern_is_said_before_anything_runs(figure, checks, words):
    with pytest.raises(Exception, match="--") as refused:
        reader(figure, "1", "higher", checks)
    assert words in str(refused.value)
