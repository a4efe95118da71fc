"""wulf-node's probes of the operating system, of noise and of power, on the built program."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import wait_until

from .session import Session, binary

# Every probe as it is by default, and with every choice of every parameter.
CASES: list[tuple[str, dict[str, Any]]] = [
    *(("syscall", {"call": call}) for call in ("null", "read", "write", "stat", "open")),
    *(("select", {"via": via}) for via in ("select", "poll", "epoll")),
    *(("select", {"via": via, "kind": "file"}) for via in ("select", "poll", "epoll")),
    *(("signal", {"action": action}) for action in ("install", "handle")),
    *(("process", {"how": how}) for how in ("fork", "exec", "sh", "spawn", "thread")),
    *(("context-switch", {"placement": placement}) for placement in ("same", "spread")),
    ("context-switch", {"processes": 16, "bytes": 65536}),
    *(("futex", {"placement": placement}) for placement in ("same", "spread")),
    ("io-uring", {}),
    *(("file", {"action": action, "bytes": size}) for action in ("create", "delete") for size in (0, 10240)),
    *(("reread", {"how": how, "bytes": 1 << 20}) for how in ("read", "mmap", "mapped")),
    ("detour", {}),
    ("ftq", {}),
    ("kernel-noise", {}),
    ("noise-why", {}),
    ("power", {}),
]
PROBES = {name for name, _ in CASES}
NEEDS_FOLDER = {"file", "reread"}
SECONDS = 0.002
MARK = "WULF_TEST_MARK"


def node(*words: str | Path) -> Session:
    return Session(*words, program="wulf-node")


def described() -> dict[str, dict[str, Any]]:
    printed = subprocess.run([binary("wulf-node"), "--describe"], check=True, capture_output=True).stdout
    return {probe["name"]: probe for probe in json.loads(printed)["probes"]}


def requests(probes: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each probe as it is by default, and with every choice of every parameter."""
    for name, probe in probes.items():
        yield name, {}
        for param in probe["params"]:
            for choice in param.get("choices") or []:
                if choice != param["default"]:
                    yield name, {param["name"]: choice}


def check_answer(name: str, params: dict[str, Any], answer: dict[str, Any]) -> None:
    """Every metric has a value that can be, or says why it has none."""
    assert answer["ok"], (name, params, answer)
    probe = described()[name]
    assert set(answer["metrics"]) == {metric["name"] for metric in probe["metrics"]}
    for metric in answer["metrics"].values():
        if metric["value"] is None:
            assert len(metric["reason"]) > 10
        else:
            assert math.isfinite(metric["value"])
            # that nothing was lost is a finding, and what tracing added may be below 0; that a call took no time is not
            assert metric["value"] > 0 or probe["group"] == "noise", (name, params, answer)


