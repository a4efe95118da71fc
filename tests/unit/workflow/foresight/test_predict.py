"""A prediction against a replay that answers by a formula: every figure is known beforehand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.workflow.predict_fakes import LATENCIES, OWN, SECONDS, FakeReplay, make_trace, rank_file, this
from tests.wording import Wording, lacking
from wulf.core.errors import UsageError
from wulf.model.foresight.prediction import Prediction
from wulf.model.network.figures import Network, scaled
from wulf.model.network.file import shipped_network
from wulf.trace.record import UNTIMED, Record
from wulf.trace.writer import RankWriter
from wulf.workflow.foresight import engine as predict_engine
from wulf.workflow.foresight import replaying
from wulf.workflow.foresight.predict import predict, scaled_up
from wulf.workflow.foresight.replaying import TOGETHER, Replay, ReplayError
from wulf.workflow.foresight.scaling import check_counts, scaling_of
from wulf.workflow.foresight.scene import COARSE, Wanted
from wulf.workflow.foresight.traced import find_trace, middle_of, read_traced, source_of


def run(folder: Path, wanted: Wanted, fake: FakeReplay | None = None, base: Network | None = None) -> Prediction:
    traced = read_traced(make_trace(folder / "trace"))
    return predict(Replay(fake or FakeReplay()), traced, base or this(), wanted)


def test_the_baseline_stands_beside_what_was_measured(tmp_path: Path) -> None:
    found = run(tmp_path, Wanted([], origin="own.toml"))
    assert found.baseline.seconds == pytest.approx(SECONDS)
    assert found.calibration.measured == pytest.approx(SECONDS)
    assert found.calibration.error == pytest.approx(0, abs=1e-9)
    assert found.baseline.parts == pytest.approx(
        {"compute": 1.0, "latency": 0.2, "bytes": 0.01, "overhead": 0.05, "waiting": 0.0}
    )
    assert (found.traced.command, found.traced.mpi, found.baseline_from) == (
        "mpirun ./app",
        "Open MPI 4.1.4",
        "own.toml",
    )


def test_half_the_latency_saves_what_it_costs(tmp_path: Path) -> None:
    [one] = run(tmp_path, Wanted([scaled(this(), latency=0.5)])).candidates
    assert one.forecast.name == "this*latency=0.5"
    assert one.forecast.seconds == pytest.approx(SECONDS - 0.1)
    assert (one.gain.low, one.gain.value, one.gain.high) == pytest.approx([0.1 / SECONDS] * 3)
    assert one.verdict.word == "buy"  # 7.9 % against 5 %, without any doubt


def test_draws_of_a_candidate_become_its_interval(tmp_path: Path) -> None:
    [one] = run(tmp_path, Wanted([Network(shipped_network("10gbe"))], draws=99)).candidates
    assert one.forecast.draws.shape == (99,)
    assert one.forecast.interval.low < one.forecast.seconds < one.forecast.interval.high
    assert one.gain.low < one.gain.value < one.gain.high
    assert set(one.estimates) == {"send", "receive", "gap"}


def test_many_networks_share_a_pass(tmp_path: Path) -> None:
    fake = FakeReplay()
    two = [Network(shipped_network(name)) for name in ("10gbe", "ib-hdr")]
    run(tmp_path, Wanted(two, draws=39, engine="a"), fake)
    asked = [fields for op, fields in fake.asked if op == "replay"]
    assert [len(fields["networks"]) for fields in asked[:3]] == [3, TOGETHER, 3 * 39 - TOGETHER]
    assert [fields["parts"] for fields in asked[:3]] == [True, False, False]


def test_what_is_not_covered_makes_a_gain_unresolvable(tmp_path: Path) -> None:
    found = run(tmp_path, Wanted([scaled(this(), latency=0.5)]), FakeReplay(share=0.9))
    [one] = found.candidates
    assert one.verdict.word == "not resolvable"
    assert "10.0 % of the trace's time are not modelled" in one.verdict.why
    assert [left.what for left in found.program.left_out] == ["MPI_Put"]


def test_a_model_that_is_off_makes_a_gain_unresolvable(tmp_path: Path) -> None:
    found = run(tmp_path, Wanted([scaled(this(), latency=0.5)]), FakeReplay(factor=1.1))
    assert found.calibration.error == pytest.approx(0.1 / SECONDS)
    assert "misses the measured run by 7.9 %" in found.candidates[0].verdict.why


def test_run_times_are_the_measured_one_changed_by_what_the_replay_changes(tmp_path: Path) -> None:
    """The replay's computing is .1 s too long: 1.36 s of 1.26."""
    found = run(tmp_path, Wanted([scaled(this(), latency=0.5)]), FakeReplay(factor=1.1))
    [one] = found.candidates
    assert (found.baseline.seconds, found.baseline.replayed) == pytest.approx((SECONDS, SECONDS + 0.1))
    assert (one.forecast.seconds, one.forecast.replayed) == pytest.approx((SECONDS - 0.1, SECONDS))
    assert one.forecast.interval.low < SECONDS - 0.2 < SECONDS < one.forecast.interval.high
    assert found.changes[0].forecast.seconds == pytest.approx(SECONDS - 0.1)
    [latency, _] = found.curves
    assert latency.at(20e-6) == pytest.approx(SECONDS)
    [percent, _] = found.tolerances["this"]
    assert (percent.share, percent.latency) == (0.01, pytest.approx(0.01 * SECONDS / LATENCIES))


