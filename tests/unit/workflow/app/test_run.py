"""Runs of an application as replicates: in memory, with every way to go wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.measure.fakes import Sink
from tests.wording import Wording, lacking
from wulf.apps.driver import Check, Figure
from wulf.apps.ran import FAILED, NO_FIGURE, OK, TIMEOUT, WRONG, Ran
from wulf.cluster.applications import Executable
from wulf.core.errors import UsageError
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import APP, Metric
from wulf.measure.engine.runner import Runner
from wulf.workflow.app.list import rows
from wulf.workflow.app.outputs import keep_output, text_of
from wulf.workflow.app.run import _key, _Session, answer_of, driver_request


def good(value: float) -> Ran:
    figures = (Figure("gflops", "flop/s", value, "higher"), Figure("wall", "s", 2.0, "lower"))
    return Ran(
        OK, "", figures, (Check("residual", True, "0.003, at most 16"),), {"n": 1000.0}, 2.0, {"n1": {"ctxt": 5}}
    )


def bad(verdict: str, reason: str) -> Ran:
    return Ran(verdict, reason, (Figure("gflops", "flop/s", None, "higher", reason),), seconds=1.0)


def run(*runs: Ran | Exception, count: int, attempts: int = 3) -> tuple[list, Sink, list[Ran]]:
    """The records of an application whose runs end like this, one after the other."""
    left: Iterator[Ran | Exception] = iter(runs)
    kept: list[Ran] = []

    def once() -> Ran:
        found = next(left)
        if isinstance(found, Exception):
            raise found
        return found

    cell = Cell(0, "n1", "n1", "", "hpl", {"n": 1000}, (Metric("gflops", "1"),), "app", program=APP,
                about={"ranks": 2}, attempts=attempts)  # fmt: skip
    sink = Sink()
    session = _Session("n1", "hpl", {_key(cell.params): once}, kept.append)
    Runner(Plan((cell,), 1, looks=(count,)), {}, {}, sink, others={APP: {"n1": session}}).run()
    session.close()
    return sink.records, sink, kept


def test_every_run_is_a_replicate_and_the_figure_has_its_interval_over_them() -> None:
    records, sink, kept = run(*(good(float(value)) for value in (98, 99, 100, 101, 102, 100.5)), count=6)
    main, wall = records
    assert (main.metric, main.unit, main.value, main.low, main.high) == ("gflops", "flop/s", 100.25, 98, 102)
    assert (main.probe, main.subject, main.replicates) == ("app", "n1", 6)
    assert main.params == {"pattern": "hpl", "n": 1000, "ranks": 2}
    assert (wall.metric, wall.value) == ("wall", 2.0)
    assert main.counters == {"n1": {"ctxt": 30}}
    assert main.info["checks"] == {"residual": "0.003, at most 16"}
    assert (len(sink.replicates), len(kept)) == (6, 6)


def test_fewer_runs_than_an_interval_needs_give_the_median_and_say_so(wording: Wording) -> None:
    (main, _), _, _ = run(good(1.0), good(3.0), good(2.0), count=3)
    assert (main.value, main.low, main.verdict) == (2.0, None, "noisy")
    assert lacking(main.reason, "3 replicates", "95% interval", "6 are needed") == []
    wording(main.reason)


def test_a_wrong_answer_once_makes_the_figure_one_that_nobody_may_use() -> None:
    records, sink, _ = run(
        *[good(100.0)] * 3, bad(WRONG, "its answer is wrong: residual 1e3"), *[good(100.0)] * 3, count=6
    )
    assert records[0].verdict == "failed"
    assert "1 of 7 runs gave a wrong answer" in records[0].reason
    assert [r["error"]["code"] for r in sink.replicates if not r["ok"]] == ["wrong"]


@pytest.mark.parametrize(
    ("verdict", "reason"), [(TIMEOUT, "it did not end"), (FAILED, "killed by SIGSEGV"), (NO_FIGURE, "no gflops")]
)
def test_a_run_that_went_wrong_now_and_then_costs_itself_alone(verdict: str, reason: str) -> None:
    records, sink, kept = run(good(100.0), bad(verdict, reason), *[good(100.0)] * 5, count=6)
    assert (records[0].verdict, records[0].value, records[0].replicates) == ("ok", 100, 6)
    (error,) = [r["error"] for r in sink.replicates if not r["ok"]]
    assert error["code"] == verdict
    assert reason in error["message"]
    assert len(kept) == 7


def test_one_that_always_goes_wrong_is_given_up() -> None:
    records, sink, _ = run(*[bad(FAILED, "status 3")] * 9, count=6, attempts=2)
    (main,) = records
    assert (main.value, main.verdict, len(sink.replicates)) == (None, "failed", 2)
    assert "2 of 2 attempts" in main.reason


def test_a_launch_that_is_refused_is_a_run_that_failed() -> None:
    records, _, kept = run(*[UsageError("the nodes have different MPIs")] * 3, count=6)
    assert "different MPIs" in records[0].reason
    assert kept == []


def test_figures_without_a_value_keep_their_reason() -> None:
    ran = Ran(
        OK, "", (Figure("wall", "s", 1.0, "lower"), Figure("rate", "Hz", None, "higher", "none told")), seconds=1.0
    )
    assert answer_of(ran)["metrics"]["rate"] == {"unit": "Hz", "better": "higher", "value": None, "reason": "none told"}


def test_what_a_run_wrote_is_kept_beside_its_records(tmp_path) -> None:
    ran = Ran(FAILED, "status 3", (), stdout="out\n", stderr="sorry\n", files={"log": "text\n"})
    assert keep_output(tmp_path, "n1", ran).name == "0001-n1.txt"
    assert keep_output(tmp_path, "n1", ran).name == "0002-n1.txt"
    end, out, err, log = text_of(ran).split("\n\n")
    assert end == "failed: status 3"
    assert (out, err) == ("==> standard output <==\nout", "==> standard error <==\nsorry")
    assert log == "==> log <==\ntext\n"


def test_a_drivers_request_has_all_parameters_and_the_users_time() -> None:
    from wulf.apps import driver_of
    from wulf.cluster.mpi import WorldSpec

    request = driver_request(driver_of("phyml"), {"taxa": 5}, WorldSpec(), timeout=5.0)
    assert request.params["taxa"] == 5
    assert request.params["sites"] == 600
    assert request.programs == ("phyml-mpi", "phyml")
    assert request.job("/usr/bin/phyml-mpi", 2).timeout == 5.0
    given = driver_request(driver_of("osu"), {"benchmark": "bw"}, WorldSpec(), program="/x/osu_bw", timeout=None)
    assert given.programs == ("/x/osu_bw",)


def test_the_list_has_nodes_alike_together_and_says_what_is_missing(wording: Wording) -> None:
    lmp = Executable("/usr/bin/lmp", "PATH", "openmpi")
    found = {"n1": {"lmp": [lmp], "gmx": []}, "n2": {"lmp": [lmp], "gmx": []}, "n3": {"lmp": [], "gmx": []}}
    first, second, third = rows({"lammps": ("lmp",), "gromacs": ("gmx",)}, found)
    assert (first.driver, first.nodes, first.program) == ("lammps", ("n1", "n2"), lmp)
    assert (second.nodes, second.program) == (("n3",), None)
    reason = third.to_json()["reason"]
    assert lacking(reason, "no gmx in the PATH", "module", "Spack") == []
    wording(reason)
