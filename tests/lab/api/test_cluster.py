"""Measuring from Python over a real lab, as the commands do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

import wulf
from tests.lab.commands import wulf as command
from wulf import lab as labs

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]


def test_a_survey_from_a_running_event_loop_is_the_commands_own(tmp_path: Path, two_nodes: labs.Lab) -> None:
    """As in Jupyter, whose cells are run by an event loop; the lab is the one that is up."""

    async def cell() -> wulf.Results:
        return wulf.Cluster.in_lab().survey(quick=True, out=tmp_path / "monday")

    results = asyncio.run(cell())
    assert (results.state, results.nodes) == ("complete", ("n1", "n2"))
    rtt = results.maps["TCP round trip, 1 B"]
    assert 1e-6 < rtt.values[0, 1] < 1e-2 and rtt.low[0, 1] <= rtt.values[0, 1] <= rtt.high[0, 1]
    assert not np.isnan(results.maps["TCP bandwidth"].values[1, 0])
    done = command("report", "monday", "--in", str(tmp_path), "--json")
    assert [wulf.Record.model_validate_json(line) for line in done.stdout.splitlines()] == list(results.records)
    listed = command("runs", "--in", str(tmp_path)).stdout
    assert "survey" in listed and results.headline.split(":")[0][:40] in listed
