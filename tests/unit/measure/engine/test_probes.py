"""Parameters are refused before a node is touched, with field, value and limit."""

from __future__ import annotations

import pytest

from wulf.core.errors import UsageError
from wulf.measure.engine.probes import Probe

DESCRIBED = {
    "program": "wulf-net", "version": "1", "protocol": 1, "ops": [],
    "transports": [{"name": "tcp", "max_bytes": 16777216}, {"name": "udp", "max_bytes": 65507}],
    "patterns": [{
        "name": "pingpong", "help": "there and back", "transports": ["tcp", "udp"],
        "params": [
            {"name": "bytes", "type": "int", "unit": "B", "default": 1, "min": 1, "max": 16777216, "help": "size"},
            {"name": "seconds", "type": "float", "unit": "s", "default": 0.1, "min": 0.001, "max": 3600},
            {"name": "nodelay", "type": "bool", "default": True},
        ],
        "metrics": [{"name": "rtt", "unit": "s", "better": "lower"}],
    }],
}  # fmt: skip
PROBE = Probe.from_describe(DESCRIBED)


@pytest.mark.parametrize(
    ("transport", "params", "words"),
    [
        ("tcp", {"bytes": 0}, "bytes = 0 B is too small"),
        ("tcp", {"bytes": 2**25}, "bytes = 33554432 B is too large"),
        ("udp", {"bytes": 65508}, "more than udp carries"),
        ("tcp", {"bytes": 1.5}, "not an int"),
        ("tcp", {"bytes": True}, "not an int"),
        ("tcp", {"byte": 1}, "no parameter 'byte'"),
        ("tcp", {"nodelay": "yes"}, "not a bool"),
        ("sctp", {}, "can't use transport 'sctp'"),
    ],
)
def test_refused(transport: str, params: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        PROBE.check("pingpong", transport, params)  # type: ignore[arg-type]
    assert words in caught.value.what
    assert caught.value.exit_code == 2


def test_unknown_pattern_names_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        PROBE.pattern("burst")
    assert "pingpong" in caught.value.next_step


def test_a_typo_gets_a_guess() -> None:
    with pytest.raises(UsageError) as caught:
        PROBE.check("pingpong", "tcp", {"byte": 1})
    assert caught.value.next_step == "did you mean 'bytes'?"


def test_good_parameters_pass_unchanged() -> None:
    assert PROBE.check("pingpong", "udp", {"bytes": 65507, "seconds": 1}) == {"bytes": 65507, "seconds": 1}


def test_a_transport_that_stays_within_a_node_reaches_no_other() -> None:
    local = [{"name": name, "max_bytes": 8, "local": True} for name in ("shm", "null")]
    probe = Probe.from_describe({**DESCRIBED, "transports": [*local, *DESCRIBED["transports"]]})  # type: ignore[misc]
    assert probe.local == {"shm", "null"}
    probe.check_ends("null", "n1", "n2")
    probe.check_ends("shm", "n1", "n1")
    probe.check_ends("tcp", "n1", "n2")
    with pytest.raises(UsageError, match="shm stays within one node"):
        probe.check_ends("shm", "n1", "n2")
