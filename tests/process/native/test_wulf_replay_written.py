"""wulf-replay writes programs for other simulators, and carries out single collectives, by its session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.native.session import Session
from tests.process.native.test_wulf_replay import INTER, asked, loaded, refused
from tests.unit.trace.making import made
from tests.unit.trace.test_exports import everything

NETWORKS = [
    {"name": "eager", "inter": INTER},
    {"name": "rendezvous", "inter": INTER | {"eager_bytes": 20}},
    {"name": "hosts", "inter": INTER, "intra": INTER | {"latency_ps": 10_000}, "hosts": 2},
]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(program="wulf-replay") as opened:
        yield opened


@pytest.mark.parametrize("engine", ["a", "b"])
def test_a_trace_takes_the_same_time_as_goal(session: Session, tmp_path: Path, engine: str) -> None:
    """Every collective, on the world and on a part of it, and messages of all kinds; no receive is posted ahead."""
    made(tmp_path / "t", everything(6))
    ways = {"reduction": 1e-9, "reduce": "rabenseifner", "reduce_scatter": "pairwise", "scatter": "linear-nb"}
    traced = asked(session, "load", trace=str(tmp_path / "t"), collectives=ways)
    assert asked(session, "write", program=traced["program"], goal=str(tmp_path / "x.goal")).keys() == {"id", "ok"}
    again = asked(session, "load", goal=str(tmp_path / "x.goal"))
    assert not again["graph"]
    for same in ("ranks", "ops", "messages", "bytes", "compute"):
        assert again[same] == traced[same], same
    first, second = (
        asked(session, "replay", program=one["program"], networks=NETWORKS, engine=engine, detail=True)["runs"]
        for one in (traced, again)
    )
    assert [run["ranks"] for run in first] == [run["ranks"] for run in second]
    assert all(run["ps"] > 10 * INTER["latency_ps"] for run in first)


def test_a_program_is_written_where_it_is_asked_for(session: Session, tmp_path: Path) -> None:
    ring = loaded(session, "ring", 3)
    asked(session, "write", program=ring, simgrid=str(tmp_path))
    assert [path.name for path in sorted(tmp_path.iterdir())] == [f"rank-00000{rank}.txt" for rank in range(3)]
    for place, why in (("/dev/full", "No space left"), (str(tmp_path / "no/x"), "No such file"), ("/", "directory")):
        error = refused(session, "write", program=ring, goal=place)
        assert error["code"] == "write" and why in error["message"]
    for fields, field in (({}, None), ({"goal": 5}, "goal"), ({"goal": "x", "simgrid": "y"}, "simgrid"),
                          ({"perfetto": "x"}, None), ({"goal": "x", "program": 10**6}, "program")):  # fmt: skip
        error = refused(session, "write", **{"program": ring} | fields)
        assert (error["code"], error.get("field")) == ("bad-parameter", field)


def test_programs_that_were_changed_are_written_as_they_are_now(session: Session, tmp_path: Path) -> None:
    """Messages to oneself that became computing; two programs beside each other, with receives from anybody."""
    own = [["recv", 0, 8, 1, 0], ["send", 0, 8, 1, 1], ["wait", 0], ["wait", 1], ["recv", None, 8, 2, 0], ["wait", 0]]
    alone = [["send", 1, 8, 1, 0], ["send", 1, 8, 1, 1], ["recv", 1, 8, 1, 2], ["wait", 2], ["wait", 0], ["wait", 1]]
    first = asked(session, "load", program={"ranks": [own[:4]]}, copy={"send_ps": 0, "receive_ps": 9000, "byte_fp": 0})
    second = asked(session, "load", program={"ranks": [own, [["send", 0, 8, 2, 0], ["wait", 0]]]})
    third = asked(session, "load", program={"ranks": [[], [*alone, ["recv", 1, 8, 1, 0], ["wait", 0]]]})
    both = asked(session, "join", programs=[second["program"], third["program"], second["program"]])
    texts = []
    for number in (first["program"], both["program"]):
        asked(session, "write", program=number, goal=str(tmp_path / "x.goal"))
        asked(session, "load", goal=str(tmp_path / "x.goal"))
        texts.append((tmp_path / "x.goal").read_text())
    assert texts[0] == "num_ranks 1\n\nrank 0 {\nl1: calc 9\n}\n"
    last = texts[1].split("rank 4 {\n")[1]
    assert last == "l1: recv 0b from 4 tag 1\nl2: send 8b to 4 tag 1\nl2 irequires l1\nl3: recv 0b from -1 tag 2\n" \
        "l3 requires l1\nl3 requires l2\n}\n\nrank 5 {\nl1: send 8b to 4 tag 2\n}\n"  # fmt: skip


def test_a_collective_is_carried_out_for_one_rank(session: Session) -> None:
    asked_for = {"algorithm": "allreduce/ring", "ranks": 3, "rank": 1, "bytes": 8}
    rounds = asked(session, "expand", **asked_for)["rounds"]
    assert rounds == [
        [["recv", 0, 2], ["send", 2, 3]], [["recv", 0, 3], ["send", 2, 2]],
        [["recv", 0, 3], ["send", 2, 3]], [["recv", 0, 2], ["send", 2, 3]],
    ]  # fmt: skip
    assert asked(session, "expand", **asked_for | {"ranks": 1, "rank": 0})["rounds"] == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"algorithm": "allreduce/magic"}, "algorithm"),
        ({"algorithm": 4}, "algorithm"),
        ({"ranks": 0}, "ranks"),
        ({"rank": 3}, "rank"),
        ({"root": -1}, "root"),
        ({"bytes": 1 << 61}, "bytes"),
        ({"give": [1, 2]}, "give"),
        ({"take": [1, 2, "3"]}, "take"),
        ({"take": [1 << 60, 1, 1]}, "take"),
        ({"colour": 1}, "colour"),
    ],
)
def test_what_no_collective_can_be_is_refused(session: Session, fields: dict[str, Any], field: str) -> None:
    error = refused(session, "expand", **{"algorithm": "allgather/ring", "ranks": 3, "rank": 1} | fields)
    assert (error["code"], error["field"]) == ("bad-parameter", field)
