"""`wulf mpi graph`: what its options come to."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from wulf.cli.mpi import command as mpi
from wulf.core.errors import UsageError


def asked(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, Any]:
    """What the study is made of."""
    seen: list[dict[str, Any]] = []

    def measured(name: str, options: dict[str, Any], study: Any) -> int:
        assert name == "graph"
        seen.append(study.keywords)
        return 0

    monkeypatch.setattr(mpi, "measured", measured)
    result = CliRunner().invoke(mpi.command, ["graph", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return seen[0]


def test_all_patterns_unless_some_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    every = ("none", "stencil", "fft", "tree", "all")
    assert asked(monkeypatch, "n[1-4]") == {"patterns": every, "params": {"bytes": 16}}
    some = asked(monkeypatch, "n[1-4]", "--pattern", "tree, none,tree", "--bytes", "4096")
    assert some == {"patterns": ("tree", "none"), "params": {"bytes": 4096}}


def test_a_pattern_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="--pattern ring: no such pattern"):
        asked(monkeypatch, "--pattern", "fft,ring")
