"""Which kind of outcome a run holds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from wulf.core.errors import WulfError
from wulf.report.foresight.outcome import OUTCOME as TRACE
from wulf.report.impact.outcome import OUTCOME as IMPACT
from wulf.report.kit.outcomes import Outcome, outcome_in
from wulf.report.search.outcome import OUTCOME as SEARCH
from wulf.report.tune.outcome import OUTCOME as CAMPAIGN


@pytest.mark.parametrize("outcome", [CAMPAIGN, SEARCH, IMPACT, TRACE])
def test_each_is_known_by_its_file(outcome: Outcome, tmp_path: Path) -> None:
    assert outcome_in(tmp_path) is None
    (tmp_path / outcome.file).write_text("{}")
    assert outcome_in(tmp_path) is outcome


@pytest.mark.parametrize("outcome", [CAMPAIGN, SEARCH, IMPACT, TRACE])
@pytest.mark.parametrize(
    "content",
    ["{}", '{"settings": 3}', "[]", "[" * 10_000, '{"rows": [{}]}', '{"settings": [null]}', "{", "\udcff", "NaN"],
)
def test_what_is_no_outcome_is_named_and_no_defect(outcome: Outcome, content: str, tmp_path: Path) -> None:
    """A run may come from anybody: `wulf report` ended as if wulf itself had failed."""
    (tmp_path / outcome.file).write_text(content, errors="surrogateescape")
    with pytest.raises(WulfError, match=outcome.file) as raised:
        outcome.read(tmp_path)
    assert (raised.value.exit_code, raised.value.next_step) == (2, outcome.rescue)


def test_a_number_in_the_place_of_a_text_is_named_too(tmp_path: Path) -> None:
    """The page's template has no element for it."""
    rank = {"rank": 0, "host": 10**30, "seconds": 1.0, "mpi_seconds": 0.5, "calls": {}}
    found = {
        "kind": "trace", "command": ["./app"], "size": 1, "ranks": [rank], "mpi": "", "faults": [], "calls": {},
        "pairs": [], "sizes": {}, "trace_bytes": 0,
    }  # fmt: skip
    (tmp_path / TRACE.file).write_text(json.dumps(found))
    with pytest.raises(WulfError, match=r"is no summary\.json of wulf"):
        TRACE.read(tmp_path)
    rank["host"] = "n1"
    (tmp_path / TRACE.file).write_text(json.dumps(found))
    assert TRACE.read(tmp_path) == found


@pytest.mark.parametrize("outcome", [CAMPAIGN, SEARCH, IMPACT, TRACE])
def test_nobody_waits_for_a_pipe(outcome: Outcome, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / outcome.file)
    with pytest.raises(WulfError, match="no regular file"):
        outcome.read(tmp_path)
