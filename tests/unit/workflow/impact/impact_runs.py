"""Runs of `wulf impact` on disk, made by the product's own types."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.unit.report.impact.test_effects import outcome
from wulf.store.run import RunWriter

MELLANOX = {"nic.eth0.speed": {"value": 3.125e9}, "nic.eth0.driver": {"value": "mlx5_core"}}
SLOW = {"nic.eth1.speed": {"value": 1.25e8}, "nic.eth1.driver": {"value": "igb"}}


@lru_cache
def _outcome(effect: float, **after: Any) -> str:
    return json.dumps(outcome(effect, **after))


def write_impact(
    folder: Path, name: str, application: str, effect: float = -0.05, *,
    setting: str | None = None, share: float | None = None, after: tuple[tuple[str, Any], ...] = (), **more: Any,
) -> Path:  # fmt: skip
    """A run of links, or of a setting, whose application took × exp(effect) of the time."""
    result = json.loads(_outcome(effect, **dict(after)))
    result |= {"application": application, **more}
    if setting is not None:
        result |= {"kind": "settings", "changes": [{"name": setting, "before": ["50"], "after": ["0"]}]}
    if share is None:
        result["profiles"] = {}
    else:
        result["profiles"]["before"]["share"]["mpi"] = share
    with RunWriter(folder / name, "impact", {"seed": 1}) as writer:
        writer.write_json("fingerprint.json", {"n1": {**MELLANOX, **SLOW}, "n2": MELLANOX})
        writer.write_json("impact.json", {**result, "run": writer.id})
        writer.finish("complete", exit_code=0)
    return folder / name


def many(folder: Path) -> Path:
    """Seven runs that count, of six programs and three domains."""
    write_impact(folder, "r1", "/opt/bin/phyml-mpi -i a.phy", -0.06, share=0.8, setting="nic.rx_usecs")
    write_impact(folder, "r2", "/opt/bin/phyml-mpi -i a.phy", -0.06, share=0.8, setting="nic.rx_usecs")
    write_impact(folder, "r3", "phyml-mpi -i b.phy", -0.08, share=0.9, setting="nic.rx_usecs")
    write_impact(folder, "r4", "iqtree2-mpi -s b.phy", -0.03, share=0.3)
    write_impact(folder, "r5", "mpirun -n 8 ./wrf.exe", -0.05, share=0.5, domain="climate")
    write_impact(folder, "r6", "gmx_mpi mdrun", -0.02, share=0.2)
    write_impact(folder, "r7", "./mine", -0.01, share=0.1)
    return folder
