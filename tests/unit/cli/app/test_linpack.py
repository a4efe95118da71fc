"""`wulf app linpack`: from options to parameters."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from wulf.cli.app.linpack import linpack
from wulf.cli.mpi import command as mpi


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What would have been measured: parameters, and the other options."""
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def measured(name: str, options: dict[str, Any], work: Any) -> int:
        assert name == "linpack"
        found.append((work.keywords["params"], options))
        return 0

    monkeypatch.setattr(mpi, "measured", measured)
    return found


def test_a_grid_says_how_many_ranks(asked: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    words = "n1 n2 --n 4000 --nb 64 --grid 2x3 --lookahead 0 --blas libblas.so.3 --runs 6"
    assert CliRunner().invoke(linpack, words.split(), standalone_mode=False).exit_code == 0
    ((params, options),) = asked
    assert params | {"n": 4000, "nb": 64, "p": 2, "q": 3, "lookahead": 0, "blas": "libblas.so.3"} == params
    assert params["seconds"] == 0
    assert (options["ranks"], options["runs"]) == (6, 6)


def test_ranks_that_were_given_stay(asked: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    CliRunner().invoke(linpack, ["n1", "n2", "--grid", "1x4", "--per-node", "2"], standalone_mode=False)
    ((params, options),) = asked
    assert (options["ranks"], options["per_node"]) == (None, 2)
    assert "blas" not in params


@pytest.mark.parametrize("grid", ["2", "0x2", "2x", "x", "-1x2", "2x3x4"])
def test_what_is_no_grid_is_refused(grid: str, asked: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    result = CliRunner().invoke(linpack, ["n1", f"--grid={grid}"])
    assert result.exit_code == 2
    assert "rows x columns" in result.output
    assert not asked
