"""The second configuration of --versus, as text."""

from __future__ import annotations

import pytest

from wulf.cli.net.command import parse_changes
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.measure.engine.probes import Metric, Pattern

PATTERN = Pattern(
    "pingpong",
    "",
    ("tcp",),
    tuple(
        ParamSpec(name=name, type=kind, unit="", default=None, help="")
        for name, kind in (("bytes", "int"), ("nodelay", "bool"), ("seconds", "float"), ("server_cpu", "int"))
    ),
    (Metric("rtt", "s"),),
)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("", {}),
        ("nodelay=false", {"nodelay": False}),
        ("bytes=64, seconds=0.5", {"bytes": 64, "seconds": 0.5}),
        ("server-cpu=3", {"server_cpu": 3}),
    ],
)
def test_assignments(text: str, changes: dict[str, object]) -> None:
    assert parse_changes(PATTERN, text) == changes


def test_the_network_may_differ_too() -> None:
    assert parse_changes(PATTERN, "network=10.1.0.0/24,bytes=8") == {"network": "10.1.0.0/24", "bytes": 8}


@pytest.mark.parametrize("text", ["nodelay", "colour=red", "bytes=many", "nodelay=perhaps", "=3"])
def test_what_is_no_assignment_is_named(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_changes(PATTERN, text)
    assert text in caught.value.what
