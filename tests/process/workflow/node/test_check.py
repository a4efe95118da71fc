"""The health check: what drains a node and what never does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.wording import lacking
from wulf.agent.machine import Machine
from wulf.core.errors import NodeError, UsageError
from wulf.findings.node import health
from wulf.findings.node.health import Host
from wulf.workflow.node.bounded import Answer, call_all
from wulf.workflow.node.check import (
    NHC,
    Check,
    Result,
    baseline,
    below_floor,
    check_node,
    exit_code_of,
    read_baseline,
    read_table,
)  # fmt: skip

HANG = 600.0
"""Seconds that only a hang would last."""

RATE = Check("check_rate", "rate", 5.0, {"probe": "fma", "params": {}, "metric": "rate", "floor": 0.8})
SAVED = {"check_rate": {"low": 100.0, "high": 110.0, "n": 6}}


def rest(tmp_path: Path, load: float = 0.0, **fields: Any) -> Host:
    """A node of which nothing is known but its load."""
    (tmp_path / "proc").mkdir(exist_ok=True)
    (tmp_path / "proc" / "loadavg").write_text(f"{load} {load} {load} 1/2 3")
    return Host(Machine(str(tmp_path)), **fields)


def outcome(host: Host, checks: list[Check], measure: Callable[..., list[float]] = lambda *_: [], **kw: Any) -> Any:
    return [
        (result.state, result.text) for result in check_node(checks, host, measure, kw.pop("until", HANG * 2), **kw)
    ]


def test_functions_run_side_by_side_and_each_says_its_own() -> None:
    def broken() -> None:
        raise ValueError("no such thing")

    found = call_all({"a": (lambda: 1, HANG), "b": (broken, HANG), "c": (lambda: [2.5], HANG)}, time.monotonic() + HANG)
    assert found == {"a": Answer(1), "b": Answer(error="no such thing"), "c": Answer([2.5])}
    assert list(found) == ["a", "b", "c"]


def test_a_function_that_hangs_is_left_behind_and_the_others_answer() -> None:
    slow = lambda: time.sleep(HANG)  # noqa: E731
    began = time.monotonic()
    found = call_all({"slow": (slow, 0.05), "other": (lambda: 1, HANG)}, time.monotonic() + HANG)
    assert found == {"slow": Answer(late=True), "other": Answer(1)}
    assert call_all({"slow": (slow, HANG)}, time.monotonic() + 0.05) == {"slow": Answer(late=True)}
    assert time.monotonic() - began < HANG / 2


def test_a_function_that_dies_without_a_word_is_no_fault() -> None:
    found = call_all({"dead": (lambda: os.kill(os.getpid(), 9), HANG)}, time.monotonic() + HANG)
    assert found == {"dead": Answer(error="it died without an answer")}


def test_nothing_of_the_caller_is_held_open_by_one_that_stays(tmp_path: Path) -> None:
    """Whoever waits for the check's output must not wait for what hangs: slurmd reads until the end of the pipe."""
    number = tmp_path / "pid"
    code = f"""
import os, time, wulf.workflow.node.bounded as bounded
bounded.os.kill = lambda *_: None  # as if the kernel held it
def stay():
    open({str(number)!r}, "w").write(str(os.getpid()))
    time.sleep({HANG})
print(bounded.call_all({{"x": (stay, 0.05)}}, time.monotonic() + {HANG})["x"].late)
while not os.path.exists({str(number)!r}): time.sleep(0.01)
"""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    while not number.read_text():
        time.sleep(0.01)
    os.kill(int(number.read_text()), 9)  # it is still there, and was not waited for
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
    assert time.monotonic() - began < HANG / 2


