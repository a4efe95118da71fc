"""wulf-replay's session: programs are loaded, asked about and dropped, and refusals name what is wrong."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.process.native.session import Session, binary
from tests.unit.trace.making import made, pingpong, recv, send
from tests.unit.trace.test_imports import TWO, hoarding, overlapping
from tests.unit.trace.test_imports import binary as binary_goal
from tests.wording import lacking
from wulf.model.network.figures import COPY, network_object
from wulf.trace.record import Record
from wulf.trace.runs import Runs
from wulf.trace.writer import RankWriter

INTER = {"latency_ps": 1_000_000, "send_ps": 200_000, "receive_ps": 300_000, "gap_ps": 100_000, "byte_fp": 80 << 20}
NETWORK = {"name": "plain", "inter": INTER}
MESSAGE = 1_500_000
"""Of one byte: latency and the CPUs' overheads [ps]."""


def asked(session: Session, op: str, **fields: Any) -> dict[str, Any]:
    answer = session.ask(op, **fields)
    assert answer["ok"], answer
    return answer


def refused(session: Session, op: str, **fields: Any) -> dict[str, Any]:
    answer = session.ask(op, **fields)
    assert not answer["ok"], answer
    error: dict[str, Any] = answer["error"]
    return error


def loaded(session: Session, kind: str, ranks: int, **fields: Any) -> int:
    number: int = asked(session, "load", schedule={"kind": kind, "ranks": ranks, **fields})["program"]
    return number


def test_it_says_what_it_can_be_asked_and_what_it_reads() -> None:
    printed = subprocess.run([binary("wulf-replay"), "--describe"], check=True, capture_output=True, text=True).stdout
    for word in (
        "load",
        "replay",
        "breakpoints",
        "tolerance",
        "path",
        "timeline",
        "calls",
        "drop",
        "write",
        "expand",
        "simgrid",
        "schedule",
        "program",
    ):
        assert f'"{word}"' in printed


def test_what_is_loaded_is_counted(session: Session) -> None:
    answer = asked(session, "load", schedule={"kind": "dissemination", "ranks": 16, "bytes": 8, "compute_ps": 500})
    assert (answer["ranks"], answer["ops"], answer["messages"], answer["bytes"]) == (16, 16 * 17, 64, 512)
    assert answer["compute"] == pytest.approx(16 * 500e-12)
    assert answer["coverage"] == {"share": 1.0, "left_out": []}


def test_compute_is_scaled_when_it_is_loaded(session: Session) -> None:
    answer = asked(session, "load", program={"ranks": [[["calc", 1000]]]}, compute=0.5)
    (run,) = asked(session, "replay", program=answer["program"], networks=[NETWORK], detail=True)["runs"]
    assert run["ps"] == 500
    assert run["ranks"] == [500]
    assert run["parts"] == {"compute": 500, "latency": 0, "bytes": 0, "overhead": 0, "waiting": 0}


@pytest.mark.parametrize("engine", ["a", "b"])
def test_a_round_trip_is_two_messages(session: Session, engine: str) -> None:
    program = loaded(session, "pingpong", 2)
    (run,) = asked(session, "replay", program=program, networks=[NETWORK], engine=engine)["runs"]
    assert run["ps"] == 2 * MESSAGE
    assert run["seconds"] == pytest.approx(2 * MESSAGE * 1e-12)
    assert run["inversions"] == 0
    assert "ranks" not in run


def test_engine_b_counts_what_it_took_in_the_order_of_time(session: Session) -> None:
    """Of an eager message its arrival; of one that flows its beginning, its end and its arrival."""
    program = loaded(session, "pingpong", 2)
    assert events(session, program, NETWORK, "a") == 0
    assert events(session, program, NETWORK, "b") == 2
    star = {**NETWORK, "topology": {"kind": "star", "bytes_per_second": 10**9, "flow_bytes": 0}}
    assert events(session, program, star, "b") - events(session, program, NETWORK, "b") >= 2 * 2


