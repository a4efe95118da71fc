"""A run whose replicates resemble those before them says so, once, whatever its cells say by themselves."""

from __future__ import annotations

import numpy as np

from tests.unit.measure.node_records import record
from tests.wording import Wording, lacking
from wulf.core.findings import Severity
from wulf.core.records import Record
from wulf.findings.node.deviating import node_findings
from wulf.findings.resembling import resembling
from wulf.stats.series.streams import ar1

ROW = "os.syscall.null"


def survey(rho: float, seed: int = 1, nodes: int = 24) -> list[Record]:
    random = np.random.default_rng(seed)
    noise = np.exp(0.01 * np.stack([ar1(random, 8, rho) for _ in range(nodes)]))
    return [record(f"n{node}", ROW, 1e-7, samples=(1e-7 * x).tolist()) for node, x in enumerate(noise)]


def test_it_is_told_once_over_all_figures(wording: Wording) -> None:
    (found,) = resembling(survey(0.8))
    assert (found.kind, found.severity, found.subject) == ("noise", Severity.WARN, "")
    assert lacking(found.text, "24 figures", "8 amount to", "too narrow") == []
    wording(found.text)


def test_a_run_at_rest_says_nothing() -> None:
    assert resembling(survey(0.0)) == []
    assert resembling([]) == []


def test_of_one_figure_its_record_speaks() -> None:
    assert resembling(survey(0.9, seed=2, nodes=1)) == []


def test_a_node_survey_tells_it_among_its_findings() -> None:
    told = [f.text for f in node_findings(survey(0.8), {}) if f.kind == "noise"]
    assert told == [f.text for f in resembling(survey(0.8))]
