"""The example notebook shows what it says, and what it holds is what its cells show."""

from __future__ import annotations

from pathlib import Path

import pytest

import wulf
from tests.notebooks import Notebook, kinds
from tests.wording import UPDATING

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]

NOTEBOOK = Path(__file__).parents[3] / "docs" / "how-to" / "notebook.ipynb"

LARGEST = 300_000
"""Bytes: it is kept with its outputs, and read on the web."""


@pytest.mark.full
def test_every_cell_runs_and_what_is_kept_is_what_they_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WULF_UPDATE=1 keeps what this run has shown."""
    notebook = Notebook(NOTEBOOK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WULF_RUNS", raising=False)
    try:
        shown = notebook.run()
    finally:
        if "cluster" in notebook.names:
            notebook.names["cluster"].close()
    if UPDATING:
        notebook.keep(shown)
    assert kinds([cell["outputs"] for cell in Notebook(NOTEBOOK).code]) == kinds(shown)
    assert NOTEBOOK.stat().st_size < LARGEST
    monday: wulf.Results = notebook.names["monday"]
    assert {finding.subject for finding in monday.findings if finding.kind in ("node", "link")} == {"n3"}
    assert [run.command for run in wulf.runs()] == ["survey", "net-stream", "net-stream"]
    change = wulf.compare(notebook.names["before"], notebook.names["after"]).table()
    assert len(change) == 1 and change["verdict"][0] in ("faster", "inconclusive") and change["ratio"][0] > 2