def test_the_middle_one_of_several_traces_is_replayed_and_all_say_how_much_runs_differ(tmp_path: Path) -> None:
    traced = read_traced(make_trace(tmp_path / "a"))
    runs = [replace(traced, seconds=each) for each in (1.5, 1.2, 1.3)]
    assert middle_of(runs).seconds == 1.3
    assert middle_of([replace(one, seconds=None) for one in runs]).runs == ()
    found = scaled_up(Replay(FakeReplay()), runs, this(), Wanted([]))
    assert found.calibration.runs == (1.2, 1.3, 1.5)
    assert not any("assumed" in note for note in found.notes)
    assert found.baseline.interval.high > 1.5


def test_of_one_run_it_is_said_that_others_differ(tmp_path: Path, wording: Wording) -> None:
    (note,) = (note for note in run(tmp_path, Wanted([])).notes if "assumed" in note)
    wording(note)


def test_other_computing_is_not_held_against_the_measured_time(tmp_path: Path, wording: Wording) -> None:
    found = run(tmp_path, Wanted([], compute=0.5))
    assert found.baseline.seconds == pytest.approx(SECONDS - 0.5)
    assert found.calibration.predicted == pytest.approx(SECONDS)
    (note,) = (note for note in found.notes if "computing" in note)
    assert " 0.5 times as long" in note
    wording(note)


def test_changes_bound_what_tuning_can_buy(tmp_path: Path) -> None:
    changes = {one.what: one for one in run(tmp_path, Wanted([])).changes}
    assert changes["half the latency"].forecast.seconds == pytest.approx(SECONDS - 0.1)
    assert changes["half the overhead of a message"].forecast.seconds == pytest.approx(SECONDS - 0.025)
    assert changes["twice the bandwidth"].forecast.seconds == pytest.approx(SECONDS - 0.005)
    assert changes["a network that takes no time"].forecast.seconds == pytest.approx(1.0)


def test_tolerances_curves_and_path_are_in_seconds(tmp_path: Path) -> None:
    found = run(tmp_path, Wanted([], timeline=True))
    one, five = found.tolerances["this"]
    assert one.latency == pytest.approx(0.01 * SECONDS / LATENCIES)
    assert (five.share, five.byte) == (0.05, None)
    latency, byte = found.curves
    assert latency.x == pytest.approx((0.0, 200e-6)) and latency.seconds == pytest.approx((1.06, 3.06))
    assert latency.slopes == (LATENCIES,)
    assert byte.x == pytest.approx((0.0, 1e-8)) and byte.seconds == pytest.approx((1.25, 1.35))
    assert [(step.rank, step.kind, step.seconds) for step in found.path.steps] == [
        (0, "compute", 1.0), (1, "latency", pytest.approx(0.2))
    ]  # fmt: skip
    assert found.path.whole and found.path.by("kind") == {("compute",): 1.0, ("latency",): pytest.approx(0.2)}
    coarse, fine = found.timelines
    assert (coarse.buckets, coarse.rows, coarse.shares["compute"][0][0]) == (COARSE, ((0, 3),), 0.5)
    assert fine.buckets > coarse.buckets


