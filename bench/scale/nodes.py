"""The nodes of a simulated cluster, as their agents would describe them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FACTS = 80
"""Of a node: about what wulf-agent tells of a machine with one network card."""


def fingerprint(nodes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The facts of nodes that are alike but for their names."""
    alike = {f"group.fact{i}": {"value": i, "provenance": "reported"} for i in range(FACTS)}
    return {
        node: {**alike, "host.name": {"value": node}, "kernel.boot_id": {"value": node}}
        for node in nodes
    }  # fmt: skip
