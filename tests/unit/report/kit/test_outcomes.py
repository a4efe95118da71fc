"""Which kind of outcome a run holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.report.impact.outcome import OUTCOME as IMPACT
from wulf.report.kit.outcomes import Outcome, outcome_in
from wulf.report.search.outcome import OUTCOME as SEARCH
from wulf.report.tune.outcome import OUTCOME as CAMPAIGN


@pytest.mark.parametrize("outcome", [CAMPAIGN, SEARCH, IMPACT])
def test_each_is_known_by_its_file(outcome: Outcome, tmp_path: Path) -> None:
    assert outcome_in(tmp_path) is None
    (tmp_path / outcome.file).write_text("{}")
    assert outcome_in(tmp_path) is outcome
