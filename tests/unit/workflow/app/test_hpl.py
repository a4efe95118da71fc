"""What `wulf app hpl` makes of the nodes: sizes, shares of peaks, notes; and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.apps import hpl
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.mpi.spec import layout
from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.workflow.app.hpl import HplRequest, completed, memory_of, of_file, threads_note, threads_notes
from wulf.workflow.app.peaks import share_records
from wulf.workflow.engine.connect import Connected


def node(memory: int | None, boot: str = "a", **more: Any) -> dict[str, dict[str, Any]]:
    values = {"memory.total": memory, "kernel.boot_id": boot, **more}
    return {name: {"value": value, "reason": "it does not say"} for name, value in values.items()}


class Apps:
    """Nodes that answer what they are asked."""

    nodes = ("n1", "n2")

    def ask(self, op: str, patience: float, **fields: Any) -> dict[str, Any]:
        there = [{"path": "/l/openblas/libblas.so.3", "label": "openblas", "choose": {}}]
        also = {"n1": fields["also"], "n2": []}
        return {name: {"libraries": there, "also": also[name]} for name in self.nodes}


def complete(given: dict[str, Any], **spec: Any) -> tuple[dict[str, Any], list[str]]:
    fingerprint = {"n1": node(8 * 10**9, "a", **{"cpu.cores": 4}), "n2": node(8 * 10**9, "b", **{"cpu.cores": 4})}
    connected = Connected({}, {}, fingerprint=fingerprint)
    asked = HplRequest(hpl, [given], WorldSpec(**spec))
    params = dict(completed(given, asked, connected, Apps()))  # type: ignore[arg-type]
    return params, threads_notes([params], layout(Apps.nodes, asked.spec), fingerprint)


def test_n_takes_most_of_the_memory_and_the_grid_is_square() -> None:
    params, notes = complete({"nb": 128}, per_node=2)
    assert params["n"] % 128 == 0
    assert 0.78 < 8 * params["n"] ** 2 / (16 * 10**9) <= 0.8
    assert (params["p"], params["q"]) == (2, 2)
    assert notes == ["n1: 2 ranks x 1 threads = 2, of its 4 cores"]


def test_all_cores_in_use_are_worth_no_note() -> None:
    assert complete({"n": 1000, "threads": 2}, per_node=2)[1] == []
    assert "8, more than its 4 cores" in complete({"n": 1000, "threads": 4}, per_node=2)[1][0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n": 200_000}, "N = 200000 needs"),
        ({"n": 1000, "p": 3, "q": 1}, "3 x 1 is 3 ranks, and 4 are to be started"),
        ({"n": 100, "nb": 192}, "NB = 192 is larger than N = 100"),
        ({"n": 1000, "blas": "/l/mkl/libmkl_rt.so"}, "is not there on n2"),
        ({"n": 1000, "bcast": 9}, "bcast = 9"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        complete(given, per_node=2)


def test_nodes_of_one_machine_share_its_memory_and_one_that_says_nothing_is_not_guessed() -> None:
    both = {"n1": node(8000, "a"), "n2": node(8000, "a"), "n3": node(6000, "b")}
    assert memory_of(both, ["n1", "n2", "n3"]) == {"n1": 4000, "n2": 4000, "n3": 6000}
    assert memory_of(both, ["n1"]) == {"n1": 8000}
    assert memory_of({"n1": node(None)}, ["n1"]) == {}
    assert threads_note(1, {"n1": 4}, {"n1": node(1)}) == ""


def test_a_files_configurations_take_what_the_file_does_not_say() -> None:
    assert of_file([{"n": 1}, {"n": 2}], {"threads": 2}) == [{"n": 1, "threads": 2}, {"n": 2, "threads": 2}]
    with pytest.raises(UsageError, match="both say n"):
        of_file([{"n": 1}], {"n": 2})


def record(probe: str, pattern: str, value: float | None, **more: Any) -> Record:
    low, high = (None, None) if value is None else (0.9 * value, 1.1 * value)
    fields: dict[str, Any] = {
        "run": "r", "subject": "n[1-2]", "metric": "rate", "unit": "flop/s", "at": "now", "confidence": 0.95,
        "replicates": 8, "verdict": Verdict.OK if value else Verdict.FAILED, "reason": None if value else "it hung",
    } | more  # fmt: skip
    return Record(probe=probe, value=value, low=low, high=high, params={"pattern": pattern}, **fields)


PEAKS = [record("node", "fma", 4e9, subject="n1"), record("node", "fma", 6e9, subject="n2")]


def test_the_share_of_the_measured_peak_joins_both_intervals() -> None:
    base, turbo, measured = share_records([record("app", "hpl", 5e9), *PEAKS], {}, ["n1", "n2"], "r")
    assert [each.metric for each in (base, turbo, measured)] == ["share.base", "share.turbo", "share.measured"]
    assert measured.value == pytest.approx(0.5)
    assert measured.low == pytest.approx(4.5 / 11)
    assert measured.high == pytest.approx(5.5 / 9)
    assert base.value is None
    assert base.reason is not None
    assert "n1: processor not known" in base.reason


def test_a_share_has_a_reason_where_the_result_or_the_peak_is_missing() -> None:
    lost = share_records([record("app", "hpl", None), *PEAKS], {}, ["n1", "n2"], "r")[-1]
    assert (lost.value, lost.reason) == (None, "it hung")
    half = share_records([record("app", "hpl", 5e9), PEAKS[0]], {}, ["n1", "n2"], "r")[-1]
    assert half.reason == "n2: it was not measured"


def test_a_machine_that_several_nodes_share_has_its_peak_once() -> None:
    boot = {name: {"kernel.boot_id": {"value": "same"}} for name in ("n1", "n2")}
    measured = share_records([record("app", "hpl", 1e9), PEAKS[0]], boot, ["n1", "n2"], "r")[-1]
    assert measured.value == pytest.approx(0.25)


def test_only_rates_of_all_ranks_have_shares() -> None:
    assert share_records([record("app", "stream", 5e9), *PEAKS], {}, ["n1", "n2"], "r") == []
    assert len(share_records([record("app", "hpcc", 5e9, metric="hpl.rate"), *PEAKS], {}, ["n1", "n2"], "r")) == 3