def events(session: Session, program: int, network: dict[str, Any], engine: str) -> int:
    (run,) = asked(session, "replay", program=program, networks=[network], engine=engine)["runs"]
    return int(run["events"])


def test_networks_are_answered_in_their_order(session: Session) -> None:
    program = loaded(session, "ring", 5)
    networks = [{"name": str(x), "inter": {**INTER, "latency_ps": x}} for x in range(11)]
    runs = asked(session, "replay", program=program, networks=networks, parts=False)["runs"]
    assert [run["network"] for run in runs] == [str(x) for x in range(11)]
    assert [run["ps"] for run in runs] == [5 * (500_000 + x) for x in range(11)]
    assert "parts" not in runs[0]


def test_a_wildcard_needs_engine_b(session: Session) -> None:
    ranks = [[["recv", None, 8, None, 0], ["wait", 0]], [["send", 0, 8, 4, 0], ["wait", 0]]]
    answer = asked(session, "load", program={"ranks": ranks})
    assert answer["live"] == 1
    error = refused(session, "replay", program=answer["program"], networks=[NETWORK])
    assert (error["code"], error["field"]) == ("bad-parameter", "engine")
    (run,) = asked(session, "replay", program=answer["program"], networks=[NETWORK], engine="b")["runs"]
    assert run["ps"] == MESSAGE + 7 * 80


def test_the_time_over_the_latency_has_its_corner_where_two_paths_are_equally_long(session: Session) -> None:
    """Rank 1 computes for 3 µs, or waits for rank 0's message."""
    ranks = [[["send", 1, 1, 0, 0]], [["recv", 0, 1, 0, 0], ["calc", 3_000_000], ["wait", 0]]]
    program = asked(session, "load", program={"ranks": ranks})["program"]
    answer = asked(session, "breakpoints", program=program, network=NETWORK, over="latency", **{"from": 0, "to": 10**7})
    assert answer["slopes"] == [0, 1]
    assert answer["points"] == [[0, 3_300_000], [2_800_000, 3_300_000], [10**7, 10_500_000]]


