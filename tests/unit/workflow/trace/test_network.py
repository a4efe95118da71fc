"""What a message costs is measured right after a program was traced: between two hosts, and within a shared one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.workflow.model.test_loggp import run, trip
from tests.wording import lacking
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.mpi.spec import WorldSpec
from wulf.core.errors import NodeError
from wulf.measure.engine.watcher import UNWATCHED
from wulf.measure.mpi.probes import BLOCKS
from wulf.model.network.file import parse_network
from wulf.store.index import list_runs
from wulf.store.run import RunWriter
from wulf.workflow.engine.study import Conditions
from wulf.workflow.model.networks import OWN_FILE
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.trace import network as trace_network
from wulf.workflow.trace.network import BETWEEN, WITHIN, measure_network

Asked = list[tuple[list[str], int | None, int]]
SIZES = (1, 100, 1000, 10_000, 100_000)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """(nodes, ranks, ranks a node) of what was measured: round trips of 20 µs and 1 ns a byte, between any two."""
    found: Asked = []

    def study(given: Conditions, launch: Launch, _seconds: float) -> RunWriter:
        found.append(([node.name for node in given.inventory.nodes], launch.spec.ranks, launch.spec.per_node))
        assert launch.how == BLOCKS, "what one launch fixes for its length would be taken for the network"
        return given.writer

    def measure(writer: RunWriter) -> Any:
        writer.finish("complete", exit_code=0)
        return SimpleNamespace(run=run(*(trip(size) for size in SIZES)))

    monkeypatch.setattr(trace_network, "LogGPStudy", study)
    monkeypatch.setattr(trace_network, "measure", measure)
    return found


def measured(folder: Path, nodes: int, spec: WorldSpec) -> list[str]:
    inventory = Inventory(tuple(Node(f"n{i}", address=f"10.0.0.{i}") for i in range(1, nodes + 1)))
    (folder / "trace").mkdir(parents=True, exist_ok=True)
    return measure_network(inventory, spec, folder, folder / "trace", UNWATCHED)


def test_the_first_two_hosts_stand_for_all(asked: Asked, tmp_path: Path) -> None:
    notes = measured(tmp_path, 4, WorldSpec(ranks=4))
    assert asked == [(["n1", "n2"], 2, 1)]
    file = parse_network((tmp_path / "trace" / OWN_FILE).read_text(), "own")
    assert file.intra is None
    assert file.inter.byte is not None and file.inter.byte.value == pytest.approx(1e-9, rel=0.05)
    assert file.inter.byte.source.startswith("run ")
    assert any("overhead" in note or "latency" in note for note in notes), "what a sweep does not tell"
    assert list(list_runs(tmp_path)) == [tmp_path / BETWEEN]


@pytest.mark.parametrize("spec", [WorldSpec(per_node=2), WorldSpec(ranks=8)], ids=["as asked", "more ranks than nodes"])
def test_within_a_host_too_where_ranks_share_one(asked: Asked, tmp_path: Path, spec: WorldSpec) -> None:
    measured(tmp_path, 4, spec)
    assert asked == [(["n1", "n2"], 2, 1), (["n1"], 2, 2)]
    assert parse_network((tmp_path / "trace" / OWN_FILE).read_text(), "own").intra is not None
    assert (tmp_path / WITHIN).is_dir()


def test_of_one_host_messages_within_it_are_all_there_are(asked: Asked, tmp_path: Path) -> None:
    measured(tmp_path, 1, WorldSpec(per_node=2))
    assert asked == [(["n1"], 2, 2)]
    file = parse_network((tmp_path / "trace" / OWN_FILE).read_text(), "own")
    assert file.intra == file.inter


def test_a_rank_by_itself_has_no_network(asked: Asked, tmp_path: Path) -> None:
    assert measured(tmp_path, 1, WorldSpec(ranks=1)) == []
    assert asked == []
    assert not (tmp_path / "trace" / OWN_FILE).exists()


def test_what_goes_wrong_is_a_note_and_the_trace_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lost(*_: Any, **__: Any) -> Any:
        raise NodeError("n2", "the connection is lost")

    monkeypatch.setattr(trace_network, "measure", lost)
    (note,) = measured(tmp_path, 2, WorldSpec())
    assert lacking(note, "the connection is lost", "--baseline") == []
    assert not (tmp_path / "trace" / OWN_FILE).exists()