def test_a_fault_is_told_in_the_words_of_nhc_and_is_status_1(tmp_path: Path) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "mounts").write_text("/dev/sda1 / ext4 rw 0 0\n")
    host = rest(tmp_path, mounts={"/home": {"source": "s:/home", "type": "nfs", "writable": True}})
    (result,) = check_node([Check("check_fs_mount", "mounted", HANG, {})], host, lambda *_: [], time.monotonic() + HANG)
    assert result.message == "ERROR:  nhc:  Health check failed:  check_fs_mount:  /home not mounted"
    assert exit_code_of([Result("other", "well"), result]) == 1


def test_what_is_not_finished_never_drains(tmp_path: Path) -> None:
    def stuck(_: str) -> os.statvfs_result:
        time.sleep(HANG)
        raise AssertionError

    room = Check("check_fs_free", "room", 0.05, {"paths": ["/home"], "least": 0.02})
    results = check_node([room], rest(tmp_path, statvfs=stuck), lambda *_: [], time.monotonic() + HANG)
    assert [result.state for result in results] == ["not finished"]
    assert not results[0].message.startswith(NHC)
    assert exit_code_of(results) == 0


def test_a_rate_is_ill_only_with_its_whole_interval_below_the_floor() -> None:
    assert below_floor(RATE, [50.0, 60.0, 80.0], SAVED["check_rate"]) == ""
    said = below_floor(RATE, [50.0, 60.0, 79.0], SAVED["check_rate"])
    assert lacking(said, "rate 50 to 79 ", " 3 replicates", "below 80% ", " 100 to 110") == []


def test_a_slow_node_is_ill_and_a_busy_one_is_not_measured(tmp_path: Path) -> None:
    host, busy = (rest(tmp_path / name, load, rates=SAVED) for name, load in made(tmp_path, idle=0.2, busy=0.6))
    slow: Any = lambda *_: [50.0] * 6  # noqa: E731
    until = time.monotonic() + HANG
    assert outcome(host, [RATE], slow, until=until)[0][0] == "ill"
    assert outcome(host, [RATE], lambda *_: [90.0] * 6, until=until) == [("well", "")]
    ((state, why),) = outcome(busy, [RATE], slow, until=until)
    assert state == "not finished"
    assert lacking(why, "busy node", "load 0.6 per CPU") == []


def made(tmp_path: Path, **names: float) -> list[tuple[str, float]]:
    for name in names:
        (tmp_path / name).mkdir()
    return list(names.items())


def test_a_rate_without_baseline_time_or_probe_is_not_finished(tmp_path: Path) -> None:
    def refused(*_: Any) -> list[float]:
        raise NodeError("n1", "wulf-node has not been built")

    host, until = rest(tmp_path, rates=SAVED), time.monotonic() + HANG
    states = [
        outcome(rest(tmp_path), [RATE], until=until), outcome(host, [RATE], until=0.0),
        outcome(host, [RATE], refused, until=until),
    ]  # fmt: skip
    assert [found[0][0] for found in states] == ["not finished"] * 3
    assert [found[0][1].split(":")[0] for found in states] == [
        "the baseline has no such rate", "the time was over before it began", "n1",
    ]  # fmt: skip


def test_the_time_granted_to_a_rate_is_what_is_left(tmp_path: Path) -> None:
    granted: Any = lambda _, seconds: [1000.0 * seconds] * 6  # noqa: E731
    clock = lambda: 10.0  # noqa: E731 - it stands still, so that only what is granted differs
    saved = {"check_rate": {"low": 3000.0, "high": 3000.0, "n": 6}}
    host = rest(tmp_path, rates=saved)
    ((state, why),) = outcome(host, [RATE], granted, until=12.0, clock=clock)
    assert state == "ill"
    assert lacking(why, "rate 2e+03 to 2e+03 ", " 6 replicates", "below 80% ", " 3e+03 to 3e+03") == []
    assert outcome(host, [RATE], granted, until=100.0, clock=clock) == [("well", "")]


