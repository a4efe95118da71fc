"""One-way delays: which way is slower is said only beyond the clocks' error."""

from __future__ import annotations

import pytest

from tests.wording import Wording
from wulf.core.findings import Severity
from wulf.core.records import Param, Record
from wulf.findings.net.asymmetry import asymmetry_findings


def records(value: float | None, half: float = 1e-6, error: float = 0.0, rtt: float = 1e-3) -> list[Record]:
    params: dict[str, Param] = {"pattern": "oneway", "transport": "udp", "bytes": 24}

    def one(metric: str, figure: float | None, low: float | None = None, high: float | None = None) -> Record:
        return Record.model_validate(
            {
                "run": "r", "subject": "n1>n2", "probe": "net", "metric": metric, "unit": "s", "params": params,
                "value": figure, "low": low, "high": high, "confidence": 0.95, "statistic": "median",
                "replicates": 8, "verdict": "ok" if figure is not None else "unresolved",
                "reason": None if figure is not None else "the clocks are not synchronised",
                "provenance": "measured", "at": "2026-01-01T00:00:00Z",
            }
        )  # fmt: skip

    bounds = (None, None) if value is None else (value - half, value + half)
    return [one("asymmetry", value, *bounds), one("clock_error", error), one("rtt", rtt)]


@pytest.mark.parametrize(("value", "slow"), [(2e-4, "n1 → n2"), (-2e-4, "n2 → n1")])
def test_the_slower_way_is_named(value: float, slow: str) -> None:
    (finding,) = asymmetry_findings(records(value))
    assert finding.severity is Severity.WARN
    assert finding.text.startswith(f"{slow} takes 200 µs longer ")
    assert "(199–201 µs; " in finding.text
    assert finding.evidence[0].value == value


def test_what_the_clocks_may_have_made_is_no_finding(wording: Wording) -> None:
    (finding,) = asymmetry_findings(records(2e-4, error=2.5e-4))
    assert finding.severity is Severity.INFO
    assert "between -51 µs and 451 µs" in finding.text
    assert "clocks' error of at most 250 µs included" in finding.text
    wording(finding.text)
    assert asymmetry_findings(records(2e-4, error=1e-4))[0].severity is Severity.WARN


def test_a_trifle_is_no_finding_however_sure() -> None:
    (finding,) = asymmetry_findings(records(4e-5, half=1e-9))
    assert finding.severity is Severity.INFO
    assert "no asymmetry to speak of" in finding.text


def test_no_figure_is_no_finding() -> None:
    assert asymmetry_findings(records(None)) == []
    others = [r.model_copy(update={"params": {"pattern": "pingpong"}}) for r in records(2e-4)]
    assert asymmetry_findings(others) == []