def test_the_tolerance_is_the_latency_until_the_time_grows(session: Session) -> None:
    program = loaded(session, "ring", 4)
    answer = asked(session, "tolerance", program=program, network=NETWORK, shares=[0.01, 0.5])
    assert [each["latency_ps"] for each in answer["tolerances"]] == [MESSAGE // 100, MESSAGE // 2]
    assert [each["byte_fp"] for each in answer["tolerances"]] == [None, None]  # one byte has no second
    assert answer["slopes"] == {"latency": 4, "byte": 0}


def test_the_critical_path_is_told_step_by_step(session: Session) -> None:
    program = loaded(session, "pingpong", 2)
    answer = asked(session, "path", program=program, network=NETWORK)
    assert answer["ps"] == 2 * MESSAGE
    steps = answer["steps"]
    assert [step["kind"] for step in steps] == ["overhead", "latency", "overhead"] * 2
    assert steps[1] == {
        "rank": 1, "begin": 200_000, "end": 1_200_000, "kind": "latency", "mark": 0, "from": 0, "to": 1, "bytes": 1
    }  # fmt: skip
    assert sum(each["ps"] for each in answer["ranks"]) == answer["ps"]
    longest = asked(session, "path", program=program, network=NETWORK, most=1)
    assert longest["count"] == 6
    assert [step["kind"] for step in longest["steps"]] == ["latency"]


def test_the_timeline_shares_every_moment_out(session: Session) -> None:
    program = loaded(session, "incast", 9, bytes=1000, compute_ps=700_000)
    answer = asked(session, "timeline", program=program, network=NETWORK, buckets=7, rows=3)
    rows = answer["rows"]
    assert [(row["rank"], row["ranks"]) for row in rows] == [(0, 3), (3, 3), (6, 3)]
    assert all(len(row[kind]) == 7 for row in rows for kind in ("compute", "overhead", "waiting"))
    assert sum(sum(row["compute"]) for row in rows) == 9 * 700_000
    (run,) = asked(session, "replay", program=program, networks=[NETWORK], detail=True)["runs"]
    spent = sum(sum(row[kind]) for row in rows for kind in ("compute", "overhead", "waiting"))
    assert spent == sum(run["ranks"])


def test_calls_are_told_by_kind_with_the_time_that_they_took_in_the_trace(session: Session, tmp_path: Path) -> None:
    """NETWORK's own times of a message against those of a trace whose first exchange took long."""
    ranks = pingpong(3, 8, gap=100, call=5000)
    ranks[0][0].call_ns = 900_000
    ranks[0].insert(0, send(0, 64, 9, call=40_000))  # and a message to itself
    ranks[0].insert(1, recv(0, 64, 9, call=1000))
    made(tmp_path, ranks)
    copy = {"send_ps": 1000, "receive_ps": 2000, "byte_fp": 0}
    program = asked(session, "load", trace=str(tmp_path), copy=copy)["program"]
    found = asked(session, "calls", program=program, network=NETWORK, trace=str(tmp_path))
    kinds = {(one["call"], one["up_to"], one["with"]): one for one in found["calls"]}
    first = found["calls"][0]
    assert (first["call"], first["with"], first["calls"], first["traced_ps"]) == ("MPI_Send", "first", 2, 905_000_000)
    assert (first["worst"]["rank"], first["worst"]["mark"]) == (0, 3)
    assert kinds["MPI_Send", 8, ""]["calls"] == 4, "either rank's first is told apart"
    assert kinds["MPI_Send", 64, "itself"]["replayed_ps"] == 1000
    assert kinds["MPI_Recv", 64, "itself"]["replayed_ps"] == 2000
    assert found["traced_ps"] == sum(one["traced_ps"] for one in found["calls"])
    (run,) = asked(session, "replay", program=program, networks=[NETWORK], detail=True)["runs"]
    computed = sum(record.gap_ns for rank in ranks for record in rank) * 1000
    assert found["replayed_ps"] == sum(run["ranks"]) - computed, "what is not computing is calls"
    assert len(asked(session, "calls", program=program, network=NETWORK, trace=str(tmp_path), most=2)["calls"]) == 2


def test_calls_of_one_half_are_every_other_stretch_of_the_records(session: Session, tmp_path: Path) -> None:
    made(tmp_path, pingpong(100))
    program = asked(session, "load", trace=str(tmp_path))["program"]
    counts = [
        sum(one["calls"] for one in asked(session, "calls", program=program, network=NETWORK, trace=str(tmp_path),
                                          **which)["calls"])
        for which in ({"half": 0}, {"half": 1}, {})
    ]  # fmt: skip
    assert counts[0] + counts[1] == counts[2] == 400, "MPI_Finalize is no call of these"
    assert counts[0] == 2 * (63 + 64), "records 1 to 63, and 128 to 191"


@pytest.mark.parametrize("engine", ["a", "b"])
def test_the_first_messages_between_two_ranks_connect_them(session: Session, engine: str) -> None:
    ping = [["send", 1, 1, 5, 0], ["wait", 0], ["recv", 1, 1, 5, 1], ["wait", 1]]
    pong = [["recv", 0, 1, 5, 0], ["wait", 0], ["send", 0, 1, 5, 1], ["wait", 1]]
    both = [["recv", 1, 1, 6, 0], ["send", 1, 1, 6, 1], ["wait", 0], ["wait", 1]]
    other = [["recv", 0, 1, 6, 0], ["send", 0, 1, 6, 1], ["wait", 0], ["wait", 1]]
    for first, second, connecting in ((ping, pong, 1), (both, other, 2)):
        program = {"ranks": [[*first, *ping], [*second, *pong]]}
        plain = asked(session, "load", program=program)
        slow = asked(session, "load", program=program, connect_ps=7_000_000)
        assert (plain["connecting"], slow["connecting"]) == (0, connecting)
        assert slow["bytes"] == plain["bytes"]
        times = [
            asked(session, "replay", program=one["program"], networks=[NETWORK], engine=engine)["runs"][0]
            for one in (plain, slow)
        ]
        assert times[1]["ps"] - times[0]["ps"] == 7_000_000, "once, whoever sends first"
        assert sum(times[1]["parts"].values()) == times[1]["ps"]
        within = {**NETWORK, "hosts": 2}
        assert (
            asked(session, "replay", program=slow["program"], networks=[within], engine=engine)["runs"][0]["ps"]
            == times[0]["ps"]
        ), "within a host nobody connects"


@pytest.mark.parametrize("size", [0, 5_000_000, 4_000_000_000, 1 << 40])
def test_a_trace_of_more_ranks_than_any_run_has_is_refused_at_once(session: Session, tmp_path: Path, size: int) -> None:
    with RankWriter(tmp_path, {"rank": 0, "size": size}) as out:
        out.add_all(pingpong()[0])
    assert "ranks, and a run has 4194304 at most" in refused(session, "load", trace=str(tmp_path))["message"]


@pytest.mark.parametrize(
    ("comms", "members", "why"),
    [(1, 70_000, "names more processes than there are"), (2000, 60_000, "members, and all so far")],
)
def test_a_small_trace_that_names_millions_of_members_is_refused(
    session: Session, tmp_path: Path, comms: int, members: int, why: str
) -> None:
    """Thirty groups of four million members each were 543 bytes, and 514 MB."""
    first, *others = pingpong()[0]
    found = [Record("found_comm", newcomm=2 + one, members=Runs([(0, members, 1)])) for one in range(comms)]
    made(tmp_path, [[first, *found, *others], pingpong()[1]])
    assert why in refused(session, "load", trace=str(tmp_path))["message"]


@pytest.mark.parametrize(
    ("data", "why"),
    [(hoarding(2000), "are said to depend on it"), (overlapping(8), "those before it are said to have")],
)
def test_a_small_schedule_that_names_millions_of_operations_is_refused(
    session: Session, tmp_path: Path, data: bytes, why: str
) -> None:
    (tmp_path / "x.bin").write_bytes(data)
    assert why in refused(session, "load", goal=str(tmp_path / "x.bin"))["message"]


def test_text_and_binary_goal_are_one_program(session: Session, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(binary_goal(TWO, {0: [(0, 2)], 1: [(0, 1)]}))
    (tmp_path / "x.goal").write_text(
        "num_ranks 2\nrank 0 {\na: send 10b to 1 tag 5\nrecv 20b from 1 tag 6\nc: calc 700\nc requires a\n}\n"
        "rank 1 {\na: recv 10b from 0 tag 5\nb: send 20b to 0 tag 6\nb requires a\n}\n"
    )
    text, same = (asked(session, "load", goal=str(tmp_path / name)) for name in ("x.goal", "x.bin"))
    runs = [
        asked(session, "replay", program=one["program"], networks=[NETWORK], engine="b")["runs"] for one in (text, same)
    ]
    assert runs[0] == runs[1]
    assert {**text, "program": 0, "id": 0} == {**same, "program": 0, "id": 0}


@pytest.mark.parametrize("field", ["goal", "trace"])
def test_nobody_waits_for_a_pipe(session: Session, tmp_path: Path, field: str) -> None:
    os.mkfifo(tmp_path / "rank-000000.wtr")
    place = tmp_path if field == "trace" else tmp_path / "rank-000000.wtr"
    said = refused(session, "load", **{field: str(place)})["message"]
    assert "no regular file" in said or "no file that can be read" in said


def test_calls_of_another_trace_are_refused(session: Session, tmp_path: Path) -> None:
    made(tmp_path, pingpong())
    program = loaded(session, "pingpong", 3)
    assert (
        "another trace" in refused(session, "calls", program=program, network=NETWORK, trace=str(tmp_path))["message"]
    )


@pytest.mark.parametrize(("engine", "picoseconds"), [("a", 300_000), ("b", 200_000)])
def test_a_graph_is_replayed_as_one_by_engine_b(
    session: Session, tmp_path: Path, engine: str, picoseconds: int
) -> None:
    path = tmp_path / "x.goal"
    path.write_text("num_ranks 1\nrank 0 {\ncalc 200\ncalc 100 cpu 1\n}\n")
    answer = asked(session, "load", goal=str(path))
    assert answer["graph"] and "engine b" in answer["notes"][0]
    (run,) = asked(session, "replay", program=answer["program"], networks=[NETWORK], engine=engine)["runs"]
    assert run["ps"] == picoseconds


def test_a_deadlock_names_its_ranks(session: Session) -> None:
    step = [["recv", 1, 8, 5, 0], ["wait", 0], ["send", 1, 8, 5, 0]]
    other = [["recv", 0, 8, 5, 0], ["wait", 0], ["send", 0, 8, 5, 0]]
    program = asked(session, "load", program={"ranks": [step, other]})["program"]
    for engine in ("a", "b"):
        error = refused(session, "replay", program=program, networks=[NETWORK], engine=engine)
        assert error["code"] == "deadlock"
        assert lacking(error["message"], "rank 0 at its operation 1: ", " 8 B from rank 1 with tag 5") == []


@pytest.mark.parametrize("engine", ["a", "b"])
@pytest.mark.parametrize(("size", "stored"), [(1, 1), (1000, 1000), (3000, 1500)])
def test_a_packet_is_stored_before_it_is_forwarded(session: Session, engine: str, size: int, stored: int) -> None:
    """A message alone: os + L + P·min(n, p) + (n-1)·G + or; its rendezvous asks and answers without data."""
    ranks = [[["send", 1, size, 0, 0], ["wait", 0]], [["recv", 0, size, 0, 0], ["wait", 0]]]
    program = asked(session, "load", program={"ranks": ranks})["program"]
    packets = {**INTER, "packet_byte_fp": 70 << 20, "packet_bytes": 1500}
    for eager, ways in ((1 << 20, 1), (0, 3)):
        network = {"name": "stores", "inter": {**packets, "eager_bytes": eager}}
        (run,) = asked(session, "replay", program=program, networks=[network], engine=engine)["runs"]
        assert run["ps"] == 500_000 + ways * 1_000_000 + 70 * stored + 80 * (size - 1)
        assert run["parts"]["latency"] == ways * 1_000_000 + 70 * stored


def test_what_is_dropped_is_gone(session: Session) -> None:
    program = loaded(session, "ring", 2)
    asked(session, "drop", program=program)
    error = refused(session, "replay", program=program, networks=[NETWORK])
    assert (error["code"], error["field"]) == ("bad-parameter", "program")


def test_a_program_larger_than_memory_lies_in_files(session: Session, tmp_path: Path) -> None:
    """Data may take 64 MiB; the arrays of 19 million operations take some 600. Mappings of files are not data."""
    many = {"kind": "dissemination", "ranks": 1 << 18, "bytes": 8}
    with Session("prlimit", f"--data={64 << 20}", program="wulf-replay") as small:
        error = refused(small, "load", schedule=many)
        assert error["code"] == "memory"
        assert "spill" in error["message"]
        asked(small, "spill", folder=str(tmp_path))
        runs = asked(small, "replay", program=asked(small, "load", schedule=many)["program"], networks=[NETWORK])[
            "runs"
        ]
        assert list(tmp_path.iterdir()) == []  # the files have no names: nothing is left, whatever happens
    assert (
        runs
        == asked(session, "replay", program=asked(session, "load", schedule=many)["program"], networks=[NETWORK])[
            "runs"
        ]
    )


def test_a_folder_that_takes_no_files_is_refused(session: Session, tmp_path: Path) -> None:
    error = refused(session, "spill", folder=str(tmp_path / "none"))
    assert (error["code"], error["field"]) == ("spill", "folder")
    assert lacking(error["message"], f"{tmp_path}/none: ", ": No such file or directory") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system in a namespace of its own")
def test_a_full_file_system_is_told_before_anything_is_lost(tmp_path: Path) -> None:
    mount = f'mount -t tmpfs -o size=8m tmpfs {tmp_path} && exec "$0"'
    with Session("unshare", "--mount", "sh", "-c", mount, program="wulf-replay") as session:
        asked(session, "spill", folder=str(tmp_path))
        error = refused(session, "load", schedule={"kind": "dissemination", "ranks": 1 << 16, "bytes": 8})
        assert error["code"] == "spill"
        assert "No space left on device" in error["message"]
        assert asked(session, "load", schedule={"kind": "ring", "ranks": 4})["ok"]


def test_messages_to_oneself_are_copies(session: Session) -> None:
    own = [["recv", 0, 8000, 1, 0], ["send", 0, 8000, 1, 1], ["wait", 0], ["wait", 1]]
    costs = {"send_ps": 10, "receive_ps": 20, "byte_fp": 1 << 20}
    answer = asked(session, "load", program={"ranks": [own]}, copy=costs)
    assert (answer["messages"], answer["bytes"]) == (0, 0)
    assert answer["copies"] == {"messages": 1, "bytes": 8000}
    (run,) = asked(session, "replay", program=answer["program"], networks=[NETWORK])["runs"]
    assert run["ps"] == 10 + 20 + 8000
    as_messages = asked(session, "load", program={"ranks": [own]})
    assert (as_messages["messages"], as_messages["copies"]["messages"]) == (1, 0)


def test_a_graphs_messages_to_oneself_cost_what_those_within_a_host_do(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "x.goal"
    path.write_text("num_ranks 1\nrank 0 {\nsend 8000b to 0 tag 1\nrecv 8000b from 0 tag 1 cpu 1\n}\n")
    answer = asked(session, "load", goal=str(path), copy={"send_ps": 1, "receive_ps": 1, "byte_fp": 0})
    assert (answer["graph"], answer["messages"]) == (True, 1)
    own = network_object("own", {**COPY, "latency": 1.0}, None, own_messages=True)
    (run,) = asked(session, "replay", program=answer["program"], networks=[own], engine="b")["runs"]
    assert run["ps"] == 200_000 + 200_000 + 8000 * 125


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({}, None, "schedule"),
        ({"schedule": {"kind": "spiral", "ranks": 4}}, "kind", "known: dissemination"),
        ({"schedule": {"kind": "ring", "ranks": 1}}, "ranks", "at least 2"),
        ({"schedule": {"kind": "ring", "ranks": 4}, "compute": -1}, "compute", "from 0"),
        ({"schedule": {"kind": "ring", "ranks": 4}, "colour": 1}, "colour", "known"),
        ({"schedule": {"kind": "ring", "ranks": 4}, "program": {"ranks": [[]]}}, "schedule", "leave one"),
        ({"program": {"ranks": [[["jump", 4]]]}}, "ranks", "step 0 of rank 0"),
        ({"program": {"ranks": [[["calc", -4]]]}}, "ranks", "from 0"),
        ({"program": {"ranks": [5]}}, "ranks", "list of steps"),
        ({"program": {"ranks": [[]]}, "copy": 5}, "copy", "must be an object"),
        ({"program": {"ranks": [[]]}, "copy": {"send_ps": 1}}, "receive_ps", "receive_ps"),
    ],
)
def test_a_wrong_load_is_refused(session: Session, fields: dict[str, Any], field: str | None, words: str) -> None:
    error = refused(session, "load", **fields)
    assert error["code"] == "bad-parameter"
    assert error.get("field") == field
    assert words in error["message"]


def test_a_message_without_a_partner_is_refused(session: Session) -> None:
    error = refused(session, "load", program={"ranks": [[["send", 1, 8, 4, 0]], []]})
    assert error["code"] == "unmatched"
    assert lacking(error["message"], "rank 0, operation 0: ", "send to rank 1 with tag 4") == []
