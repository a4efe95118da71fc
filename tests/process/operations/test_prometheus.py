"""Alert rules and dashboard: they name no metric that is not shown, and the dashboard is as Grafana's schema has it."""

# ruff: noqa: N815 - the fields are named as Grafana names them

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from tests.process.operations.templates import FOLDER
from wulf.rates.exposition import FAMILIES
from wulf.sentry.metrics import TABLE

RULES = (FOLDER / "prometheus" / "wulf-alerts.yml").read_text()
RULES_TEST = (FOLDER / "prometheus" / "wulf-alerts.test.yml").read_text()
DASHBOARD = FOLDER / "grafana" / "wulf.json"
SHOWN = {family.sample_name for family in (*TABLE.values(), *FAMILIES)}
SCHEMAS = os.environ.get("GRAFANA_SCHEMAS", "")
"""The folder `jsonschema` of grafana/grafana-foundation-sdk, which is not ours to carry."""


def dashboard() -> dict[str, Any]:
    loaded = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def queries() -> Iterator[str]:
    """All that the dashboard asks Prometheus."""
    read = dashboard()
    for panel in read["panels"]:
        yield from (target["expr"] for target in panel.get("targets", []))
    yield from (one["expr"] for one in read["annotations"]["list"])
    yield from (one["definition"] for one in read["templating"]["list"] if one["type"] == "query")


def named(text: str) -> set[str]:
    return set(re.findall(r"\bwulf_[a-z_]+", text))


def test_rules_name_metrics_that_are_shown() -> None:
    assert named("".join(re.findall(r"expr: (.*)", RULES))) <= SHOWN
    assert named("".join(re.findall(r"series: (.*)", RULES_TEST))) <= SHOWN


def test_the_page_has_every_metric_and_no_other() -> None:
    page = (FOLDER.parents[1] / "docs" / "how-to" / "prometheus.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("| `wulf_")]
    assert named("\n".join(table)) == {family.sample_name for family in TABLE.values()}


def test_each_rule_has_a_test_that_fires_and_one_that_does_not() -> None:
    alerts = set(re.findall(r"- alert: (\w+)", RULES))
    assert len(alerts) == 10
    fires = set(re.findall(r"alertname: (\w+)\n +exp_alerts:\n +- exp_labels", RULES_TEST))
    quiet = set(re.findall(r"alertname: (\w+),? *\n? *exp_alerts: \[\]", RULES_TEST))
    assert (fires, quiet) == (alerts, alerts)


def test_the_dashboard_asks_for_metrics_that_are_shown() -> None:
    asked = [named(query) for query in queries()]
    assert all(asked), "a panel without any metric of ours"
    assert set().union(*asked) <= SHOWN


def test_what_the_dashboard_asks_of_labels_is_there() -> None:
    """A label that no metric has makes a query empty, not wrong."""
    labels = {"class", "metric", "node", "severity", "state", "kind", "channel", "family", "sender", "receiver", "what"}
    for query in (*queries(), *re.findall(r"expr: (.*)", RULES)):
        inside = re.findall(r"\{([^}]*)\}", query) + re.findall(r"\b(?:by|on) \(([^)]*)\)", query)
        for part in inside:
            assert set(re.findall(r"(\w+)(?=!?=)|(?:^|, )(\w+)(?=,|$)", part)) <= {
                *((name, "") for name in labels), *(("", name) for name in labels),
            }, query  # fmt: skip


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Source(Strict):
    type: Literal["prometheus"]
    uid: Literal["${datasource}"]


class Grid(Strict):
    x: int = Field(ge=0, lt=24)
    y: int = Field(ge=0)
    w: int = Field(gt=0, le=24)
    h: int = Field(gt=0)


class Query(Strict):
    refId: str
    datasource: Source
    expr: str = Field(min_length=1)
    editorMode: Literal["code", "builder"]
    format: Literal["time_series", "table", "heatmap"]
    instant: bool
    range: bool
    legendFormat: str = ""


class Override(Strict):
    matcher: dict[str, str]
    properties: list[dict[str, Any]]


class Fields(Strict):
    defaults: dict[str, Any]
    overrides: list[Override]


class Panel(Strict):
    id: int
    type: Literal["stat", "timeseries", "table"]
    title: str
    description: str
    datasource: Source
    gridPos: Grid
    targets: list[Query] = Field(min_length=1)
    fieldConfig: Fields
    options: dict[str, Any]
    transformations: list[dict[str, Any]] = []


class Row(Strict):
    id: int
    type: Literal["row"]
    title: str
    collapsed: bool
    gridPos: Grid
    panels: list[Panel]


class Dashboard(Strict):
    uid: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,40}$")
    title: str
    description: str
    tags: list[str]
    timezone: str
    editable: bool
    graphTooltip: Literal[0, 1, 2]
    time: dict[str, str]
    refresh: str
    schemaVersion: int = Field(ge=36)
    version: int
    annotations: dict[str, list[dict[str, Any]]]
    templating: dict[str, list[dict[str, Any]]]
    links: list[dict[str, Any]]
    panels: list[Panel | Row]


def test_the_dashboard_has_the_fields_that_grafana_knows() -> None:
    """As Grafana's own schema has them, where that is not at hand; the whole of it is held against it below."""
    read = Dashboard.model_validate(dashboard())
    numbers = [panel.id for panel in read.panels]
    assert len(set(numbers)) == len(numbers)
    for panel in read.panels:
        assert panel.gridPos.x + panel.gridPos.w <= 24
    places = [(p.gridPos.x, p.gridPos.y, p.gridPos.w, p.gridPos.h) for p in read.panels]
    for i, (x, y, w, h) in enumerate(places):
        for ox, oy, ow, oh in places[:i]:
            assert x >= ox + ow or ox >= x + w or y >= oy + oh or oy >= y + h, "panels overlap"


@pytest.mark.skipif(not SCHEMAS, reason="GRAFANA_SCHEMAS names no folder of grafana-foundation-sdk's jsonschema")
def test_the_dashboard_is_valid_by_grafanas_published_schema() -> None:
    from jsonschema import Draft7Validator

    read = dashboard()
    found = [*Draft7Validator(schema("dashboard", "Dashboard")).iter_errors(read)]
    for panel in read["panels"]:
        if panel["type"] == "row":
            continue
        held = [(panel["type"], "Options", panel["options"])]
        held += [("prometheus", "Dataquery", target) for target in panel["targets"]]
        if custom := panel["fieldConfig"]["defaults"].get("custom"):
            held.append((panel["type"], "FieldConfig", custom))
        for name, part, value in held:
            found += Draft7Validator(schema(name, part)).iter_errors(value)
    assert [error.message for error in found] == []


def schema(name: str, part: str) -> dict[str, Any]:
    """What CUE's schema leaves open (`_`), the JSON one says to be an object; and what one field tells apart it says to
    be one of several that it does not tell apart. Both are taken as CUE has them.
    """
    loaded = opened(json.loads((Path(SCHEMAS) / f"{name}.jsonschema.json").read_text(encoding="utf-8")))
    return {**loaded, "$ref": f"#/definitions/{part}"}


def opened(part: Any) -> Any:
    if isinstance(part, list):
        return [opened(one) for one in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "object" and part.get("additionalProperties") == {}:
        return {}
    return {"anyOf" if name == "oneOf" else name: opened(value) for name, value in part.items()}