def test_the_table_that_comes_with_wulf_is_whole() -> None:
    checks = read_table()
    assert {check.kind for check in checks} == {*health.KINDS, "rate"}
    assert all(0 < check.seconds <= 20 for check in checks)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('name = "a"\nkind = "nothing"\nseconds = 1', "there is no kind 'nothing'"),
        ('name = "a"\nkind = "same"\nseconds = 1', "facts: Field required"),
        ('name = "a"\nkind = "load"\nseconds = 1\nmost_per_cpu = "x"', "most_per_cpu: .* number"),
        ('name = "a"\nkind = "load"\nseconds = true\nmost_per_cpu = 1', "seconds: .* number"),
        ('name = "a"\nkind = "tasks"\nseconds = 1\nstates = ["Z"]\nmots = 1', "has no mots"),
        ('name = "a"\nkind = "mounted"', "seconds"),
        ('name = "a"\nkind = "mounted"\nseconds = 1\n[[check]]\nname = "a"\nkind = "mounted"\nseconds = 1', "2 checks"),
        ("name =", "Invalid value"),
    ],
)
def test_a_wrong_table_is_refused_with_the_reason(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "checks.toml"
    path.write_text(f"[[check]]\n{row}\n")
    with pytest.raises(UsageError, match=said):
        read_table(path)


def test_a_baseline_is_saved_read_back_and_refused_where_it_is_none(tmp_path: Path) -> None:
    host = rest(tmp_path)
    (tmp_path / "proc" / "self").mkdir()
    (tmp_path / "proc" / "self" / "mounts").write_text("/dev/sda1 / ext4 rw 0 0\n")
    content = baseline([RATE], host, lambda *_: [2.0, 1.0, 3.0])
    assert content["rates"] == {"check_rate": {"low": 1.0, "high": 3.0, "n": 3}}
    assert set(content["mounts"]) == {"/"}
    path = tmp_path / "check.json"
    path.write_text(json.dumps(content))
    assert read_baseline(None, [tmp_path / "none", path]) == content
    assert read_baseline(None, [tmp_path / "none"]) == {}
    path.write_text("{}")
    for wrong in (path, tmp_path / "none"):
        with pytest.raises(UsageError):
            read_baseline(wrong)
    for part, says in {"rates": [[]], "facts": 0, "mounts": {"/": {"source": "x"}}}.items():
        path.write_text(json.dumps({**content, part: says}))
        with pytest.raises(UsageError, match=part):
            read_baseline(path)
    with pytest.raises(UsageError, match="busy"):
        baseline([RATE], rest(tmp_path, 3.0), lambda *_: [1.0])


def test_the_command_on_this_machine(tmp_path: Path) -> None:
    """A table that holds on any machine, and one check that fails on all: exit codes, streams, --json."""
    table = tmp_path / "checks.toml"
    table.write_text(
        f'[[check]]\nname = "writable"\nkind = "writable"\nseconds = {HANG}\npaths = ["{tmp_path}"]\n'
        f'[[check]]\nname = "mounts"\nkind = "mounted"\nseconds = {HANG}\n'
        f'[[check]]\nname = "full"\nkind = "room"\nseconds = {HANG}\npaths = ["/"]\nleast = 1.1\n'
    )

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
        argv = [sys.executable, "-m", "wulf.cli.main", "check", "--checks", str(table), "--max-seconds", str(HANG)]
        return subprocess.run([*argv, *more], capture_output=True, text=True, check=False, env=environment)

    saved = tmp_path / "base.json"
    assert run("--save", "--baseline", str(saved)).returncode == 0
    done = run("--baseline", str(saved))
    assert done.returncode == 1
    assert done.stdout.startswith(f"{NHC}full:  / has ")
    states = [json.loads(line)["state"] for line in run("--baseline", str(saved), "--json").stdout.splitlines()]
    assert states == ["well", "well", "ill"]
    table.write_text(table.read_text().replace("least = 1.1", "least = 0.0"))
    done = run("--baseline", str(saved))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run("--max-seconds", "0.000001", "--baseline", str(saved)).stderr.count("not finished: ") == 3
    assert run("--baseline", str(tmp_path / "nowhere")).returncode == 2
