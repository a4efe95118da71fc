"""The probe of PRTT(n, d, s) under each MPI: messages that follow each other, with pauses that are real."""

from __future__ import annotations

import pytest

from tests.process.native.mpi_session import MpiSession, each_mpi

PAUSE = 2e-4


@each_mpi
def test_trains_and_pauses(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        answers = {}
        for messages, delay in ((1, 0.0), (8, 0.0), (8, PAUSE)):
            params = {"bytes": 8, "messages": messages, "delay": delay, "seconds": 0.02}
            answers[messages, delay] = session.ask("run", probe="loggp", params=params)
        assert all(answer["ok"] for answer in answers.values()), answers
        prtt = {key: answer["metrics"]["prtt"]["value"] for key, answer in answers.items()}
        assert prtt[1, 0.0] > 0
        # Whatever else runs here: seven pauses can't take less than they last, and the receiver waits for eight.
        assert prtt[8, PAUSE] > 8 * PAUSE
        for call in ("send", "receive"):
            assert 0 < answers[8, PAUSE]["metrics"][call]["value"] < prtt[8, PAUSE] / 8
            assert call not in answers[8, 0.0]["metrics"], "calls that follow each other at once wait for the adapter"
        assert answers[8, 0.0]["metrics"]["prtt"]["unit"] == "s"
        assert answers[1, 0.0]["info"]["ranks"] == [0, 1]


@each_mpi
def test_any_two_ranks_and_large_messages(kind: str) -> None:
    with MpiSession(kind, 3) as session:
        params = {"a": 2, "b": 1, "bytes": 1 << 18, "messages": 3, "seconds": 0.01}
        answer = session.ask("run", probe="loggp", params=params)
        assert answer["ok"], answer
        assert answer["metrics"]["prtt"]["value"] > 0
        assert answer["info"]["ranks"] == [2, 1]


@each_mpi
@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"a": 1}, "both rank 1"),
        ({"b": 2}, "no rank 2"),
        ({"messages": 0}, "messages"),
        ({"delay": -1.0}, "delay"),
    ],
)
def test_refuses_and_goes_on(kind: str, params: dict[str, float], why: str) -> None:
    with MpiSession(kind, 2) as session:
        refused = session.ask("run", probe="loggp", params=params)
        assert refused["error"]["code"] == "bad-parameter"
        assert why in refused["error"]["message"] or refused["error"].get("field") == why
        assert session.ask("run", probe="loggp", params={"seconds": 0.01})["ok"]