def test_prices_are_given_or_of_every_host(tmp_path: Path) -> None:
    networks = [Network(shipped_network("10gbe")), Network(shipped_network("ib-hdr")), scaled(this(), latency=0.5)]
    found = run(tmp_path, Wanted(networks, prices={"ib-hdr": 5000.0}, machine=20000.0))
    ten, hdr, changed = (one.offer for one in found.candidates)
    assert (ten.price, hdr.price, changed.price) == (4 * 588, 5000, None)
    assert "4 × $588, 2012" in ten.source
    assert found.candidates[1].required == pytest.approx(0.2)  # 5000 of 25000


@pytest.mark.parametrize("op", ["tolerance", "breakpoints", "path", "timeline"])
def test_a_question_beside_the_run_time_may_be_refused(tmp_path: Path, op: str) -> None:
    found = run(tmp_path, Wanted([], timeline=True), FakeReplay(refuse=(op, "bad-parameter", "needs engine B")))
    assert any("none; the replay refuses: needs engine B" in note for note in found.notes)
    assert found.baseline.seconds == pytest.approx(SECONDS)


def test_a_deadlock_is_told_with_a_next_step(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="rank 3 waits") as error:
        run(tmp_path, Wanted([]), FakeReplay(refuse=("replay", "deadlock", "rank 3 waits for rank 1")))
    assert "wulf trace show" in error.value.next_step


def test_an_unknown_option_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such algorithm"):
        run(tmp_path, Wanted([]), FakeReplay(refuse=("load", "bad-parameter", "no such algorithm")))


def test_what_engine_a_cannot_do_is_said_with_the_engine_that_can(tmp_path: Path) -> None:
    refuses = FakeReplay(refuse=("replay", "bad-parameter", "engine a can't match wildcard receives", "engine"))
    with pytest.raises(UsageError) as raised:
        run(tmp_path, Wanted([]), refuses)
    assert "--engine b" in raised.value.next_step


def test_messages_to_oneself_are_copied_and_what_that_costs_is_told(tmp_path: Path, wording: Wording) -> None:
    fake = FakeReplay(copies=1200)
    found = run(tmp_path, Wanted([]), fake)
    (load,) = [fields for op, fields in fake.asked if op == "load"]
    assert load["copy"] == {"send_ps": 200_000, "receive_ps": 200_000, "byte_fp": 125 << 20}
    (note,) = [note for note in found.notes if "themselves" in note]
    assert lacking(note, "1,200 messages", "8 GB/s", "--within") == []
    wording(note)


def test_what_was_measured_within_a_host_holds_for_messages_to_oneself(tmp_path: Path) -> None:
    fake, base = FakeReplay(copies=1200), this()
    known = replace(base, base=base.base.model_copy(update={"intra": base.base.inter}))
    found = run(tmp_path, Wanted([]), fake, known)
    (load,) = [fields for op, fields in fake.asked if op == "load"]
    assert load["copy"]["byte_fp"] == 1000 << 20
    assert not any("themselves" in note for note in found.notes)


def test_ranks_that_share_hosts_are_told_of(tmp_path: Path) -> None:
    folder = make_trace(tmp_path / "trace")
    for rank in range(4):
        (folder / f"rank-{rank:06}.wtr").write_bytes(rank_file(rank, 4, host=f"n{rank // 2}"))
    (folder / "trace.json").unlink()
    found = predict(Replay(FakeReplay()), read_traced(folder), this(), Wanted([]))
    assert found.traced.hosts == ("n0", "n0", "n1", "n1")
    assert any("[intra]" in note for note in found.notes)
    assert any("up to 2 ranks share a host" in note for note in found.notes)


def test_another_order_than_engine_a_takes_is_told_of_where_it_is_no_rarity(tmp_path: Path, wording: Wording) -> None:
    few, many = FakeReplay(), FakeReplay(inversions=2000)
    assert not any("another order" in note for note in run(tmp_path / "few", Wanted([], engine="a"), few).notes)
    noted = run(tmp_path / "many", Wanted([], engine="a"), many).notes
    (note,) = (note for note in noted if "another order" in note)
    assert note.startswith("2,000 of 10,000 messages")
    wording(note)
    assert not any("another order" in note for note in run(tmp_path / "b", Wanted([], engine="b"), many).notes)


