"""What docs/how-to/python.md shows does what it says, over simulated nodes."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wulf
from tests.unit.workflow.simulating import reach
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.simulated.cluster import SimulatedCluster
from wulf.workflow.net.survey import Survey

ROOT = Path(__file__).parents[3]
DOCS = (ROOT / "docs/how-to/python.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", DOCS, re.S)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where nodes are simulated, and pandas is there."""
    simulated = SimulatedCluster(("n1", "n2", "n3", "n4"))
    reach(monkeypatch, lambda inventory: NullLauncher(inventory, simulated))
    frame = type("DataFrame", (dict,), {"query": lambda self, text: self[text.split()[0]]})
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=frame))
    monkeypatch.setenv("WULF_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_the_page_begins_with_runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Survey, "page", False)  # which takes as long as all else
    wulf.Cluster("n[1-4]").survey(quick=True, out=place / "monday")
    names: dict[str, Any] = {}
    exec(BLOCKS[0], names)
    assert names["friday"].state == "complete" and names["results"].headline.startswith(
        "No node and no link stands out."
    )


def test_what_the_page_calls_is_there() -> None:
    """Of the blocks that need a lab: every method, with the keywords that it is given."""
    for call in (node for block in BLOCKS for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)):
        assert isinstance(call.func, ast.Attribute)
        places = (wulf, wulf.Cluster, wulf.Results)
        method = next((getattr(one, call.func.attr) for one in places if hasattr(one, call.func.attr)), None)
        assert method is not None or call.func.attr == "query", ast.unparse(call)


def test_the_errors_of_the_table_are_those_that_there_are() -> None:
    listed = re.findall(r"^\| `(\w+Error)` \|", DOCS, re.M)
    own = [name for name in wulf.__all__ if name.endswith("Error") and name != "WulfError"]
    assert sorted(listed) == own and all(issubclass(getattr(wulf, name), wulf.WulfError) for name in own)
