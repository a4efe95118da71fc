"""The shapes of answers beside the programs that answer: all operations, and what this machine really says."""

from __future__ import annotations

import json
import subprocess
from typing import Any, NotRequired, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict, get_type_hints

from tests.machines import tree
from wulf.agent.facts import all_facts
from wulf.agent.operations import OPERATIONS
from wulf.cluster.answers import SHAPES, fault
from wulf.cluster.programs import find_program
from wulf.core.errors import UsageError

ASKED: dict[str, dict[str, Any]] = {
    "ping": {},
    "describe": {},
    "facts": {},
    "settings": {"read": [{"name": "tcp.sack", "mechanism": "sysctl", "target": {"key": "net.ipv4.tcp_sack"}}]},
    "addresses": {},
    "occupancy": {},
    "run": {"probe": "dgemm", "params": {"n": 16, "seconds": 0.001}},
    "blas_find": {},
    "compiler_find": {"wrappers": ["cc"]},
    "file_digest": {"path": "/none"},
    "mpi_find": {},
    "mpi_progress": {},
    "mpi_look": {"path": "/bin/sh"},
    "mpi_read": {"path": "/etc/hostname"},
    "mpi_processes": {"pids": [1, 999999999]},
    "mpi_reach": {"hosts": []},
    "app_find": {"names": ["sh", "no-such-program", "python3:json"]},
    "app_counters": {},
    "change_status": {},
}


@pytest.mark.parametrize("program", ["wulf-net", "wulf-node"])
def test_every_operation_of_a_probe_has_a_shape(program: str) -> None:
    try:
        found = find_program(program)
    except UsageError as error:
        pytest.skip(str(error))
    said = subprocess.run([str(found.path), "--describe"], check=True, capture_output=True, timeout=30).stdout
    described = json.loads(said)
    assert set(SHAPES[program]) == set(described["ops"])
    assert fault(program, "describe", {"describe": described}) is None


def test_every_operation_of_the_agent_has_a_shape() -> None:
    assert set(SHAPES["wulf-agent"]) == set(OPERATIONS)


@pytest.mark.parametrize("op", ASKED)
def test_what_the_agent_answers_here_has_its_shape(op: str) -> None:
    answer = json.loads(json.dumps(OPERATIONS[op](**ASKED[op])))
    assert fault("wulf-agent", op, {"id": 1, "ok": True, **answer}) is None


@pytest.mark.parametrize("machine", tree.names())
def test_the_facts_of_recorded_machines_have_their_shape(machine: str) -> None:
    facts = json.loads((tree.FOLDER / machine / "expected.json").read_text(encoding="utf-8"))
    assert fault("wulf-agent", "facts", {"facts": facts}) is None


@pytest.mark.parametrize("fact", [fact.name.replace("*", "x1") for fact in all_facts() if fact.unit is not None])
@pytest.mark.parametrize("value", ["8", "", False, [8], {"is": 8}])
def test_a_quantity_among_the_facts_is_a_figure(fact: str, value: Any) -> None:
    assert f"{fact} is no figure" in str(fault("wulf-agent", "facts", {"facts": {fact: {"value": value}}}))
    assert fault("wulf-agent", "facts", {"facts": {fact: {"value": None, "reason": "not there"}}}) is None


@pytest.mark.parametrize("field", ["reason", "startup_reason"])
def test_why_a_setting_can_not_be_read_is_a_text(field: str) -> None:
    """Settings are put into groups by it: a list in its place ended the audit of all nodes."""
    reading = {"value": 1, field: [[[]]]}
    assert field in str(fault("wulf-agent", "settings", {"settings": {"tcp.sack": {"": reading}}}))


@pytest.mark.parametrize(
    ("address", "prefix", "sound"),
    [
        ("10.0.0.1", 24, True), ("fe80::1%eth0", 64, True), ("::1", 128, True),
        ("", 24, False), ("n1", 24, False), ("\x1b[31m", 24, False), ("10.0.0.1", 33, False), ("10.0.0.1/8", 24, False),
    ],
)  # fmt: skip
def test_an_address_is_one_that_an_interface_can_have(address: str, prefix: int, sound: bool) -> None:
    """What was none ended the survey of all nodes."""
    found = fault(
        "wulf-agent", "addresses", {"addresses": [{"interface": "eth0", "address": address, "prefix": prefix}]}
    )
    assert (found is None) is sound, found


@pytest.mark.parametrize(
    "changed",
    [{"min": "1"}, {"max": [1]}, {"type": "list"}, {"choices": [1]}, {"unit": None}, {"help": 1}, {"default": [1]}],
    ids=str,
)
def test_a_parameter_is_described_by_what_it_is_checked_with(changed: dict[str, Any]) -> None:
    """A least value that is a text ended the survey of all nodes."""
    param = {"name": "bytes", "type": "int", "unit": "B", "default": 1, "min": 1, "max": 8, "help": "size"}
    probe = {"name": "chase", "params": [param], "metrics": []}
    described = {"program": "wulf-node", "probes": [probe]}
    assert fault("wulf-node", "describe", {"describe": described}) is None
    probe["params"] = [{**param, **changed}]
    assert next(iter(changed)) in str(fault("wulf-node", "describe", {"describe": described}))


