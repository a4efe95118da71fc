"""A run of the farm whose figures are known, as plan.json and replicates.jsonl hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wulf.measure.mpi.farm import FARM, KINDS, METG, Design
from wulf.store.run import Run

DESIGN = Design((1, 3), (1, 10, 100), 1000, {"unit": "sha1", "bytes": 32768})

UNIT, RTT, OVERHEAD, A, C = 2e-5, 1.4e-5, 1e-6, 2e-6, 3e-7

NETWORKS, SLOWER = ("10.0.0.0/24", "10.1.0.0/24"), 1.5
"""Two networks, and how many times as long all takes over the second."""
UNEVEN, DRAWN = 1.25, 1.1
"""As much work in units of several kinds takes so many times as long; the drawn units' mean length."""

WOBBLE = (0.98, 1.0, 1.02, 0.99, 1.01, 1.0)
"""What six replicates multiply every figure with."""


def values_of(params: dict[str, Any]) -> dict[str, float]:
    """The metrics of one cell."""
    workers, batch = params["workers"], params["batch"]
    if workers == 0:
        return {"seconds": 1000 * UNIT}
    slower = SLOWER if params.get("network") == NETWORKS[1] else 1.0
    if params["unit"] == "spin":
        spin = params["spin_seconds"]
        return {"seconds": 0.05, "efficiency": spin / (spin + RTT + OVERHEAD)}
    messages = -(-1000 // batch)
    seconds = slower * (1000 * UNIT / workers + messages * (RTT + OVERHEAD) / workers)
    if "kinds" in params:
        seconds *= UNEVEN * DRAWN
    return {
        "seconds": seconds, "efficiency": 1000 * UNIT / workers / seconds, "messages": messages / seconds,
        "message_time": seconds / messages, "service": slower * (A + C * batch), "rtt": RTT,
        "worker_overhead": OVERHEAD, "unit": UNIT,
    }  # fmt: skip


def info_of(workers: int, wobble: float) -> dict[str, list[Any]]:
    """What the workers say: the first one is the master's sibling, the others are on another node, ten times as far."""
    far = [1.0, *[10.0] * (workers - 1)][:workers]
    return {
        "nearness": ["same core" if one == 1 else "other node" for one in far],
        "trip": [one * wobble * RTT / 10 for one in far],
        "overhead": [one * 100 * wobble * OVERHEAD / 10 for one in far],
        "batches": [100.0] * workers,
    }


def farm_run(spins: tuple[float, ...] = (), design: Design = DESIGN, times: int = 1) -> Run:
    """The table, and the search at so many points; six replicates, so many times."""
    params = [*design.table(), *design.uneven(), *(design.metg(spin, 0.05) for spin in spins)]
    phases = [FARM] * len(design.table()) + [KINDS] * len(design.uneven()) + [METG] * len(spins)
    cells: list[dict[str, Any]] = [
        {"id": i, "pattern": "farm", "phase": phase, "params": one}
        for i, (phase, one) in enumerate(zip(phases, params, strict=True))
    ]
    replicates = [
        {
            "cell": cell["id"],
            "block": block,
            "ok": True,
            "metrics": {name: {"value": value * wobble} for name, value in values_of(cell["params"]).items()},
            "info": {**info_of(cell["params"]["workers"], wobble), "length": DRAWN},
        }
        for block, wobble in enumerate(WOBBLE * times)
        for cell in cells
    ]
    return Run(Path(), {"id": "farm"}, plan={"cells": cells, "seed": 7}, replicates=replicates)
