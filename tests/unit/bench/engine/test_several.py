"""Runs that have a figure for several contests."""

from bench.engine.several import Runs


def test_a_run_is_made_when_its_figures_are_used_up():
    made = []

    def make():
        made.append(len(made))
        return {"a": 10.0 + len(made), "b": 20.0 + len(made)}

    runs = Runs(make)
    assert [runs.figure("a"), runs.figure("b"), runs.figure("b")] == [11.0, 21.0, 22.0]
    assert len(made) == 2
    assert runs.figure("a") == 12.0
    assert len(made) == 2
