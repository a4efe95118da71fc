"""Who was late for whom in messages: on made traces whose waits are known, of one host and of two with other clocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wulf.trace.lateness import Stolen, lateness, times_of
from wulf.trace.reader import RankFile
from wulf.trace.record import ANY, Completion, Record
from wulf.trace.waits import all_messages, awaited, message_shifts, messages_of
from wulf.trace.writer import RankWriter, name_of

MS = 1_000_000
MAKE = ("task", "make")


def wrote(folder: Path, rank: int, records: Sequence[Record], host: str = "n1", ahead: int = 0) -> RankFile:
    header = {"rank": rank, "size": 2, "host": host, "begin_monotonic_ns": MS + ahead, "pid": 7}
    with RankWriter(folder, header) as file:
        file.add_all(records)
    return RankFile(folder / name_of(rank))


def call(op: str, gap: float, length: float, **more: Any) -> Record:
    """Milliseconds."""
    return Record(op, gap_ns=round(gap * MS), call_ns=round(length * MS), **more)


def told(*files: RankFile, host: str = "n1") -> list[tuple[int, int, float, str]]:
    """(late, waiting, milliseconds, call)"""
    ranks = [messages_of(one) for one in files]
    found, _ = awaited(ranks, {"n1": 0.0, host: 0.0} if host == "n1" else message_shifts(ranks))
    return [(one.late, one.waiting, round(one.by / MS, 3), one.call) for one in found]


def test_a_receive_waits_for_a_late_send(tmp_path: Path) -> None:
    sender = wrote(tmp_path, 0, [call("Send", 15, 0.01, peer=1, tag=3), call("Send", 1, 0.01, peer=1, tag=3)])
    receiver = wrote(tmp_path, 1, [call("Recv", 10, 5.1, peer=0, tag=3), call("Recv", 5, 0.01, peer=0, tag=3)])
    assert told(sender, receiver) == [(0, 1, 5.0, "Send")], "the second was there before it was asked for"


def test_of_the_messages_of_one_wait_the_latest_counts(tmp_path: Path) -> None:
    receiver = wrote(
        tmp_path, 2,
        [
            call("Irecv", 1, 0.001, peer=0, tag=1, request=1), call("Irecv", 1, 0.001, peer=1, tag=1, request=2),
            call("Waitall", 1, 20, requests=[1, 2], given=2, completions=[Completion(1), Completion(2)]),
        ],
    )  # fmt: skip
    one = wrote(tmp_path, 0, [call("Send", 8, 0.01, peer=2, tag=1)])
    ended = {"request": 9, "requests": [9], "given": 1, "completions": [Completion(9)]}
    later = [call("Isend", 23, 0.01, peer=2, tag=1, request=9), call("Wait", 1, 0.01, **ended)]
    other = wrote(tmp_path, 1, later)
    assert told(one, other, receiver) == [(1, 2, 19.998, "Isend")]


def test_a_send_of_much_waits_for_a_late_receive(tmp_path: Path) -> None:
    sender = wrote(
        tmp_path, 0, [call("Send", 10, 7, peer=1, tag=0, bytes=1 << 24), call("Send", 1, 0.01, peer=1, tag=0)]
    )
    receiver = wrote(tmp_path, 1, [call("Recv", 16, 1, peer=0, tag=0), call("Recv", 9, 0.01, peer=0, tag=0)])
    assert told(sender, receiver) == [(1, 0, 6.0, "Recv")], "the small one left before it was received"


def test_a_receive_from_anybody_is_of_whom_it_took(tmp_path: Path) -> None:
    sender = wrote(tmp_path, 0, [call("Send", 15, 0.01, peer=1, tag=3)])
    receiver = wrote(tmp_path, 1, [call("Recv", 10, 5.1, peer=ANY, tag=ANY, actual=(0, 3))])
    assert told(sender, receiver) == [(0, 1, 5.0, "Send")]


@pytest.mark.parametrize("ahead", [0, 7_000 * MS, -900_000])
def test_hosts_whose_clocks_differ_are_laid_beside_each_other_by_their_messages(tmp_path: Path, ahead: int) -> None:
    back = [call("Send", 1, 0.01, peer=0, tag=1), call("Recv", 10, 5.02, peer=0, tag=3)]
    receiver = wrote(tmp_path, 1, back, "n2", ahead)
    sender = wrote(tmp_path, 0, [call("Recv", 0.5, 0.52, peer=1, tag=1), call("Send", 15, 0.01, peer=1, tag=3)])
    ranks = [messages_of(one) for one in (sender, receiver)]
    shifts = message_shifts(ranks)
    assert shifts["n2"] == pytest.approx(-ahead, abs=0.05 * MS)
    late = [one for one in awaited(ranks, shifts)[0] if one.late == 0]
    assert [(one.waiting, round(one.by / MS, 1)) for one in late] == [(1, 5.0)]


def test_hosts_that_no_messages_join_are_left_out(tmp_path: Path) -> None:
    one_way = [messages_of(wrote(tmp_path, 0, [call("Send", 15, 0.01, peer=1, tag=3)]))]
    one_way += [messages_of(wrote(tmp_path, 1, [call("Recv", 10, 5.1, peer=0, tag=3)], "n2"))]
    assert message_shifts(one_way) == {"n1": 0.0}
    assert awaited(one_way, message_shifts(one_way)) == ([], 0)


def test_what_was_taken_since_a_call_kept_the_rank_is_told(tmp_path: Path) -> None:
    sender = wrote(tmp_path, 0, [call("Recv", 1, 3, peer=1, tag=9), call("Send", 11, 0.01, peer=1, tag=3)])
    receiver = wrote(tmp_path, 1, [call("Send", 3.9, 0.01, peer=0, tag=9), call("Recv", 6.1, 5.1, peer=0, tag=3)])
    begins = np.asarray([1.5, 6.5, 12.0]) * MS + MS
    taken = Stolen(
        begin=begins, length=np.asarray([1.0, 4.0, 0.5]) * MS, culprit=[("irq", "x"), MAKE, MAKE], left_out=0
    )
    files = [sender, receiver]
    found = lateness([times_of(one) for one in files], {0: taken}, [messages_of(one) for one in files])
    assert (found["late"]["collectives"], found["late"]["messages"]) == (0, 2)
    (worst,) = (one for one in found["worst"] if one["rank"] == 0)
    assert (worst["for"], worst["call"], worst["late"]) == (1, "Send", pytest.approx(4.99e-3))
    assert worst["stolen"] == pytest.approx(4.5e-3), "and not what was taken while it waited itself"
    assert [one["name"] for one in worst["by"]] == ["make"]


def test_of_a_long_trace_the_first_messages_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wulf.trace.waits.MOST_ENDS", 6)
    files = [wrote(tmp_path, rank, [call("Send", 1, 0.01, peer=1 - rank, tag=3)] * 5) for rank in (0, 1)]
    assert [(len(one.sent), one.left_out) for one in all_messages(files)] == [(3, 2), (3, 2)]
