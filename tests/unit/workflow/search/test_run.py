"""`wulf search` with program and nodes in memory: whatever the program does, it goes on; killed, it resumes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.unit.workflow.search.standins import Apps, answer, xhpl, xhpl_at
from wulf.apps.linpack import dat as hpl_dat
from wulf.cluster.applications import Executable
from wulf.cluster.mpi import WorldSpec
from wulf.core.errors import UsageError
from wulf.report.search.found import headline, search_view
from wulf.report.search.outcome import OUTCOME
from wulf.search.own import own_of
from wulf.search.trial import Outcome, Trial
from wulf.store.run import read_run
from wulf.workflow.search.hpl import HplAsked, hpl_task, size_within, sizes_of
from wulf.workflow.search.own import Effort, own_task
from wulf.workflow.search.preflight import _slowest, choose_blas
from wulf.workflow.search.run import cost_of

OWN = {
    "command": "/opt/solve {block} {threads} {n}",
    "figure": "TIME: ([0-9.e-]+)",
    "better": "lower",
    "check": ["PASSED"],
    "timeout": 60,
    "sizes": {"name": "n", "values": [250, 500, 1000], "power": 3},
    "parameters": {
        "block": {"from": 16, "to": 512, "times": 2, "default": 512},
        "threads": {"values": [1, 2, 4], "default": 1},
    },
}
EFFORT = Effort(3, rungs=(12, 6, 3), repeats=0)


def solve(job):
    """A program that is fastest at block 128 with two threads, and misbehaves in every way elsewhere."""
    block, threads, n = (int(word) for word in job.command[1:])
    seconds = 1e-9 * n**3 * (1 + abs(block - 128) / 256) * (1.5 if threads == 1 else 1.0 if threads == 2 else 1.1)
    if seconds > job.timeout:
        return answer(job.timeout, timed_out=True, status=None)
    match (block, threads):
        case (512, 4):
            return answer(status=3, stderr="out of memory")
        case (64, 2):
            return answer(seconds, f"TIME: {seconds}\nFAILED\n")
        case (32, 4):
            return answer(seconds, "PASSED\n")
        case (16, 4):
            return answer(60.0, timed_out=True, status=None)
        case (256, 4):
            return answer(status=None, signal="SIGSEGV")
    return answer(seconds, f"TIME: {seconds}\nPASSED\n")


def test_a_program_that_misbehaves_in_every_way_is_searched_all_the_same(searched, tmp_path):
    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec()), Apps(solve))
    assert done.exit_code == 0
    assert done.result["winner"] == {"block": 128, "threads": 2}
    assert done.result["confirmation"]["judgement"] == "faster"
    told = {one["configuration"]: one["verdict"] for one in done.result["failed"]}
    assert set(told.values()) <= {"failed", "wrong", "no-figure", "timeout"}
    assert told
    run = read_run(tmp_path / "run")
    assert run.meta["state"] == "complete"
    assert len(run.records) == done.result["cost"]["runs"]
    assert all(record.value is None for record in run.records if record.params["outcome"] != "ok")
    assert OUTCOME.read(tmp_path / "run") == done.result
    assert (tmp_path / "run" / "report.html").read_text() == OUTCOME.render(done.result)


def test_killed_it_goes_on_and_ends_as_if_it_had_not_been(searched, tmp_path):
    prepare = own_task(own_of(OWN, {}), EFFORT, WorldSpec())
    count = iter(range(1000))

    def mortal(job):
        if next(count) == 17:
            raise KeyboardInterrupt
        return solve(job)

    with pytest.raises(KeyboardInterrupt):
        searched(prepare, Apps(mortal))
    assert read_run(tmp_path / "run").meta["state"] == "interrupted"
    done = searched(prepare, Apps(solve), resume=True)
    (tmp_path / "run").rename(tmp_path / "first")
    straight = searched(prepare, Apps(solve))
    assert done.result == straight.result


def test_where_nothing_runs_there_is_no_winner_and_the_exit_code_says_so(searched):
    done = searched(
        own_task(own_of(OWN, {}), EFFORT, WorldSpec()), Apps(lambda _: answer(status=1, stderr="no licence"))
    )
    assert done.exit_code == 3
    assert done.result["winner"] is None
    assert "nothing is recommended" in headline(done.result)
    assert "no licence" in done.result["failed"][0]["reason"]
    search_view(done.result)
    OUTCOME.render(done.result)


def test_report_fits_a_terminal_and_names_what_did_not_matter(searched):
    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec()), Apps(solve))
    view = search_view(json.loads(json.dumps(done.result)))
    assert "on default, on fresh runs" in view.headline
    headings = [section.heading for section in view.sections]
    assert headings[:3] == ["Best configuration", "Fastest at the full size", "Path to it, at size 500"]
    assert "block=128 threads=2" in view.sections[0].lines[0]
    assert "default" in OUTCOME.render(done.result)


class FakeKnobs:
    """Settings of nodes that are a dictionary."""

    def __init__(self, *, undone=True):
        self.state, self.undone, self.closed, self.impossible = {}, undone, False, ()

    def visit(self, trial, run):
        self.state = {"block": trial.config[0]}
        if trial.config == (256, 2):
            return Outcome("failed", None, 0.0, reason="net.x = 3 can't be set")
        outcome = run()
        self.state = {}
        return outcome

    def about(self):
        return {"varied": [], "refused": [], "leftovers": [], "same": self.undone, "differ": [], "notes": ["of nodes"]}


@pytest.mark.parametrize("undone", [True, False])
def test_every_run_is_within_its_settings_and_what_is_not_undone_is_said(searched, tmp_path, undone):
    knobs, opened = FakeKnobs(undone=undone), []

    @contextmanager
    def around(_, plan, resumed):
        opened.append((plan.space.knobs[0].name, resumed))
        yield knobs
        knobs.closed = True

    def program(job):
        assert knobs.state == {"block": int(job.command[1])}
        return solve(job)

    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec()), Apps(program), around=around)
    assert (opened, knobs.closed) == ([("block", False)], True)
    assert done.exit_code == (0 if undone else 1)
    assert done.result["settings"]["same"] is undone
    assert "of nodes" in done.result["notes"]
    assert len(read_run(tmp_path / "run").records) == done.result["cost"]["runs"]
    refused = [one for one in done.result["failed"] if "can't be set" in one["reason"]]
    assert all("block=256" in one["configuration"] for one in refused)
    assert ("Settings of nodes" in [one.heading for one in search_view(done.result).sections]) == (not undone)


def test_what_no_node_can_have_is_never_tried_nor_after_a_kill(searched, tmp_path):
    knobs, blocks = FakeKnobs(), set()
    knobs.impossible = [("block", 256), ("block", 64)]

    @contextmanager
    def around(_, plan, resumed):
        yield knobs

    def program(job):
        blocks.add(int(job.command[1]))
        if len(blocks) == 3 and not resumed:
            raise KeyboardInterrupt
        return solve(job)

    task, resumed = own_task(own_of(OWN, {}), EFFORT, WorldSpec()), False
    with pytest.raises(KeyboardInterrupt):
        searched(task, Apps(program), around=around)
    resumed = True
    done = searched(task, Apps(program), resume=True, around=around)
    assert not blocks & {64, 256}
    assert done.result["winner"] == {"block": 128, "threads": 2}
    assert not [one for one in done.result["failed"] if "block=256" in one["configuration"]]


def test_cost_is_time_or_the_time_that_work_takes():
    assert cost_of(2.0, 1000, 3, "lower") == 2.0
    assert cost_of(2.0, 1000, 3, "higher") == 5e8


def test_hpl_search_writes_the_best_hpl_dat(searched, tmp_path):
    asked = HplAsked(WorldSpec(ranks=4, per_node=2), replace(EFFORT, rungs=(27, 9, 5)), n=4000)
    apps = Apps(xhpl, ("n1", "n2"))
    done = searched(hpl_task(asked), apps)
    nb = done.result["winner"]["nb"]
    assert 64 <= nb <= 192  # of 4 to 512; within 5 % of the best
    assert done.result["winner"]["p"] == 1
    assert set(done.result["baselines"]) == {"netlib's HPL.dat", "ramble formula"}
    written = hpl_dat.parse((tmp_path / "run" / "HPL.dat").read_text())
    assert written.ns == (4000,)
    assert written.nbs == (nb,)
    assert written.grids == ((1, 4),)
    for job, spec in apps.jobs:
        dat = hpl_dat.parse(job.files["HPL.dat"])
        dat.check(spec.ranks)
        assert spec.ranks == 4


def test_hpl_that_does_not_fit_the_memory_is_refused(searched):
    asked = HplAsked(WorldSpec(ranks=2, per_node=2), EFFORT, n=40000)
    with pytest.raises(UsageError, match="memory"):
        searched(hpl_task(asked), Apps(xhpl))


def test_hpl_takes_threads_for_ranks_and_variables(searched):
    asked = HplAsked(
        WorldSpec(ranks=4, per_node=4), EFFORT, n=4000, threads=(1, 2), environment={"OMPI_MCA_x": ("1", "2")}
    )
    apps = Apps(xhpl)
    done = searched(hpl_task(asked), apps)
    assert {spec.ranks for _, spec in apps.jobs} == {2, 4}
    assert {job.environment["OMPI_MCA_x"] for job, _ in apps.jobs} == {"1", "2"}
    assert {job.environment["OMP_NUM_THREADS"] for job, spec in apps.jobs if spec.ranks == 2} == {"2"}
    assert done.result["winner"]["threads"] in (1, 2)
    with pytest.raises(UsageError, match="--threads 3"):
        hpl_task(replace(asked, threads=(3,)))(apps, {}, None)


def test_hpl_varies_settings_of_the_nodes_and_finds_the_one_that_helps(searched):
    states = []

    class Held(FakeKnobs):
        def visit(self, trial, run):
            self.state = plan_seen[0].space.named(trial.config)
            return run()

    knobs, plan_seen = Held(), []

    @contextmanager
    def around(_, plan, __):
        plan_seen.append(plan)
        yield knobs

    def program(job):
        states.append(knobs.state["net.x"])
        return xhpl(job) if knobs.state["net.x"] == 50 else xhpl_at(job, 0.8)

    asked = HplAsked(WorldSpec(ranks=2, per_node=2), EFFORT, n=4000, settings={"net.x": (0, 50)})
    done = searched(hpl_task(asked), Apps(program), around=around)
    assert set(states) == {0, 50}
    assert done.result["winner"]["net.x"] == 50
    knob = next(one for one in plan_seen[0].space.knobs if one.name == "net.x")
    assert (knob.default, knob.setting) == (0, "net.x")
    assert plan_seen[0].space.settings == {"net.x": (0, 50)}
    assert all(config[plan_seen[0].space.knobs.index(knob)] == 0 for config in plan_seen[0].baselines.values())


def test_a_budget_without_n_makes_n_by_a_pilot(searched):
    asked = HplAsked(WorldSpec(ranks=2, per_node=2), replace(EFFORT, budget=60.0))
    done = searched(hpl_task(asked), Apps(xhpl, memory=1 << 36))
    n = done.result["sizes"][-1]
    assert n == pytest.approx(size_within(60.0, 5e10, 30.0), rel=0.2)
    assert done.result["cost"]["seconds"] < 90


def test_sizes_too_small_to_tell_are_left_out():
    assert sizes_of(4000) == (1000.0, 2000.0, 4000.0)
    assert sizes_of(1000) == (496.0, 1000.0)
    assert sizes_of(500) == (500.0,)


def test_a_trial_that_the_nodes_refuse_is_an_outcome(searched):
    def refusing(job):
        if job.command[1] == "512" and job.command[2] == "2":
            raise UsageError("too many threads for this node")
        return solve(job)

    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec()), Apps(refusing))
    assert done.result["winner"] == {"block": 128, "threads": 2}
    assert Trial(0, "", (1,), 1.0).limit is None


RATES = {"/b/fast": 4e10, "/b/even": 3.99e10, "/b/slow": 1e10, "/b/wheel": 9e10}


class BlasApps(Apps):
    """Nodes with four BLAS libraries, of which one crashes and one is a wheel's; the second node is a bit slower."""

    def __init__(self, program):
        super().__init__(program, ("n1", "n2"))
        self.products = []

    def ask(self, op, _patience, **fields):
        if op == "facts":
            return super().ask(op, _patience)
        if op == "blas_find":
            libraries = [{"path": path, "label": path, "choose": {}} for path in [*RATES, "/b/broken"]]
            return {node: {"libraries": libraries, "also": fields["also"]} for node in self.nodes}
        assert (op, fields["probe"]) == ("run", "dgemm")
        self.products.append(fields["params"])
        return {
            node: self._product(fields["params"], slower) for node, slower in zip(self.nodes, (1, 0.9), strict=True)
        }

    def _product(self, params, slower):
        path = params["library"]
        if path not in RATES:
            ended = {"value": None, "reason": "ended by SIGILL"}
            return {"info": {"libraries": [{"path": path, "rate": ended, "seconds": 0.0}]}}
        noise = 1 + 0.002 * ((len(self.products) * 7919) % 13 - 6)
        rate = RATES[path] * slower * noise * min(1, params["k"] / 128)
        seconds = 10 * 2.0 * params["m"] * params["n"] * params["k"] / rate
        found = {"path": path, "name": "B", "version": "1", "plain": path != "/b/wheel", "seconds": seconds}
        return {"info": {"libraries": [{**found, "rate": {"value": 9e99, "n": 10}}]}}  # not the median of few

    def find(self, names, _nodes=None):
        found = Executable("/usr/bin/xhpl", "PATH", "openmpi", blas="/b/even")
        return {node: {name: [found] for name in names} for node in self.nodes}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ([], "no node called it"),
        ([{"value": 9e9}], "a node counted no product"),
        ([{"value": 9e9, "n": 10}, {"value": 9e9, "n": 0}], "a node counted no product"),
        ([{"value": None}], "None"),
    ],
)
def test_what_no_node_says_of_its_products_is_no_rate(told, why):
    found = _slowest([{"path": "/b/even", "rate": rate, "seconds": 0.1} for rate in told], 1e9)
    assert (found.value, found.reason) == (None, why)


