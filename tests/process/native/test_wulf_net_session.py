"""The session contract, on the built program."""

from __future__ import annotations

import json
import os
import platform
import subprocess

import pytest

from tests.processes import wait_until

from .raw import descriptors, status
from .session import KEY, Pair, Session, binary


def test_greeting_names_program_protocol_and_host() -> None:
    with Session() as session:
        hello = session.hello
        assert hello["hello"] == "wulf-net"
        assert hello["protocol"] == 1
        assert hello["host"] == platform.node()
        assert hello["arch"] == platform.machine()
        assert hello["pid"] == session.process.pid


def test_describe_flag_and_operation_agree_and_are_complete() -> None:
    printed = json.loads(subprocess.run([binary(), "--describe"], check=True, capture_output=True).stdout)
    with Session() as session:
        assert session.ask("describe")["describe"] == printed
    assert set(printed["ops"]) == {"ping", "describe", "counters", "clock", "serve", "stop", "run"}
    limits = {transport["name"]: transport["max_bytes"] for transport in printed["transports"]}
    assert limits == {
        "null": 16777216, "pipe": 16777216, "shm": 16777216, "tcp": 16777216, "udp": 65507, "unix": 16777216,
        "unixgram": 65536,
    }  # fmt: skip
    local = {transport["name"] for transport in printed["transports"] if transport["local"]}
    assert local == {"null", "pipe", "shm", "unix", "unixgram"}
    patterns = {pattern["name"]: pattern for pattern in printed["patterns"]}
    assert patterns["pingpong"]["transports"] == sorted(limits)
    assert patterns["stream"]["transports"] == ["pipe", "shm", "tcp", "udp", "unix", "unixgram"]
    assert patterns["connect"]["transports"] == ["tcp"]
    params = {param["name"]: param for param in patterns["pingpong"]["params"]}
    assert params["bytes"] | {"help": ""} == {
        "name": "bytes", "type": "int", "unit": "B", "default": 1, "min": 1, "max": 16777216, "help": "",
    }  # fmt: skip
    assert {"seconds", "count", "warmup_seconds", "sndbuf", "rcvbuf", "nodelay", "cpu", "server_cpu", "timeout"} <= set(
        params
    )


def test_help_and_version_and_unknown_option() -> None:
    assert b"JSON Lines" in subprocess.run([binary(), "--help"], check=True, capture_output=True).stdout
    version = subprocess.run([binary(), "--version"], check=True, capture_output=True, text=True).stdout
    assert version.startswith("wulf-net ")
    assert subprocess.run([binary(), "--fast"], check=False, capture_output=True).returncode != 0


def test_clock_and_counters() -> None:
    with Session() as session:
        clock = session.ask("clock")
        assert 0 < clock["overhead"] < 1e-4
        assert 1e-9 <= clock["resolution"] < 0.1
        counters = session.ask("counters")["counters"]
        assert counters["cpu"]["all"]["user"] > 0
        assert "lo" in counters["nic"]


def test_bad_requests_are_answered_and_the_session_goes_on() -> None:
    with Session() as session:
        session.write("this is not json\n")
        assert session.wait(None)["error"]["code"] == "bad-json"
        assert session.ask("dance")["error"]["code"] == "unknown-op"
        wrong = session.ask("stop", server=7)["error"]
        assert (wrong["code"], wrong["field"]) == ("bad-parameter", "server")
        assert session.ask("ping")["ok"]


def test_requests_piped_in_are_answered_before_the_end() -> None:
    done = subprocess.run(
        [binary()], input=b'{"id": 1, "op": "ping"}\n{"id": 2, "op": "clock"}\n', capture_output=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("id") for answer in answers] == [None, 1, 2]


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"address": "localhost"}, "address", "address"),
        ({"address": "203.0.113.77"}, "address", "address"),
        ({"address": "0.0.0.0"}, "address", "address"),
        ({"address": "::"}, "address", "address"),
        ({"key": "0011"}, "bad-parameter", "key"),
        ({"key": "zz" * 16}, "bad-parameter", "key"),
        ({"transport": "smoke"}, "bad-parameter", "transport"),
        ({"transport": 5}, "bad-parameter", "transport"),
        ({"cpu": 8000}, "bad-parameter", "cpu"),
        ({"colour": "red"}, "bad-parameter", "colour"),
    ],
)
def test_serve_refuses(fields: dict[str, object], code: str, field: str) -> None:
    with Session() as session:
        request = {"transport": "tcp", "address": "127.0.0.1", "key": KEY} | fields
        error = session.ask("serve", **request)["error"]
        assert (error["code"], error["field"]) == (code, field)


def test_resident_memory_stays_below_16_mib() -> None:
    """Of a live server and a live client, after messages of every size and 128 streams."""
    with Pair("tcp") as pair:
        for pattern, params in (
            *(("pingpong", {"bytes": size}) for size in (1, 65536, 16 << 20)),
            ("stream", {"bytes": 16 << 20}),
            ("stream", {"streams": 128}),
        ):
            answer = pair.run(pattern, seconds=0.05, **params)
            assert answer["ok"], answer
        for session in (pair.server, pair.client):
            peak = status(session.process.pid, "VmHWM")
            assert peak <= 16 * 1024, f"{peak} KiB"


def threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208


def no_more(after: list[int], before: list[int]) -> bool:
    """A leak in any of ten runs would show, though the first run's files may still have been closing at `before`."""
    return all(now <= then for now, then in zip(after, before, strict=True))


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_nothing_is_left_of_a_run(transport: str) -> None:
    with Pair(transport) as pair:
        pair.run("pingpong", seconds=0.02)

        def held():
            return [descriptors(session.process.pid) for session in (pair.server, pair.client)]

        before = held()
        for _ in range(5):
            pair.run("pingpong", seconds=0.01)
            pair.run("stream", seconds=0.01, warmup_seconds=0.01, streams=3)
        assert wait_until(lambda: no_more(held(), before)), (before, held())
        assert pair.stop()["accepted"] == 11
        assert pair.server.ask("ping")["ok"]
        assert threads(pair.server.process.pid) <= 4
