"""What a search says of the path's steps and of two knobs together."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from wulf.report.kit.terminal import print_view
from wulf.report.search.found import search_view


def compared(ratio: float, judgement: str, proven: bool) -> dict[str, Any]:
    ends = {"low": ratio * 0.99, "high": ratio * 1.01, "p": 0.01, "p_corrected": 0.05, "n": 8, "reason": ""}
    speed = {"speedup": 1 / ratio, "speedup_low": 1 / ratio / 1.01, "speedup_high": 1 / ratio / 0.99}
    return {"ratio": ratio, "judgement": judgement, "proven": proven, **ends, **speed}


def searched(together: dict[str, Any] | None = None) -> dict[str, Any]:
    """Of a search over three knobs, as search.json has it."""
    figure = {"value": 2.0, "low": 1.9, "high": 2.1, "n": 8, "reason": ""}
    told = [("nb", compared(0.8, "faster", True)), ("grid", compared(0.98, "faster", False)),
            ("depth", compared(1.0, "equivalent", False))]  # fmt: skip
    path: list[dict[str, Any]] = [{"changed": {}, "configuration": {}, "figure": figure}]
    path += [{"changed": {n: 1}, "configuration": {}, "figure": figure, "step": c, "total": c} for n, c in told]
    cost = {"runs": 90, "seconds": 9.0, "verdicts": {"ok": 90}, "stages": {}, "grid_seconds": None}
    return {
        "name": "hpl", "figure": "time", "unit": "s", "better": "lower", "sizes": [1.0, 2.0], "seed": 1,
        "configurations": 8, "winner": {"nb": 1}, "value": figure, "baselines": {"default": {}}, "against": "",
        "confirmation": None, "confirmed": None, "delta": 0.01, "path": path, "others": [], "together": together,
        "drift": None, "best": [], "failed": [], "cost": cost, "notes": [], "files": [],
    }  # fmt: skip


def shown(together: dict[str, Any] | None) -> str:
    out = io.StringIO()
    print_view(search_view(searched(together)), Console(file=out, width=200))
    return " ".join(out.getvalue().split())


def test_a_step_is_proven_beside_all_others_or_is_not() -> None:
    text = shown(None)
    assert "nb=1 2 s +25.0 % (+23.8 … +26.3 %) proven" in text
    assert "Changed, and not proven to matter: grid, depth." in text
    assert "equivalent" in text
    assert "not proven" in text
    assert "Chance that no other" not in text


@pytest.mark.parametrize(
    ("together", "said"),
    [
        (None, "None was tested"),
        (
            {"names": ["nb", "grid"], **compared(0.8, "faster", True)},
            "nb and grid together cost × 0.800 (0.792 … 0.808)",
        ),
        ({"names": ["nb", "grid"], **compared(0.99, "inconclusive", False)}, "of what they do one by one: not proven."),
    ],
)
def test_two_knobs_together(together: dict[str, Any] | None, said: str) -> None:
    assert said in shown(together)