def test_engine_b_is_taken_where_many_messages_come_in_another_order(tmp_path: Path, wording: Wording) -> None:
    assert run(tmp_path / "few", Wanted([]), FakeReplay()).engine == "a"
    fake = FakeReplay(inversions=2000)
    found = run(tmp_path / "many", Wanted([]), fake)
    assert found.engine == "b"
    (note,) = (note for note in found.notes if "another order" in note)
    assert lacking(note, "engine b", "2,000 of 10,000 messages") == []
    wording(note)
    assert [fields["engine"] for op, fields in fake.asked if op == "replay"][:2] == ["a", "b"]


def test_engine_b_is_taken_where_receives_are_matched_as_the_program_runs(tmp_path: Path) -> None:
    fake = FakeReplay(live=5)
    assert run(tmp_path, Wanted([]), fake).engine == "b"
    assert {fields["engine"] for op, fields in fake.asked if op == "replay"} == {"b"}, "a would refuse it"


def test_calls_that_took_another_time_than_they_are_replayed_in_are_told(tmp_path: Path) -> None:
    real = OWN | {"latency_ps": 12_000_000}
    found = run(tmp_path, Wanted([]), FakeReplay(real=real)).differences
    latency, *others = found.largest
    assert (latency.call, latency.up_to, latency.peer, latency.calls) == ("MPI_Allreduce", 8, "", 900)
    assert latency.difference == pytest.approx(LATENCIES * (OWN["latency_ps"] - 12_000_000) / 1e12)
    assert all(one.difference == 0 for one in others)
    assert latency.worst == (1, 7, pytest.approx(0.1), pytest.approx(0.001))
    assert found.replayed - found.traced == pytest.approx(latency.difference)
    slower = run(tmp_path / "slower", Wanted([], compute=2.0), FakeReplay(real=real))
    assert slower.differences.kinds == 0, "other computing than the trace's is held against nothing"


def test_what_connecting_took_in_the_trace_is_taken_on_every_network(tmp_path: Path, wording: Wording) -> None:
    fake = FakeReplay(first=40_000_000_000)
    found = run(tmp_path, Wanted([]), fake)
    # of four first calls two waited for it, so that it is twice as long as the calls' mean
    assert found.program.connect == pytest.approx(0.08)
    assert found.program.connecting == 2
    (note,) = [note for note in found.notes if "connecting two ranks" in note]
    assert lacking(note, "80 ms", "2 first messages") == []
    wording(note)
    short = run(tmp_path / "short", Wanted([]), FakeReplay(first=900_000_000))
    assert short.program.connect == 0, "ranks do not begin at the same moment"


def test_a_fit_takes_what_the_calls_tell_and_is_held_against_the_other_half(tmp_path: Path) -> None:
    real = OWN | {"latency_ps": 3 * OWN["latency_ps"]}
    wanted = Wanted([scaled(this(), latency=0.5)], fit=True, origin="own.toml")
    found = run(tmp_path, wanted, FakeReplay(real=real))
    assert found.fit is not None
    before, after = found.fit.parts["latency"]
    assert after is not None
    assert after.value == pytest.approx(3 * before, rel=0.02)
    assert after.low < 3 * before < after.high
    assert found.fit.parts["gap"][1] is None, "no call tells of it"
    assert abs(found.fit.error) < 0.01
    assert lacking(found.baseline_from, "fitted", "own.toml") == []
    parts = found.candidates[0].forecast.parts
    assert parts["latency"] == pytest.approx(found.baseline.parts["latency"] / 2), "a change of the fitted baseline"


def test_a_fit_needs_the_trace_as_it_was_and_engine_a(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="computing"):
        run(tmp_path, Wanted([], fit=True, compute=2.0), FakeReplay())
    with pytest.raises(UsageError, match="topology"):
        run(tmp_path / "star", Wanted([], fit=True, extra={"topology": {"kind": "star"}}), FakeReplay())


def test_a_prediction_goes_on_where_calls_can_not_be_held_against_the_trace(tmp_path: Path) -> None:
    refuses = FakeReplay(refuse=("calls", "bad-parameter", "the network 'this' has a topology", "engine"))
    found = run(tmp_path, Wanted([]), refuses)
    assert found.baseline.seconds == pytest.approx(SECONDS)
    assert found.program.connect == 0
    (note,) = (note for note in found.notes if "has a topology" in note)
    assert note.startswith("the time to connect, calls as traced and replayed: none; ")