def test_a_run_of_an_application_has_its_shape_whether_it_starts_or_not() -> None:
    for command in (["true"], ["sh", "-c", "kill -9 $$"], ["/no/such/program"]):
        made = OPERATIONS["app_folder"](name="shape")
        assert fault("wulf-agent", "app_folder", made) is None
        try:
            ran = OPERATIONS["app_run"](command=command, folder=made["folder"], timeout=20)
        finally:
            OPERATIONS["app_clear"](folder=made["folder"])
        assert fault("wulf-agent", "app_run", json.loads(json.dumps(ran))) is None, ran


def _needed(shape: Any) -> dict[str, Any]:
    """Field → type."""
    hints = get_type_hints(shape, include_extras=True) if hasattr(shape, "__required_keys__") else {}
    return {name: kind for name, kind in hints.items() if get_origin(kind) is not NotRequired}


REQUIRED = [
    (program, op, field)
    for program, shapes in SHAPES.items()
    for op, shape in shapes.items()
    for field in _needed(shape)
]


@pytest.mark.parametrize(("program", "op", "field"), REQUIRED)
def test_a_field_that_is_needed_is_missed_and_held_against_its_type(program: str, op: str, field: str) -> None:
    alone: Any = TypedDict("alone", {field: _needed(SHAPES[program][op])[field]})
    kept = TypeAdapter(alone)
    for answer in ({}, {field: [[["nonsense"]]]}):
        with pytest.raises(ValidationError, match=field):
            kept.validate_python(answer, strict=True)
    assert fault(program, op, {"id": 1, "ok": True}) is not None


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("counters", {"client": {"cpu": {"all": {"user": 0.1}}, "missing": ["/proc/softirqs"]}}, None),
        ("counters", {"client": {"cpu": 5}}, "cpu is no table"),
        ("counters", {"server": 5}, "server has no counters"),
        ("during", {"client": {"tcp": {"counts": {"lost": 1}, "gauges": {"rtt": {"max": 0.1}}}, "samples": 3}}, None),
        ("during", {"client": {"tcp": {"counts": {"lost": 1}}}}, "gauges"),
        ("during", {"client": {"tcp": {"counts": {"lost": "1"}, "gauges": {}}}}, "lost"),
        ("info", {"started_at": 12.5, "late_seconds": 0.0, "cpu": 1}, None),
        ("info", {"late_seconds": "late"}, "late_seconds"),
    ],
)  # fmt: skip
def test_what_a_replicate_says_besides_its_figures_is_held_to_what_is_read_of_it(
    field: str, value: Any, why: str | None
) -> None:
    sound = {"metrics": {"rtt": {"value": 1e-5}}, "seconds": 0.1, "counters": {}, "info": {}, "during": None}
    found = fault("wulf-net", "run", {**sound, field: value})
    assert found is None if why is None else why in str(found)


def test_a_class_of_sizes_that_no_message_has_is_refused() -> None:
    """2^number is made of it: a number beyond all lengths would take all memory."""
    calls = {"MPI_Send": {"kind": "send", "calls": 1, "bytes": 8, "same": 0.0, "other": 0.1, "open": 0.0}}
    profile = {
        "rank": 0, "ranks": 1, "host": "n1", "library": "Open MPI", "several_threads": False, "init": 0.1,
        "seconds": 1.0, "finalize": 0.1, "cost": 1e-7, "calls": calls,
    }  # fmt: skip
    for number, why in ((64, None), (65, "no messages of 2^65 bytes"), (1 << 40, "no messages of 2^")):
        sent = {"same": [], "other": [[number, 1, 8]], "open": []}
        found = fault("wulf-agent", "profile_read", {"profiles": [{**profile, "sent": sent}], "torn": []})
        assert found is None if why is None else why in str(found)


@pytest.mark.parametrize(
    ("event", "sound"),
    [
        (["line", 1, "text"], True), (["line", 1, "text", False], True), (["stderr", 1, "text"], True),
        (["end", 1, 0, None], True), (["end", 1, None, 9], True),
        (["line", 1], False), (["line", "1", "text"], False), (["line", 1, 7], False), (["end", 1], False),
        (["end", 1, "0", None], False), (["begin", 1, "text"], False), (["stderr", 1, "text", "more"], False),
    ],
)  # fmt: skip
def test_an_event_of_a_gateway_that_is_none_is_refused(event: list[Any], sound: bool) -> None:
    """It ended what waited for all nodes behind that gateway."""
    found = fault("wulf-agent", "relayed", {"events": [event]})
    assert found is None if sound else "is no event of a program" in str(found)


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/b", "", ".", "..", "a\nb", "-rf", "x" * 300])
def test_no_name_of_a_node_leads_out_of_the_folder_that_it_is_for(name: str) -> None:
    assert fault("wulf-agent", "trace_look", {"files": [{"name": name, "bytes": 1}]}) is not None
    assert fault("wulf-agent", "mpi_key", {"key": name, "path": "/x", "digest": None}) is not None
