"""Chakra's collectives, which wulf-replay carries out: every message has a partner, and all is sent that has to be.

ASTRA-sim's examples were tried besides, which are not kept here: its microbenchmarks on 4 to 16 ranks, and its ring
all-reduce of COMM_SEND and COMM_RECV nodes (examples/system/custom_collectives, 8 ranks, 1 MB), which has the 112
messages of 131,072 B that wulf makes of its all-reduce's node.
Those of its tutorial at MICRO 2024, too: an MLP on 32 ranks, all-reduces on 8 and 128.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.trace.test_imports_chakra import brought, collective, messages, stream
from wulf.core.errors import UsageError
from wulf.store.run import RunWriter
from wulf.trace.imports.chakra.collectives import TYPES, Expand
from wulf.trace.imports.goal import read_goal
from wulf.workflow.foresight.replaying import Replay, replay_session
from wulf.workflow.trace.files import import_trace

TOTALS = {
    "ALL_REDUCE": 4 * 8192, "REDUCE": 2 * 8192, "ALL_GATHER": 6 * 8192, "GATHER": 2 * 8192, "SCATTER": 2731 + 2730,
    "BROADCAST": 2 * 8192, "ALL_TO_ALL": 2 * 8192, "REDUCE_SCATTER": 2 * 8192, "REDUCE_SCATTER_BLOCK": 2 * 8192,
    "BARRIER": 0,
}  # fmt: skip
"""What three ranks send in all, where each brings 8 KiB."""


@pytest.fixture(scope="module")
def expand() -> Iterator[Expand]:
    with replay_session() as session:
        yield Replay(session).expand


@pytest.mark.parametrize("kind", TYPES)
def test_messages_of_each_collective(tmp_path: Path, expand: Expand, kind: str) -> None:
    (first, second, third), _ = brought(tmp_path, *[[collective(kind, 8192)]] * 3, expand=expand)
    sent: list[tuple[int, int, int]] = []
    got: list[tuple[int, int, int]] = []
    for rank, lines in enumerate((first, second, third)):
        for way, size, peer in messages(lines):
            (sent if way == "send" else got).append((*((rank, peer) if way == "send" else (peer, rank)), size))
    sent.sort()
    got.sort()
    assert sent == got
    assert sum(size for _, _, size in sent) == TOTALS[kind]


def test_a_ring_hands_a_part_on_in_each_round(tmp_path: Path, expand: Expand) -> None:
    ranks, _ = brought(tmp_path, *[[collective("ALL_REDUCE", 1 << 20)]] * 8, expand=expand)
    sent = [(way, size) for lines in ranks for way, size, _ in messages(lines)]
    assert Counter(sent) == {("recv", 131_072): 112, ("send", 131_072): 112}


def test_ranks_may_bring_their_own_sizes(tmp_path: Path, expand: Expand) -> None:
    ranks = [[collective("ALL_TO_ALL", size), collective("ALL_GATHER", size, 1)] for size in (30, 60)]
    (first, second), told = brought(tmp_path, *ranks, expand=expand)
    pairs = [sorted(messages(lines)[at : at + 2]) for lines in (first, second) for at in (0, 2)]
    assert pairs == [
        [("recv", 30, 1), ("send", 15, 1)], [("recv", 60, 1), ("send", 30, 1)],
        [("recv", 15, 0), ("send", 30, 0)], [("recv", 30, 0), ("send", 60, 0)],
    ]  # fmt: skip
    assert len(told.notes) == 1


def test_an_import_asks_wulf_replay_itself(tmp_path: Path) -> None:
    files = [tmp_path / f"app.{rank}.et" for rank in range(4)]
    for path in files:
        path.write_bytes(stream(collective("ALL_REDUCE", 4096), collective("BARRIER", 0, 1)))
    with RunWriter(tmp_path / "run", "trace") as writer:
        done = import_trace(files, "chakra", writer)
    assert done.exit_code == 0 and not read_goal(done.path / "trace/program.goal").unmatched
    for path in files:
        path.write_bytes(stream(collective("ALL_GATHER", 1 << 60)))
    with RunWriter(tmp_path / "other", "trace") as writer, pytest.raises(UsageError, match="take"):
        import_trace(files, "chakra", writer)