@pytest.mark.parametrize("program", [{"live": 3}, {"graph": True}])
def test_messages_to_oneself_that_stay_messages_never_cost_the_wire(tmp_path: Path, program: dict[str, Any]) -> None:
    """Of a graph, and of ranks with wildcards: they cost what a network's do."""
    fake = FakeReplay(**program)
    run(tmp_path, Wanted([scaled(this(), latency=2.0)]), fake)
    networks = [network for op, fields in fake.asked if op == "replay" for network in fields["networks"]]
    assert len(networks) > 1
    assert {network["intra"]["latency_ps"] for network in networks} == {0}
    assert {network["intra"]["receive_byte_fp"] for network in networks} == {125 << 20}


def test_engine_b_is_taken_where_a_schedule_is_a_graph(tmp_path: Path) -> None:
    fake = FakeReplay(graph=True)
    assert run(tmp_path, Wanted([]), fake).engine == "b"
    assert {fields["engine"] for op, fields in fake.asked if op == "replay"} == {"b"}, "a has one order of it only"


def in_calls_alone() -> Network:
    return Network(this().base.model_copy(update={"progress": False}), alias="this")


@pytest.mark.parametrize(("held", "engine"), [(10**10, "a"), (10**11, "b")])
def test_engine_b_is_taken_where_large_messages_wait_for_calls(tmp_path: Path, held: int, engine: str) -> None:
    """They get on in calls of MPI alone, so that computing holds them up: by less than a hundredth, or by more."""
    found = run(tmp_path, Wanted([]), FakeReplay(held=held), in_calls_alone())
    assert found.engine == engine
    assert any("in calls of MPI alone" in note and "7%" in note for note in found.notes) == (engine == "b")


def as_over_tcp() -> Network:
    return Network(this().base.model_copy(update={"in_order": True}), alias="this")


@pytest.mark.parametrize(("turns", "engine"), [(10**10, "a"), (4 * 10**11, "b")])
def test_engine_b_is_taken_where_large_messages_take_turns(tmp_path: Path, turns: int, engine: str) -> None:
    found = run(tmp_path, Wanted([]), FakeReplay(turns=turns), as_over_tcp())
    assert found.engine == engine
    assert any("take turns" in note and "24%" in note for note in found.notes) == (engine == "b")


@pytest.mark.parametrize("measured", [SECONDS - 0.1, SECONDS + 0.1, SECONDS + 0.3, SECONDS + 0.9])
def test_how_often_messages_take_turns_is_as_the_traced_run_says(tmp_path: Path, measured: float) -> None:
    """With turns all of the time it is .4 s longer."""
    fake, traced = FakeReplay(turns=4 * 10**11), read_traced(make_trace(tmp_path / "trace", seconds=measured))
    found = predict(Replay(fake), traced, as_over_tcp(), Wanted([Network(shipped_network("ib-edr"))]))
    share = min(max((measured - SECONDS) / 0.4, 0.0), 1.0)
    assert found.calibration.predicted == pytest.approx(SECONDS + 0.4 * share)
    assert found.baseline.seconds == pytest.approx(measured)
    lacking = abs(measured - SECONDS - 0.4 * share)
    assert found.baseline.doubt == pytest.approx(lacking, abs=1e-9)
    assert found.baseline.chance == pytest.approx((0.4 * share, 0.4 * (1 - share)), abs=1e-9)
    [infiniband] = found.candidates
    assert infiniband.forecast.chance == (0.0, 0.0), "requests pass data there"


def test_with_other_computing_than_the_traces_turns_are_taken_half_of_the_time(tmp_path: Path) -> None:
    found = run(tmp_path, Wanted([], compute=0.5), FakeReplay(turns=4 * 10**11), as_over_tcp())
    assert found.calibration.predicted == pytest.approx(SECONDS + 0.2)


@pytest.mark.parametrize("progress", [True, False, None])
def test_where_messages_get_on_without_calls_nothing_is_left_to_chance(tmp_path: Path, progress: bool | None) -> None:
    base = this().base.model_copy(update={"in_order": True, "progress": progress})
    fake = FakeReplay()
    run(tmp_path, Wanted([], engine="b"), fake, Network(base, alias="this"))
    ways = {one.get("progress", True) for op, fields in fake.asked if op == "replay" for one in fields["networks"]}
    assert ways == ({True} if progress else {False, True})


