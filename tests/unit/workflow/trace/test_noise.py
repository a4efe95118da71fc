"""What nodes recorded while a program ran, joined with its trace."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich.console import Console

from tests.unit.workflow.trace.noise_fakes import PID, FakeRecorder, answer
from wulf.cluster.answers import fault
from wulf.cluster.session import Session
from wulf.report.kit.terminal import print_view
from wulf.report.kit.view import View
from wulf.report.trace_noise import noise_sections
from wulf.trace.record import Record
from wulf.trace.writer import RankWriter
from wulf.workflow.trace.noise import Recorder, stolen_of

MS = 1_000_000


def traced(folder: Path, *, ranks: int = 2) -> Path:
    """Ranks that compute 10 ms and meet, ten times; the last one computes 13 ms before the fifth."""
    for rank in range(ranks):
        header = {"rank": rank, "size": ranks, "host": "n1", "pid": PID + rank, "begin_monotonic_ns": MS}
        with RankWriter(folder, header) as file:
            for number in range(10):
                late = 3 * MS if (rank, number) == (ranks - 1, 4) else 0
                waits = 3 * MS if (rank, number) != (ranks - 1, 4) and number == 4 else 0
                file.add(Record("Barrier", gap_ns=10 * MS + late, call_ns=1000 + waits))
    return folder


def recorder(said: dict[str, Any] | None) -> Recorder:
    return Recorder({"n1": cast(Session, FakeRecorder("n1", said))})


def both(*pieces: tuple[int, int, int], **more: Any) -> dict[str, Any]:
    told = answer(*pieces, **more)
    told["processes"] = [{**told["processes"][0], "stolen": []}, {**told["processes"][0], "process": PID + 1}]
    return told


def test_the_late_rank_and_who_took_its_cpu(tmp_path: Path) -> None:
    recording = recorder(both((42 * MS, 2 * MS, 1), (46 * MS, 20_000, 2)))
    noise = recording.told(traced(tmp_path))
    assert noise is not None
    assert noise["worst"][0]["rank"] == 1
    assert [one["name"] for one in noise["worst"][0]["by"]] == ["make", "tick_nohz_handler"]
    assert recording.notes == []
    asked = cast(FakeRecorder, recording.sessions["n1"]).asked
    assert asked == {"op": "noise_stop", "processes": [PID, PID + 1]}
    text = io.StringIO()
    print_view(View("trace", "a program", noise_sections(noise)), Console(file=text, width=80))
    said = text.getvalue()
    assert "task make 2 ms" in said
    assert "1 time in 10 collectives and 0 messages a rank came late" in said
    assert max(map(len, said.splitlines())) <= 80


def test_what_is_not_known_is_said_and_no_figure(tmp_path: Path) -> None:
    refused = recorder(None)
    noise = refused.told(traced(tmp_path))
    assert noise is not None
    assert all(not rank["seen"] for rank in noise["ranks"])
    assert any("it needs root" in note for note in refused.notes)
    assert any("2 ranks" in note for note in refused.notes)
    assert Recorder().told(tmp_path) is None
    full = recorder(both(lost=7, full=True))
    full.told(tmp_path)
    assert len(full.notes) == 2
    nothing = tmp_path / "none"
    nothing.mkdir()
    assert recorder(answer()).told(nothing) is None


def test_pieces_are_in_the_hosts_monotonic_time() -> None:
    told = answer((5, 7, 1), (20, 2, 2))
    stolen = stolen_of(told, told["processes"][0])
    assert np.asarray(stolen["begin"]).tolist() == [1_000_005, 1_000_020]
    assert stolen["culprit"] == [("task", "make"), ("timer", "tick_nohz_handler")]


def test_an_answer_of_another_shape_is_refused_at_the_edge() -> None:
    assert fault("wulf-node", "noise_stop", answer((5, 7, 1))) is None
    assert "none of the 3 culprits" in (fault("wulf-node", "noise_stop", answer((5, 7, 3))) or "")
    assert fault("wulf-node", "noise_stop", answer((-5, 7, 1))) is not None
    assert fault("wulf-node", "noise_stop", {}) is not None