def marked(mark: str) -> list[int]:
    """The processes that inherited the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            # those that ended and were not waited for have no environment; their name stays
            if folder.name.isdigit() and f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def children(pid: int) -> list[str]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended since
            found += (task / "children").read_text().split()
    return found


def test_the_probes_are_there() -> None:
    probes = described()
    assert set(probes) >= PROBES
    assert {probes[name]["group"] for name in PROBES} == {"os", "noise", "power"}


@pytest.mark.parametrize(("name", "params"), CASES, ids=str)
def test_value_or_reason_and_nothing_left(name: str, params: dict[str, Any], tmp_path: Path) -> None:
    if name in NEEDS_FOLDER:
        params = params | {"folder": str(tmp_path)}
    with node() as session:
        answer = session.ask("run", probe=name, params=params | {"seconds": SECONDS})
        check_answer(name, params, answer)
        assert children(session.process.pid) == []
        assert answer["info"]["energy"]["unit"] == "J"
        assert session.close() == 0
    assert list(tmp_path.iterdir()) == []


def test_what_needs_no_special_host_has_a_value(tmp_path: Path) -> None:
    with node() as session:
        for name, params in CASES:
            if "spread" in params.values() or name in ("io-uring", "power", "select", "context-switch"):
                continue
            folder = {"folder": str(tmp_path)} if name in NEEDS_FOLDER else {}
            answer = session.ask("run", probe=name, params=params | folder | {"seconds": SECONDS})
            first = next(iter(answer["metrics"].values()))  # the others may be of another choice alone
            assert first["value"] is not None, (name, params, first)


def test_what_was_used_is_named(tmp_path: Path) -> None:
    with node() as session:
        shell = session.ask("run", probe="process", params={"how": "sh", "seconds": SECONDS})["info"]
        assert shell["shell"] == {"path": "/bin/sh", "is": str(Path("/bin/sh").resolve())}
        assert shell["program"]["bytes"] == binary("wulf-node").stat().st_size
        made = session.ask("run", probe="file", params={"folder": str(tmp_path), "seconds": SECONDS})["info"]
        assert made["folder"]["path"] == str(tmp_path.resolve())
        assert made["folder"]["type"] in Path("/proc/self/mountinfo").read_text()
        ring = session.ask("run", probe="context-switch", params={"processes": 4, "bytes": 4096, "seconds": SECONDS})
        assert len(ring["info"]["cpus"]) == 4
        assert ring["info"]["turn"]["value"] > 0 < ring["info"]["alone"]["value"]


@pytest.mark.parametrize(
    ("probe", "params", "field"),
    [
        ("syscall", {"call": "fsync"}, "call"),
        ("select", {"descriptors": 5000}, "descriptors"),
        ("select", {"descriptors": 0}, "descriptors"),
        ("context-switch", {"processes": 1}, "processes"),
        ("file", {"folder": "relative"}, "folder"),
        ("futex", {"placement": "anywhere"}, "placement"),
        ("ftq", {"quantum": 0}, "quantum"),
    ],
)
def test_wrong_requests_are_refused(probe: str, params: dict[str, Any], field: str) -> None:
    with node() as session:
        answer = session.ask("run", probe=probe, params=params)
        assert (answer["error"]["code"], answer["error"]["field"]) == ("bad-parameter", field)


def test_more_memory_than_there_is_names_both_figures() -> None:
    with node() as session:
        answer = session.ask("run", probe="context-switch", params={"processes": 256, "bytes": 2**30})
        if answer["ok"]:
            pytest.skip("this machine has 256 GiB to spare")
        assert answer["error"]["code"] == "limit"
        assert str(256 * 2**30) in answer["error"]["message"]


def test_a_folder_that_cannot_be_written_is_a_reason() -> None:
    with node() as session:
        for probe in ("file", "reread"):
            answer = session.ask("run", probe=probe, params={"folder": "/proc"})
            check_answer(probe, {}, answer)
            assert "/proc" in next(iter(answer["metrics"].values()))["reason"]


def test_few_descriptors_are_a_reason() -> None:
    with node("/bin/sh", "-c", 'ulimit -n 64; exec "$0"') as session:
        for probe, params in (("select", {"via": "poll"}), ("context-switch", {"processes": 100})):
            answer = session.ask("run", probe=probe, params=params)
            check_answer(probe, params, answer)
            assert "ulimit -n" in answer["metrics"]["latency"]["reason"]


def test_spread_over_one_cpu_is_a_reason() -> None:
    cpu = min(os.sched_getaffinity(0))
    with node("taskset", "-c", str(cpu)) as session:
        for probe in ("context-switch", "futex"):
            answer = session.ask("run", probe=probe, params={"placement": "spread", "seconds": SECONDS})
            check_answer(probe, {}, answer)
            assert "two CPUs" in answer["metrics"]["latency"]["reason"]


# A filter of system calls as containers have it: io_uring_setup is answered with EPERM.
DENY = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]
program = Program(len(lines), ctypes.addressof(code))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_filter_that_forbids_io_uring_is_a_reason() -> None:
    try:
        session = node(sys.executable, "-c", DENY)
    except EOFError:
        pytest.skip("no filter of system calls can be set here")
    with session:
        answer = session.ask("run", probe="io-uring", params={})
        assert "forbidden" in answer["metrics"]["latency"]["reason"]


LONG: list[tuple[str, dict[str, Any]]] = [
    ("process", {"how": "fork"}),
    ("process", {"how": "sh"}),
    ("context-switch", {"processes": 8}),
    ("file", {"bytes": 10240}),
    ("reread", {}),
]


@pytest.mark.full
@pytest.mark.parametrize(("name", "params"), LONG, ids=str)
def test_kill_9_leaves_neither_process_nor_file(name: str, params: dict[str, Any], tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    if name in NEEDS_FOLDER:
        params = params | {"folder": str(tmp_path)}
    with node("env", f"{MARK}={mark}") as session:
        session.send("run", probe=name, params=params | {"seconds": 50})
        if name in NEEDS_FOLDER:
            assert wait_until(lambda: any(folder.iterdir() for folder in tmp_path.iterdir()), 20)
        else:
            assert wait_until(lambda: children(session.process.pid) != [], 20)
        session.process.kill()
        session.process.wait()
        assert wait_until(lambda: marked(mark) == [], 20)
        assert wait_until(lambda: list(tmp_path.iterdir()) == [], 20)


def test_the_end_of_stdin_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    with node("env", f"{MARK}={mark}") as session:
        session.send("run", probe="file", params={"folder": str(tmp_path), "seconds": 50})
        assert wait_until(lambda: list(tmp_path.iterdir()) != [], 20)
        assert session.close() == 0
    assert wait_until(lambda: marked(mark) == [] and list(tmp_path.iterdir()) == [], 20)


def container() -> list[str]:
    """A command that starts another as a container would: no root, one CPU, /tmp read-only, no /dev/shm."""
    for program in ("unshare", "taskset", "mount"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    inside = (  # the program may lie below /tmp itself
        'mount --bind "$(dirname "$0")" /mnt && mount -t tmpfs -o ro none /tmp && '
        '{ mount --bind /proc /dev/shm || true; } 2>/dev/null; exec "/mnt/$(basename "$0")"'
    )
    cpu = str(min(os.sched_getaffinity(0)))
    command = ["unshare", "-Ur", "-p", "-f", "-m", "--kill-child", "taskset", "-c", cpu, "/bin/sh", "-c", inside]
    tried = subprocess.run([*command, "/bin/true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no user namespaces here: {tried.stderr.strip()}")
    return command


def test_every_probe_answers_in_a_container_on_one_cpu() -> None:
    with node(*container()) as session:
        for name, params in requests(described()):
            number = session.send("run", probe=name, params=params | {"seconds": SECONDS})
            answer = session.wait(number, timeout=100)
            if answer["ok"]:
                check_answer(name, params, answer)
            else:  # choices that do not go together
                assert name not in PROBES, (name, params, answer)
                assert answer["error"]["code"] == "bad-parameter", (name, params, answer)
            if name in NEEDS_FOLDER:
                assert "Read-only" in next(iter(answer["metrics"].values()))["reason"]


def test_the_least_program_ends_at_once_and_says_nothing() -> None:
    done = subprocess.run([binary("wulf-node"), "--nothing"], capture_output=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"", b"")
    shown = subprocess.run([binary("wulf-node"), "--help"], capture_output=True, check=True, text=True).stdout
    assert "--nothing" not in shown
