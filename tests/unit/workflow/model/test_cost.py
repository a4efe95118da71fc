"""What a cost takes from runs, and candidates from a file: each wrong field is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.report.make_node import node_run
from tests.unit.report.make_run import make_run, record
from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.store.run import Run
from wulf.workflow.model.cost import market, measured_peak, nodes_of, peaks_of, rate_of, watts_of

RANDOM = np.random.default_rng(1)


def app(metric: str, unit: str, value: float | None, subject: str = "n[1-2]", **more: object) -> Record:
    return record(subject, metric, value, unit=unit, probe="app", **more)


def a_run(*records: Record) -> Run:
    run = make_run()
    run.records = list(records)
    return run


def test_the_fastest_cell_is_the_rate() -> None:
    cells = [app("rate", "flop/s", value, params={"n": n}, replicates=6) for n, value in ((1000, 9e9), (2000, 14e9))]
    found = rate_of(a_run(*cells), RANDOM)
    assert found.figure.value == 14e9
    assert "fastest of 2 cells" in found.source
    assert "6 runs" in found.source


def test_peaks_are_those_of_the_shares_and_other_probes_are_no_rate() -> None:
    loop = {"unit": "flop/s", "probe": "node", "params": {"pattern": "fma"}}
    run = a_run(
        app("rate", "flop/s", 14e9),
        app("share.base", "1", 0.5, info={"peak": 28e9, "how": "4 cores"}),
        app("share.turbo", "1", None, info={"peak": None}, reason="no clock", verdict=Verdict.UNRESOLVED),
        app("share.measured", "1", 0.7, info={"peak": 20e9, "how": "loop"}),
        *(record(node, "rate", 10e9, low=9e9, high=11e9, **loop) for node in ("n1", "n2")),
    )
    assert rate_of(run, RANDOM).figure.value == 14e9
    found = peaks_of(run, RANDOM)
    assert {name: one.figure.value for name, one in found.items()} == {"base peak": 28e9, "measured peak": 20e9}
    assert found["base peak"].source == "4 cores"
    assert found["measured peak"].figure.interval().low < 20e9
    assert nodes_of(run) == ["n1", "n2"]


def test_the_solver_of_our_own_is_an_application() -> None:
    ours = record("n1>n2", "rate", 3e9, unit="flop/s", probe="mpi", params={"pattern": "linpack"})
    assert rate_of(a_run(ours), RANDOM).figure.value == 3e9
    assert nodes_of(a_run(ours)) == ["n1", "n2"]


def test_hpl_is_what_hpcc_is_known_by() -> None:
    run = a_run(app("hpl.rate", "flop/s", 14e9), app("dgemm.rate", "flop/s", 20e9))
    assert rate_of(run, RANDOM).figure.value == 14e9


def test_of_a_search_the_winners_fresh_runs_count() -> None:
    def trial(stage: str, nb: int, value: float) -> Record:
        return app("hpl rate", "flop/s", value, params={"stage": stage, "size": 1000, "outcome": "ok", "nb": nb})

    lucky = trial("full size", 192, 99e9)
    fresh = [trial("confirmation", nb, rate) for nb, rate in ((192, 14e9), (64, 12e9), (192, 15e9), (64, 13e9))]
    found = rate_of(a_run(lucky, *fresh), RANDOM)
    assert found.figure.value == pytest.approx(14.5e9)
    assert "mean of 2 fresh runs" in found.source
    with pytest.raises(UsageError, match="confirmed nothing"):
        rate_of(a_run(lucky, fresh[0]), RANDOM)


def test_which_rate_must_be_clear() -> None:
    run = a_run(app("hpl", "flop/s", 14e9), app("dgemm", "flop/s", 20e9))  # of two applications
    with pytest.raises(UsageError, match="several rates: dgemm, hpl"):
        rate_of(run, RANDOM)
    assert rate_of(run, RANDOM, "hpl").figure.value == 14e9
    with pytest.raises(UsageError, match="no rate ptrans"):
        rate_of(run, RANDOM, "ptrans")
    with pytest.raises(UsageError, match="no application's rate"):
        rate_of(a_run(), RANDOM)


def test_a_wrong_answer_has_no_cost() -> None:
    wrong = app("hpl", "flop/s", None, verdict=Verdict.FAILED, reason="residual 120, at most 16")
    with pytest.raises(UsageError, match="residual 120"):
        rate_of(a_run(wrong), RANDOM)


def test_meters_of_all_nodes_are_added_up() -> None:
    run = a_run(
        app("power", "W", 100.0, "n1"), app("power", "W", 120.0, "n2"),
        app("rate", "flop/s", 14e9),
    )  # fmt: skip
    found = watts_of(run, RANDOM)
    assert found is not None
    assert found.figure.value == 220.0
    assert found.source.endswith("power, 2 nodes")
    assert watts_of(a_run(app("rate", "flop/s", 14e9)), RANDOM) is None


def test_measured_peaks_are_added_up() -> None:
    run = node_run(("n1", "n2"))
    one = measured_peak(run, ["n1"], RANDOM).figure.value
    assert measured_peak(run, [], RANDOM).figure.value == pytest.approx(2 * one, rel=0.1)
    with pytest.raises(UsageError, match="no measured peak of n99"):
        measured_peak(run, ["n99"], RANDOM)


GOOD = (
    '[[candidate]]\nname = "old"\nprice = 1000\ngflops = 10\n[[candidate]]\nname = "new"\nprice = 2000\ngflops = 40\n'
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "nodes.toml"
    path.write_text(text)
    return path


def no_run(name: str) -> Run:
    raise AssertionError(name)


def test_candidates_of_a_file(tmp_path: Path) -> None:
    found = market(write(tmp_path, GOOD), no_run, RANDOM)
    assert [one.name for one in found.candidates] == ["old", "new"]
    assert [one.relative.value for one in found.candidates] == [1.0, 0.25]
    assert found.measured == ()


def test_measured_candidates_and_shares_of_time(tmp_path: Path) -> None:
    run = node_run()
    rows = "".join(
        f'[[candidate]]\nname = "{name}"\nprice = {price}\nrun = "x"\nnode = "n1"\n'
        for name, price in (("a", 100), ("b", 200))
    )
    share = '[share]\n"mem.triad.all" = 0.25\n"cpu.double.mul" = 0.75\n'
    found = market(write(tmp_path, rows + share), lambda _: run, RANDOM)
    assert [one.relative.value for one in found.candidates] == [pytest.approx(1.0), pytest.approx(1.0)]
    assert [one.price for one in found.measured] == [100.0, 200.0]
    assert "shares" in found.basis


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = [", "it is no TOML"),
        ("", "fewer than two"),
        (GOOD.replace('name = "old"\n', ""), "candidate 1 has no name"),
        (GOOD.replace("price = 1000", "price = 0"), r"candidate 1 \(old\): price is 0"),
        (GOOD.replace("price = 1000\n", ""), r"candidate 1 \(old\) has no price"),
        (GOOD.replace("gflops = 40", "gflop = 40"), r"candidate 2 \(new\): gflop is not known"),
        (GOOD.replace("gflops = 40", 'gflops = 40\nrun = "x"'), "needs one of gflops, run, seconds"),
        (GOOD.replace('"new"', '"old"'), "two candidates are called old"),
        (GOOD + '[share]\n"mem.triad" = 0.5\n', "add up to 0.5"),
        (GOOD + '[share]\n"mem.triad" = 1\n', "old has no run"),
        (GOOD + '[share]\n"mem.triad" = "x"\n', "a number from 0 to 1"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        market(write(tmp_path, text), no_run, RANDOM)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't read"):
        market(tmp_path / "none.toml", no_run, RANDOM)
