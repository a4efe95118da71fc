"""The network that a person means."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.unit.workflow.predict_fakes import THIS, this
from tests.wording import lacking
from wulf.core.errors import UsageError
from wulf.model.network.figures import Network
from wulf.model.network.file import shipped_network
from wulf.workflow.model.networks import find_network, this_network, with_memory


def loggp_run(folder: Path, started: str) -> None:
    """A run as `wulf model loggp` leaves it: 20 µs and 1 ns a byte, half a round trip."""
    folder.mkdir(parents=True)
    meta = {"id": folder.name, "command": "model-loggp", "version": "0", "state": "complete", "started": started}
    (folder / "run.json").write_text(json.dumps(meta))
    lines = []
    for size in (1, 64, 1024, 4096, 16384, 65536, 262144, 1048576):
        trip = 2 * (20e-6 + 1e-9 * size)
        lines.append(json.dumps({
            "probe": "mpi", "subject": "n1>n2", "metric": "rtt", "unit": "s", "value": trip, "verdict": "ok",
            "params": {"pattern": "pingpong", "bytes": size, "mpi": "openmpi"}, "replicates": 3, "low": trip * 0.99,
            "high": trip * 1.01, "samples": [trip * 0.99, trip, trip * 1.01] * 2, "at": started, "run": folder.name,
        }))  # fmt: skip
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")


def test_shipped_files_and_expressions(tmp_path: Path) -> None:
    assert find_network("ib-hdr", None).base == shipped_network("ib-hdr")
    (tmp_path / "own.toml").write_text(THIS)
    own = find_network(f"{tmp_path}/own.toml*bandwidth=2", None)
    assert own.name == "own*bandwidth=2"
    assert find_network("this*latency=0.5", this()).name == "this*latency=0.5"


@pytest.mark.parametrize(
    ("text", "said"),
    [("ib-hdrr", "did you mean ib-hdr?"), ("this", "--baseline"), ("gbe*speed=2", "no part"), ("gbe*latency", "PART")],
)
def test_what_is_no_network(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        find_network(text, None, tmp_path)
    assert said in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        find_network(str(tmp_path / "no.toml"), None)


def test_the_baseline_is_the_traces_own_file_then_the_newest_measurement(tmp_path: Path) -> None:
    trace, runs = tmp_path / "trace", tmp_path / "runs"
    trace.mkdir()
    with pytest.raises(UsageError, match="which network the trace was made on"):
        this_network("this", trace, runs)
    loggp_run(runs / "older", "2026-01-01T00:00:00.000Z")
    loggp_run(runs / "newer", "2026-01-02T00:00:00.000Z")
    found, origin = this_network("this", trace, runs)
    assert found.name == "this" and origin.endswith("newer")
    assert found.base.inter.latency is not None
    assert found.base.inter.latency.value == pytest.approx(20e-6, rel=0.02)
    assert found.notes  # a sweep alone can't tell o from L, and says so
    (trace / "network.toml").write_text(THIS)
    found, origin = this_network("this", trace, runs)
    assert (found.base.title, origin) == ("the cluster's own", str(trace / "network.toml"))


def test_another_network_can_be_the_baseline(tmp_path: Path) -> None:
    found, origin = this_network("gbe", tmp_path)
    assert (found.name, found.base.name, origin) == ("this", "gbe", "gbe")


def test_a_run_is_a_candidate_by_name(tmp_path: Path) -> None:
    loggp_run(tmp_path / "loan", "2026-01-01T00:00:00.000Z")
    assert find_network("loan", None, tmp_path).name == "loan"


def test_a_run_that_measured_no_network(tmp_path: Path) -> None:
    loggp_run(tmp_path / "r", "2026-01-01T00:00:00.000Z")
    os.truncate(tmp_path / "r" / "records.jsonl", 0)
    with pytest.raises(UsageError, match="no round trips"):
        find_network("r", None, tmp_path)


def test_a_network_is_itself() -> None:
    assert find_network("this", this()) == this()
    assert isinstance(this(), Network)


def test_messages_within_a_host_may_be_those_of_another_measurement(tmp_path: Path) -> None:
    loggp_run(tmp_path / "memory", "2026-01-01T00:00:00.000Z")
    found = with_memory(this(), "memory", tmp_path)
    assert found.base.inter == this().base.inter
    assert found.base.intra is not None and found.base.intra.latency is not None
    assert found.base.intra.latency.value == pytest.approx(20e-6, rel=0.02)
    assert found.name == "this" and found.notes


def test_of_several_pairs_one_is_named(tmp_path: Path) -> None:
    loggp_run(tmp_path / "loan", "2026-01-01T00:00:00.000Z")
    records = tmp_path / "loan" / "records.jsonl"
    first = records.read_text()
    records.write_text(first + first.replace("n1>n2", "n1>n3"))
    with pytest.raises(UsageError, match="2 pairs") as error:
        find_network("loan", None, tmp_path)
    assert lacking(error.value.next_step, "loan@PAIR", ": n1>n2 openmpi, n1>n3 openmpi") == []
    assert find_network("loan@n1>n3 openmpi", None, tmp_path).base.title.endswith("n1>n3 openmpi")