def ways_of(fake: FakeReplay, name: str) -> set[tuple[bool, bool]]:
    """Whether large messages get on while ranks compute, and requests wait behind data, in all that was asked."""
    asked = [one for op, fields in fake.asked if op == "replay" for one in fields["networks"]]
    return {(one.get("progress", True), one.get("in_order", False)) for one in asked if one["name"] == name}


@pytest.mark.parametrize(
    ("changes", "ways"),
    [({"progress": True}, {(True, True)}), ({"progress": False}, {(False, True), (True, True)}),
     ({"in_order": False}, {(True, False)})],
)  # fmt: skip
def test_a_candidates_own_file_says_whether_chance_decides(
    tmp_path: Path, changes: dict[str, bool], ways: set[tuple[bool, bool]]
) -> None:
    fake = FakeReplay()
    other = Network(this().base.model_copy(update={"name": "other", **changes}))
    run(tmp_path, Wanted([other], engine="b"), fake, as_over_tcp())
    assert ways_of(fake, "other") == ways


def test_a_candidate_may_take_turns_where_the_baseline_does_not(tmp_path: Path) -> None:
    fake, tcp = FakeReplay(turns=4 * 10**11), this().base.model_copy(update={"name": "tcp", "in_order": True})
    found = run(tmp_path, Wanted([Network(tcp)]), fake)
    assert found.engine == "b" and any("take turns" in note and "on tcp" in note for note in found.notes)
    assert ways_of(fake, "tcp") >= {(False, True), (True, True)}
    [candidate] = found.candidates
    assert candidate.forecast.replayed == pytest.approx(SECONDS + 0.2), "half of the time: nothing tells how often"
    assert candidate.forecast.chance == pytest.approx((0.2, 0.2)) and found.baseline.chance == (0.0, 0.0)


@pytest.mark.parametrize(("key", "asked_of"), [("progress", [False, False, True]), ("in_order", [True, True, False])])
def test_how_large_messages_get_on_is_as_now_unless_a_network_says_else(
    tmp_path: Path, key: str, asked_of: list[bool]
) -> None:
    fake = FakeReplay()
    networks = [Network(shipped_network(name)) for name in ("25gbe", "ideal")]
    run(tmp_path, Wanted(networks, engine="b"), fake, in_calls_alone() if key == "progress" else as_over_tcp())
    asked = next(fields for op, fields in fake.asked if op == "replay")["networks"]
    assert [one.get(key, key == "progress") for one in asked] == asked_of


def test_a_large_program_stays_with_engine_a_and_says_what_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict_engine, "MOST_MESSAGES", 1000)
    found = run(tmp_path, Wanted([]), FakeReplay(inversions=2000))
    assert found.engine == "a"
    assert any("--engine b" in note for note in found.notes)


def test_on_a_topology_a_network_says_itself_whether_messages_share_an_adapter(tmp_path: Path) -> None:
    fake, star = FakeReplay(), {"kind": "star", "bytes_per_second": 1e9}
    networks = [Network(shipped_network(name)) for name in ("25gbe", "roce-25")]
    run(tmp_path, Wanted(networks, engine="b", extra={"topology": star}), fake)
    found = next(fields for op, fields in fake.asked if op == "replay")["networks"]
    assert [one.get("shared_nic", False) for one in found] == [False, True, False]
    assert all(one["topology"] == star for one in found)


def test_a_candidate_keeps_the_memory_of_the_baseline(tmp_path: Path) -> None:
    folder = make_trace(tmp_path / "trace")
    own = this()
    both = Network(own.base.model_copy(update={"intra": own.base.inter}), alias="this")
    traced = read_traced(folder).__class__(**{**read_traced(folder).__dict__, "hosts": ("a", "a", "b", "b")})
    fake = FakeReplay()
    predict(Replay(fake), traced, both, Wanted([Network(shipped_network("ib-hdr"))], engine="a"))
    _, hdr = next(fields for op, fields in fake.asked if op == "replay")["networks"]
    assert (hdr["hosts"], hdr["intra"]["latency_ps"], hdr["inter"]["latency_ps"]) == (2, 20_000_000, 600_000)


def test_a_trace_is_found_by_name_run_or_path(tmp_path: Path) -> None:
    folder = make_trace(tmp_path / "runs" / "r1" / "trace")
    (tmp_path / "runs" / "r1" / "run.json").write_text("{}")
    assert find_trace(str(folder)) == folder
    assert find_trace(str(folder.parent)) == folder
    assert find_trace("r1", tmp_path / "runs") == folder
    with pytest.raises(UsageError, match="holds no trace"):
        find_trace(str(tmp_path))