def test_preflight_leaves_out_what_is_proven_slower_and_the_rest_is_a_knob(searched, tmp_path):
    asked = HplAsked(WorldSpec(ranks=4, per_node=2), EFFORT, n=4000)
    apps = BlasApps(xhpl)
    done = searched(hpl_task(asked), apps)
    found = done.result["preflight"]
    assert {one["path"] for one in found["libraries"] if one["kept"]} == {"/b/fast", "/b/even"}
    slow = next(one for one in found["libraries"] if one["path"] == "/b/slow")
    assert slow["against"]["judgement"] == "slower"
    assert slow["against"]["high"] < 0.3
    assert {one["path"]: one["reason"][:10] for one in found["unusable"]} == {
        "/b/broken": "ended by S", "/b/wheel": "it is a Py",
    }  # fmt: skip
    assert found["libraries"][0]["rate"]["value"] == pytest.approx(0.9 * 4e10, rel=0.03)  # the slower node's
    assert {job.environment["LD_PRELOAD"] for job, _ in apps.jobs} == {"/b/fast", "/b/even"}
    journal = json.loads((tmp_path / "run/journal.jsonl").read_text().splitlines()[0])
    knobs = {knob["name"]: knob for knob in journal["plan"]["knobs"]}
    assert knobs["blas"] == {"name": "blas", "values": ["/b/even", "/b/fast"], "default": "/b/even", "setting": ""}
    assert knobs["nb"]["default"] == found["best_nb"] >= 128
    assert journal["about"]["preflight"] == found
    view = search_view(done.result)
    assert any(section.heading.startswith("BLAS libraries") for section in view.sections)
    assert "left out" in OUTCOME.render(done.result)


def test_preflight_is_not_measured_again_when_a_search_goes_on(searched):
    asked = HplAsked(WorldSpec(ranks=4, per_node=2), EFFORT, n=4000)

    def killed(_job):
        raise KeyboardInterrupt

    first = BlasApps(killed)
    with pytest.raises(KeyboardInterrupt):
        searched(hpl_task(asked), first)
    assert first.products
    second = BlasApps(xhpl)
    done = searched(hpl_task(asked), second, resume=True)
    assert not second.products
    assert done.result["preflight"]["products"] == len(first.products)


def test_own_blas_is_not_measured_and_a_named_one_must_be_there(searched):
    asked = HplAsked(WorldSpec(ranks=4, per_node=2), EFFORT, n=4000, blas=("own",))
    apps = BlasApps(xhpl)
    assert "preflight" not in searched(hpl_task(asked), apps).result
    assert not apps.products
    with pytest.raises(UsageError, match="/b/none"):
        choose_blas(NoBlas(xhpl), ("/b/none",), Executable("/x", "PATH", None), (64, 128), seed=1, budget=None)


class NoBlas(BlasApps):
    """Nothing that is named is there."""

    def ask(self, op, _patience, **fields):
        return super().ask(op, _patience, **{**fields, "also": []})
