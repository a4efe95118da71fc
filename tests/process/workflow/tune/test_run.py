"""`wulf tune` whole, over simulated nodes whose agents keep the change protocol in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.tune.test_run import Cluster
from tests.unit.workflow.tune.test_run import cluster as cluster
from wulf.workflow.tune import run as tuning


def _counted(measure: Any, about: Mapping[str, Any], folder: Path, cluster: Cluster) -> float | None:
    """The program's measurement, after its output was made what the settings give."""
    good = cluster.settings.nodes["n1"].values["net.good", ""]
    (folder / "rate").write_text(f"rate: {100 * (1.5 if good else 1.0) * cluster.random.lognormvariate(0, 0.01)}")
    value, reason = measure._once()
    assert value is not None, reason
    return float(value)


@pytest.mark.full
def test_a_programs_own_figure_is_measured(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning.AppMeasure, "__call__", lambda self, about: _counted(self, about, tmp_path, cluster))
    done = cluster.tune(
        measure="app",
        command=("cat", str(tmp_path / "rate")),
        figure=r"rate: ([\d.]+)",
        higher=True,
        unit="1",
        keep=False,
    )
    by_name = {one["name"]: one for one in done.result["settings"]}
    assert by_name["net.good"]["judgement"] == "faster"
    effect = by_name["net.good"]["effect"]
    assert effect["improvement_low"] <= 0.5 <= effect["improvement_high"]
