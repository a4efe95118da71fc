"""What findings of some kinds say for programs, which reports read."""

from typing import Any

import pytest
from pydantic import ValidationError

from wulf.core.errors import UsageError
from wulf.core.findings import Finding, evidence_of

EXPECTED = {"share": 0.9, "source": "the line rate", "slow": 0, "of": 3, "least": 0.8}


def finding(kind: str, about: dict[str, Any], evidence: int = 1) -> Finding:
    told = [{"subject": "n1", "metric": "rtt"}] * evidence
    given = {"kind": kind, "severity": "info", "subject": "", "text": "", "about": about, "evidence": told}
    return Finding.model_validate(given)


@pytest.mark.parametrize(
    ("kind", "about", "why"),
    [
        ("launch", {"places": -1}, "about.places: Input should be a valid list"),
        ("launch", {"places": [1]}, "about.places.0: Input should be a valid string"),
        ("expected", {key: value for key, value in EXPECTED.items() if key != "slow"}, "about.slow: Field required"),
        ("expected", EXPECTED | {"share": "x"}, "about.share: Input should be a valid number"),
    ],
)
def test_what_reports_could_not_read_is_refused(kind: str, about: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        finding(kind, about)


def test_what_is_expected_has_evidence() -> None:
    with pytest.raises(ValidationError, match="without evidence"):
        finding("expected", EXPECTED, evidence=0)


def test_there_may_be_more_and_other_kinds_say_what_they_like() -> None:
    assert finding("expected", EXPECTED).about == EXPECTED
    assert finding("launch", {"mpi": "Open MPI"}).about == {"mpi": "Open MPI"}
    assert finding("other", {"places": -1}).about == {"places": -1}


def test_evidence_that_is_none_is_named() -> None:
    assert evidence_of({"subject": "n1", "metric": "rtt", "value": 1e-5}).value == 1e-5
    with pytest.raises(UsageError, match=r"a record's evidence has no sound metric: Field required"):
        evidence_of({"subject": "n1"})
