"""`wulf predict` over the real wulf-replay: answers have the shapes that are read; a ping-pong has its closed form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.workflow.predict_fakes import this
from wulf.model.network.figures import Network, scaled
from wulf.model.network.file import shipped_network
from wulf.report.foresight.object import predict_object
from wulf.report.foresight.page import predict_page
from wulf.report.kit.page import render_view
from wulf.trace.record import Completion, Record
from wulf.trace.writer import RankWriter
from wulf.workflow.foresight.predict import predict
from wulf.workflow.foresight.replaying import Replay, ReplayError
from wulf.workflow.foresight.scene import Wanted
from wulf.workflow.foresight.traced import read_traced

ROUNDS, COMPUTE_NS, BYTES = 50, 1_000_000, 1001
"""Of the ping-pong: round trips, computing of rank 0 before each, and the size of each message."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A ping-pong; what the calls took when it was traced says nothing of other networks."""
    for rank in (0, 1):
        with RankWriter(tmp_path, {"rank": rank, "size": 2, "host": f"n{rank}"}) as writer:
            message = {"peer": 1 - rank, "tag": 7, "comm": 0, "bytes": BYTES}
            calls = ("Send", "Recv") if rank == 0 else ("Recv", "Send")
            for _ in range(ROUNDS):
                writer.add(Record(calls[0], COMPUTE_NS if rank == 0 else 0, 60_000, **message))
                writer.add(Record(calls[1], 0, 60_000, **message))
            writer.add(Record("finalize", 0, 1000))
    return tmp_path


def closed_form(latency: float, overheads: float, byte: float) -> float:
    """Seconds of the ping-pong: two ways a round, each L + o + o + (n-1)·G."""
    return ROUNDS * (COMPUTE_NS * 1e-9 + 2 * (latency + overheads + (BYTES - 1) * byte))


def test_a_ping_pong_has_its_closed_form(replay: Replay, trace: Path) -> None:
    networks = [scaled(this(), latency=0.5), scaled(this(), bandwidth=4), Network(shipped_network("ideal"))]
    found = predict(replay, read_traced(trace), this(), Wanted(networks, draws=9, timeline=True))
    assert found.baseline.replayed == pytest.approx(closed_form(20e-6, 5e-6, 1e-9), rel=1e-9)
    assert found.baseline.seconds == pytest.approx(ROUNDS * (COMPUTE_NS + 120_000) * 1e-9), "as measured"
    seconds = [one.forecast.replayed for one in found.candidates]
    expected = [closed_form(10e-6, 5e-6, 1e-9), closed_form(20e-6, 5e-6, 0.25e-9), closed_form(0, 0, 0)]
    assert seconds == pytest.approx(expected, rel=1e-9)
    assert sum(found.baseline.parts.values()) == pytest.approx(found.baseline.replayed, rel=1e-9)
    assert found.program.covered == pytest.approx(1.0)
    [one, _] = found.tolerances["this"]
    assert one.latency == pytest.approx(0.01 * found.baseline.seconds / (2 * ROUNDS), rel=1e-4)
    [latency, byte] = found.curves
    assert set(latency.slopes) == {2 * ROUNDS}
    assert byte.at(1e-9) == pytest.approx(found.baseline.seconds, rel=1e-6)
    assert {step.call for step in found.path.steps} == {"MPI_Send", "MPI_Recv", "before MPI_Send"}
    assert found.timelines[0].shares["compute"][0][0] > 0.5
    assert predict_object(found)["candidates"]
    assert 'id="predict-timeline"' in render_view(predict_page(found))
    assert not [note for note in found.notes if "none;" in note]


def test_engine_b_says_the_same_of_it(replay: Replay, trace: Path) -> None:
    found = predict(replay, read_traced(trace), this(), Wanted([], engine="b", draws=9))
    assert found.baseline.replayed == pytest.approx(closed_form(20e-6, 5e-6, 1e-9), rel=1e-9)


def test_messages_to_oneself_as_in_cg_are_changed_by_no_network(replay: Replay, tmp_path: Path) -> None:
    """Irecv, Send, Wait with oneself, and with the other: what goes out keeps the copy waiting for no NIC."""
    size, rounds = 1_000_000, 20
    for rank in (0, 1):
        with RankWriter(tmp_path, {"rank": rank, "size": 2, "host": f"n{rank}"}) as writer:
            for _ in range(rounds):
                for peer in (1 - rank, rank):
                    message = {"peer": peer, "tag": 7, "comm": 0, "bytes": size}
                    writer.add(Record("Irecv", 0, 100, request=0, **message))
                    writer.add(Record("Send", 0, 100, **message))
                    writer.add(Record("Wait", 0, 100, completions=[Completion(0)]))
            writer.add(Record("finalize", 0, 1000))
    found = predict(
        replay, read_traced(tmp_path), this(), Wanted([scaled(this(), bandwidth=0.25)], draws=9, engine="a")
    )
    assert (found.program.copies, found.program.copied) == (2 * rounds, 2 * rounds * size)
    assert found.program.messages == 2 * rounds
    slower = found.candidates[0].forecast.seconds - found.baseline.seconds
    assert slower == pytest.approx(rounds * 3 * size * 1e-9, rel=0.01), "three times more a byte of what goes out"
    assert any("themselves" in note for note in found.notes)


def one_way(folder: Path, size: int) -> Path:
    """A trace of one large message."""
    folder.mkdir()
    for rank in (0, 1):
        with RankWriter(folder, {"rank": rank, "size": 2, "host": f"n{rank}", "command": folder.name}) as writer:
            call = "Send" if rank == 0 else "Recv"
            writer.add(Record(call, 0, 1000, peer=1 - rank, tag=7, comm=0, bytes=size))
            writer.add(Record("finalize", 0, 1000))
    return folder


def test_jobs_beside_each_other_share_the_switch_alone(replay: Replay, tmp_path: Path) -> None:
    size = 10_000_001
    own, other = (one_way(tmp_path / name, size) for name in ("own", "other"))
    star = {"kind": "star", "bytes_per_second": 1e9, "backplane_bytes_per_second": 1e9}
    wanted = Wanted([], draws=0, engine="b", beside=[other], extra={"topology": star})
    (shared,) = predict(replay, read_traced(own), this(), wanted).beside
    assert (shared.network, shared.jobs) == ("this", ("own", "other"))
    alone, stretch = 3 * 20e-6 + 5e-6 + 10e-3, 10e-3
    assert shared.alone == pytest.approx((alone, alone))
    assert shared.together == pytest.approx((alone + stretch, alone + stretch))
    wide = {"topology": {**star, "backplane_bytes_per_second": 2e9, "positions": {"random": 3}}}
    (apart,) = predict(replay, read_traced(own), this(), replace(wanted, extra=wide)).beside
    assert apart.together == pytest.approx((alone, alone))
    told = predict_object(predict(replay, read_traced(own), this(), wanted))["beside"]
    assert [job["command"] for job in told[0]["jobs"]] == ["own", "other"]


def test_a_torn_trace_is_named_by_rank(replay: Replay, trace: Path) -> None:
    file = trace / "rank-000001.wtr"
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(ReplayError, match="rank 1"):
        predict(replay, read_traced(trace), this(), Wanted([]))


def test_a_missing_rank_is_named(replay: Replay, trace: Path) -> None:
    (trace / "rank-000001.wtr").unlink()
    with pytest.raises(ReplayError, match="1 of 2 ranks"):
        predict(replay, read_traced(trace), this(), Wanted([]))
