"""BLAS libraries: which are found, what one is asked, and what is made of its answers. The libraries are simulated."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.agent.blas.test_dgemm import CUBE
from wulf.agent.blas import dgemm, gemm


def test_processes_begin_together_and_their_rates_are_summed() -> None:
    def work(cpus: list[int], ready: Callable[[], None]) -> dict[str, Any]:
        ready()
        number = float(cpus[0])
        return {"rate": {"unit": "flop/s", "value": number, "n": 3, "min": number, "max": number}, "seconds": number}

    found = gemm.together([[1], [2], [3]], work)
    assert found == {"rate": {"unit": "flop/s", "value": 6.0, "n": 9, "min": 6.0, "max": 6.0}, "seconds": 3.0}


def test_a_process_that_cannot_or_dies_is_the_reason() -> None:
    def cannot(cpus: list[int], ready: Callable[[], None]) -> dict[str, Any]:
        return gemm._without("no such library")

    def dies(cpus: list[int], ready: Callable[[], None]) -> dict[str, Any]:
        if cpus == [1]:
            os.kill(os.getpid(), signal.SIGKILL)
        ready()
        return {"rate": {"value": 1.0, "n": 1, "min": 1.0, "max": 1.0}, "seconds": 0.0}

    assert gemm.together([[0], [1]], cannot)["rate"]["reason"] == "no such library"
    assert "by signal 9" in gemm.together([[0], [1]], dies)["rate"]["reason"]


def test_a_library_is_called_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The process starts, and says why this file is none."""
    path = tmp_path / "libblas.so.3"
    path.write_bytes(b"no library")
    found = dgemm.measured(str(path), CUBE, [sorted(os.sched_getaffinity(0))[:1]], 0.0)
    assert found["rate"]["value"] is None
    assert "libblas.so.3 can't be used" in found["rate"]["reason"]
