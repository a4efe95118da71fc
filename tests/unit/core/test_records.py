"""The record's contract: nulls need reasons, unknown fields stay, the published schema is the code's."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from typing_extensions import TypedDict

from wulf.core.errors import UsageError
from wulf.core.records import Record, passes_of, record_schema

ROOT = Path(__file__).parents[3]


def make(**changes: object) -> Record:
    fields = {
        "run": "r", "subject": "n1>n2", "probe": "net", "metric": "rtt", "unit": "s",
        "value": 1.0, "verdict": "ok", "at": "2026-01-01T00:00:00.000Z",
    }  # fmt: skip
    return Record.model_validate(fields | changes)


def test_every_sample_has_a_pass_or_none_has() -> None:
    assert passes_of(make(samples=[1.0, 2.0])) == range(2)
    assert passes_of(make(samples=[1.0, 2.0], blocks=[0, 3])) == [0, 3]
    with pytest.raises(ValidationError, match="passes for 1 of 2 samples"):
        make(samples=[1.0, 2.0], blocks=[0])


def test_a_null_value_needs_a_reason() -> None:
    with pytest.raises(ValidationError, match="a null value needs a reason"):
        make(value=None)
    assert make(value=None, verdict="unresolved", reason="no samples").value is None


@pytest.mark.parametrize("verdict", ["failed", "unresolved"])
def test_a_bad_verdict_needs_a_reason(verdict: str) -> None:
    with pytest.raises(ValidationError, match="needs a reason"):
        make(verdict=verdict)


def test_fields_of_newer_versions_survive() -> None:
    line = make(colour="blue").model_dump_json()
    assert Record.model_validate_json(line).model_extra == {"colour": "blue"}


def test_json_holds_no_field_without_anything_to_say() -> None:
    line = json.loads(make(phase="pairs", blocks=[], flags={}, supported=True).model_dump_json())
    assert line["phase"] == "pairs"
    assert not {"blocks", "flags", "supported", "row", "bottleneck"} & set(line)
    assert json.loads(make(supported=False, failed_replicates=0).model_dump_json()).keys() >= {
        "supported", "failed_replicates", "value", "reason",
    }  # fmt: skip


def test_nodes_of_a_pair_and_of_a_node() -> None:
    assert make().nodes == ("n1", "n2")
    assert make(subject="n1").nodes == ("n1",)


def test_client_and_server_are_those_of_a_pair() -> None:
    assert make().pair == ("n1", "n2")
    for subject in ("", "n1", "n1>n2>n3"):
        with pytest.raises(UsageError, match=r"a record of .* is of no pair"):
            _ = make(subject=subject).pair


def test_published_schema_is_the_code() -> None:
    published = json.loads((ROOT / "docs" / "reference" / "record.schema.json").read_text())
    assert published == record_schema(), "run `wulf schema > docs/reference/record.schema.json`"


def test_parameters_come_as_what_they_are_asked_for() -> None:
    record = make(params={"bytes": 64, "seconds": 0.5, "op": "Bcast", "cpu": None})
    assert (record.number("bytes"), record.number("seconds"), record.number("cpu", 3)) == (64, 0.5, 3)
    assert (record.text("op"), record.text("bytes")) == ("Bcast", "64")


@pytest.mark.parametrize("value", ["\x1b[31m", True, None, "64"])
def test_what_is_no_number_is_named(value: object) -> None:
    with pytest.raises(UsageError, match=r"a record of n1>n2 rtt \(sweep\) has no number of bytes: "):
        make(params={"bytes": value}, phase="sweep").number("bytes")


@pytest.mark.parametrize("params", [{}, {"op": None}])
def test_a_parameter_that_is_not_there_is_named(params: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"has no value of op: None"):
        make(params=params).text("op")


class Said(TypedDict, total=False):
    shares: dict[str, float]


def test_what_a_program_said_besides_comes_as_who_reads_it_knows_it() -> None:
    info = {"shares": {"panel": 0.1}, "more": "of it"}
    assert make(info=info).said(Said) == info
    assert make().said(Said) == {}


def test_what_it_never_says_is_named() -> None:
    record = make(info={"shares": {"panel": "much"}}, phase="sweep")
    with pytest.raises(UsageError, match=r"a record of n1>n2 rtt \(sweep\) has no sound info\.shares\.panel: "):
        record.said(Said)


@pytest.mark.parametrize(
    ("counters", "why"),
    [
        ({"client": {"cpu": {"0": {"user": 1.5}}, "ctxt": 3, "vm": {"pgfault": 2}, "missing": ["/proc/stat"]}}, None),
        ({}, None),
        ({"client": 5}, "client has no counters: 5"),
        ({"server": {"cpu": 5}}, "cpu is no table of figures: 5"),
        ({"server": {"softnet": {"0": 5}}}, "softnet is no table of figures"),
        ({"server": {"ctxt": "many"}}, "ctxt is no figure: 'many'"),
    ],
)  # fmt: skip
def test_counters_are_a_hosts_by_where_they_were_read(counters: dict[str, Any], why: str | None) -> None:
    if why is None:
        assert make(counters=counters).counters == counters
    else:
        with pytest.raises(ValidationError, match=why):
            make(counters=counters)


def test_what_limits_a_figure_is_a_rule_with_its_words() -> None:
    limit = {"rule": "cpu", "subject": "n1", "text": "one core", "next_step": "", "severity": "info", "evidence": []}
    assert make(bottleneck=[limit]).bottleneck == [limit]
    for name in limit:
        with pytest.raises(ValidationError, match=name):
            make(bottleneck=[{key: value for key, value in limit.items() if key != name}])
