"""The order of wulf-mpi's own calls in a stream's windows, as libwulf-trace recorded them."""

from __future__ import annotations

from pathlib import Path

from tests.process.native.mpi_session import OPTIONS, built, each_mpi, library
from tests.process.native.session import Session
from tests.process.native.trace_reading import read_trace
from wulf.cluster.mpi.building import WULF_TRACE

MESSAGE, DONE = 10, 11
"""Tags of native/mpi/messages/messages.hpp."""


def receiver_calls(kind: str, folder: Path, *sends: str) -> str:
    """Three windows of two messages a send, at the receiver: R, a receive is posted; A, a window is acknowledged."""
    given = {"LD_PRELOAD": library(WULF_TRACE, kind), "WULF_TRACE_DIR": str(folder)}
    words = [part for name, value in given.items()
             for part in (["-x", f"{name}={value}"] if kind == "openmpi" else ["-genv", name, value])]  # fmt: skip
    params = {"bytes": 8, "window": 2, "iterations": 3, "seconds": 0.0}
    with Session(f"mpirun.{kind}", *OPTIONS[kind], *words, "-n", "2", path=built(kind)) as session:
        for send in sends:
            answer = session.ask("run", probe="stream", params={**params, "send": send})
            assert answer["ok"], answer
        assert session.close() == 0
    letters = {("MPI_Irecv", MESSAGE): "R", ("MPI_Send", DONE): "A"}
    calls = read_trace(folder / "rank-000001.wtr").calls()
    return "".join(letters.get((call["op"], call.get("tag")), "") for call in calls)


@each_mpi
def test_ready_sends_alone_have_the_next_windows_receives_posted_before_an_acknowledgement(
    kind: str, tmp_path: Path
) -> None:
    standard, ready = "RRARRARRA", "RRRRARRAA"
    assert receiver_calls(kind, tmp_path, "standard", "ready") == standard + ready