def test_a_cut_trace_has_no_measured_time(tmp_path: Path, wording: Wording) -> None:
    folder = make_trace(tmp_path / "trace")
    (folder / "rank-000002.wtr").write_bytes(rank_file(2, 4, ended=3))
    whole = (folder / "rank-000001.wtr").read_bytes()
    (folder / "rank-000001.wtr").write_bytes(whole[:-1])
    traced = read_traced(folder)
    assert traced.seconds is None
    (note,) = traced.notes
    assert lacking(note, "2 of 4 ranks have no end", "not known") == []
    wording(note)
    found = predict(Replay(FakeReplay()), traced, this(), Wanted([scaled(this(), latency=0.5)]))
    assert found.candidates[0].verdict.word == "not resolvable"


def test_an_imported_trace_without_times_has_no_measured_one(tmp_path: Path, wording: Wording) -> None:
    with RankWriter(tmp_path, {"rank": 0, "size": 1, "clock": UNTIMED}) as writer:
        writer.add_all([Record("Barrier", 1_000_000), Record("finalize")])
    traced = read_traced(tmp_path)
    assert traced.seconds is None
    (note,) = traced.notes
    assert lacking(note, "imported", "no times of calls", "not known") == []
    wording(note)


def test_an_import_of_one_schedule_is_loaded_as_that(tmp_path: Path) -> None:
    (tmp_path / "program.goal").write_text("")
    assert source_of(tmp_path) == (tmp_path / "program.goal", "goal")


def test_other_numbers_of_ranks_need_three_traces() -> None:
    check_counts([4, 8, 16], [32])
    check_counts([4], [])
    with pytest.raises(UsageError, match="says nothing of 32"):
        check_counts([4, 8, 8], [32])


def test_scaling_shows_its_held_out_error_and_refuses_what_is_far() -> None:
    seconds = {ranks: [2.0 + 80.0 / ranks] for ranks in (4, 8, 16, 32)}
    found = scaling_of("gbe", seconds, [64, 1000])
    assert found.study is not None and found.study.best is not None
    assert found.study.held_out[found.study.best].error < 1e-6
    assert found.at[64].value == pytest.approx(3.25, rel=1e-3)
    assert 1000 not in found.at and "1000 ranks are more than twice" in found.refused


def test_several_traces_are_one_prediction_with_its_scaling(tmp_path: Path) -> None:
    traces = [read_traced(make_trace(tmp_path / str(ranks), ranks)) for ranks in (2, 4, 8)]
    found = scaled_up(Replay(FakeReplay()), traces, this(), Wanted([scaled(this(), latency=0.5)], asked=(16,)))
    assert found.traced.ranks == 8
    assert [one.network for one in found.scaling] == ["this", "this*latency=0.5"]
    two = scaled_up(Replay(FakeReplay()), traces[:2], this(), Wanted([]))
    assert two.scaling == ()


def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    wanted = Wanted([Network(shipped_network("gbe"))], seed=5)
    first, again = run(tmp_path / "a", wanted), run(tmp_path / "b", wanted)
    assert np.array_equal(first.candidates[0].forecast.draws, again.candidates[0].forecast.draws)


def test_what_was_measured_ends_where_finalize_begins(tmp_path: Path) -> None:
    with RankWriter(tmp_path, {"rank": 0, "size": 1}) as writer:
        writer.add_all([Record("Barrier", 1_000_000, 500_000, comm=0), Record("finalize", 250_000, 80_000_000)])
    assert read_traced(tmp_path).seconds == pytest.approx(1.75e-3)


def test_requests_stay_small_where_every_ranks_host_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "MOST_HOSTS", 8)
    fake = FakeReplay()
    replay = Replay(fake)
    program = replay.load(Path("x"), "trace", {}, 1.0, {})
    network = {"inter": {"latency_ps": 0, "byte_fp": 0, "send_ps": 0, "receive_ps": 0}, "hosts": [0, 1, 0, 1]}
    assert len(replay.runs(program, [network] * 5, "a")) == 5
    assert [len(fields["networks"]) for op, fields in fake.asked if op == "replay"] == [2, 2, 1]
