"""`wulf mpi farm`: what its options come to."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from wulf.cli.mpi import command as mpi
from wulf.core.errors import UsageError
from wulf.measure.mpi.farm import Design


def asked(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that reach `measured`, and what the work was given."""
    seen: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def measured(name: str, options: dict[str, Any], work: Any) -> int:
        assert name == "farm"
        seen.append((options, work.keywords))
        return 0

    monkeypatch.setattr(mpi, "measured", measured)
    result = CliRunner().invoke(mpi.command, ["farm", *arguments])
    assert result.exit_code == 0, result.output
    return seen[0]


def test_there_are_as_many_ranks_as_the_most_workers_need(monkeypatch: pytest.MonkeyPatch) -> None:
    options, given = asked(monkeypatch, "n[1-4]", "--workers", "7, 1,3,3", "--batch", "10,1", "--metg")
    assert options["ranks"] == 8
    assert options["nodes_given"] == ("n[1-4]",)
    work = {"unit": "sha1", "bytes": 32768}
    assert given == {"design": Design((1, 3, 7), (1, 10), 10_000, work, "async"), "search": True}


def test_more_ranks_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    options, given = asked(
        monkeypatch,
        "--ranks",
        "12",
        "--unit",
        "spin",
        "--spin-seconds",
        "1e-4",
        "--style",
        "plain",
        "--units",
        "50",
        "--threads",
        "3",
    )
    assert options["ranks"] == 12
    work = {"unit": "spin", "spin_seconds": 1e-4}
    assert given == {"design": Design((1, 3, 7), (1, 2, 4, 10, 100), 50, work, "plain", 3), "search": False}


@pytest.mark.parametrize("workers", ["0", "1,x", "", "-1", "1.5", "9" * 5000])
def test_numbers_that_are_none_are_refused(workers: str) -> None:
    result = CliRunner().invoke(mpi.command, ["farm", "--workers", workers])
    assert result.exit_code == 2
    assert "--workers" in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_kinds_of_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    _, given = asked(monkeypatch, "--kinds", "1:0.5, 10:0.5")
    assert given["design"].kinds == "1:0.5,10:0.5"


@pytest.mark.parametrize("kinds", ["1", "1:x", "0:1", "1:nan", "1:1,", ",".join(["1:1"] * 17)])
def test_kinds_that_are_none_are_refused(kinds: str) -> None:
    result = CliRunner().invoke(mpi.command, ["farm", "--kinds", kinds])
    assert isinstance(result.exception, UsageError)
    assert "--kinds" in str(result.exception)
