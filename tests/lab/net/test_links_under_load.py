"""One window of `python -m bench.links` of each kind that it plants: requests to servers, and a halo exchange."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.links import __main__ as bench

from wulf import lab as labs

pytestmark = [pytest.mark.lab, pytest.mark.full]


@pytest.fixture(scope="module")
def lab(netns: None) -> Iterator[labs.Lab]:
    with bench.made() as made:
        yield made


@pytest.mark.parametrize("kind", ["loss", "link-loss", "delay", None])
def test_what_is_planted_under_requests_is_named_and_nothing_else(
    lab: labs.Lab, kind: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WULF_LAB", lab.name)
    found = bench.window(lab, "requests", kind, 7, tmp_path / "run")
    assert found["outcome"] == ("named" if kind else "nobody"), found


@pytest.mark.skipif(shutil.which("mpicxx.openmpi") is None, reason="no Open MPI to build the halo exchange with")
def test_a_lossy_node_of_a_halo_exchange_is_named_with_its_way(
    lab: labs.Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WULF_LAB", lab.name)
    found = bench.window(lab, "mpi", "loss", 11, tmp_path / "run")
    assert found["outcome"] == "named", found
