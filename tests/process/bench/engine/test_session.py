"""The helper that runs peers on nodes, over a real pipe; and sessions that break."""

import socket
import sys
import time
from pathlib import Path

import pytest
from bench.engine.errors import BenchError
from bench.engine.pair import HERE
from bench.engine.session import Session
from bench.overhead.limits import peak_of_wulf_net

from tests.processes import gone

INSIDE = [sys.executable, "-I", "-S", str(HERE / "inside.py")]


@pytest.fixture
def helper():
    with Session(INSIDE) as session:
        yield session


def test_a_program_runs_to_its_end(helper):
    answer = helper.request("run", argv=["sh", "-c", "echo out; echo err >&2"], seconds=10)
    assert answer["output"] == "out\nerr\n"


@pytest.mark.parametrize(
    ("argv", "seconds", "words"),
    [
        (["sh", "-c", "echo no; exit 3"], 10, "ended with 3: no"),
        (["/nowhere/at/all"], 10, "/nowhere/at/all: No such file or directory"),
        (["sleep", "60"], 0.05, "did not end within 0.05 s"),
    ],
)
def test_a_program_that_fails_is_an_error_and_the_helper_goes_on(helper, argv, seconds, words):
    with pytest.raises(BenchError, match=words):
        helper.request("run", argv=argv, seconds=seconds)
    assert helper.request("run", argv=["true"], seconds=10)["output"] == ""


def test_a_stopped_server_is_gone_and_its_output_kept(helper):
    pid = helper.request("start", argv=["sh", "-c", "echo up; exec sleep 60"])["pid"]
    assert "State:" in helper.request("status", pid=pid)["output"]
    while "sleep" not in helper.request("status", pid=pid)["output"].splitlines()[0]:
        time.sleep(0.01)
    assert helper.request("stop", pid=pid)["output"] == "up\n"
    assert gone(pid)


def test_what_was_started_ends_with_the_session():
    with Session(INSIDE) as session:
        pid = session.request("start", argv=["sleep", "60"])["pid"]
        assert "State:" in session.request("status", pid=pid)["output"]
    assert gone(pid)


@pytest.mark.parametrize(("kind", "protocol"), [(socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")])
def test_a_listener_is_seen_without_a_connection(helper, kind, protocol):
    with socket.socket(socket.AF_INET, kind) as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        if protocol == "tcp":
            with pytest.raises(BenchError, match=f"nobody listens at tcp port {port}"):
                helper.request("listening", protocol=protocol, port=port, seconds=0.02)
            server.listen()
        helper.request("listening", protocol=protocol, port=port, seconds=5)


def test_a_session_that_ends_or_is_silent_is_an_error():
    with pytest.raises(BenchError, match="ended without an answer"):
        Session(["true"])
    with Session([sys.executable, "-c", "print('{}', flush=True); input(); input()"]) as silent:
        with pytest.raises(BenchError, match="no answer in time"):
            silent.request("ping", timeout=0.05)
        pid = silent._process.pid
    assert not Path(f"/proc/{pid}").exists()


def test_peak_memory_is_read_of_the_right_process():
    status = "Name:\twulf-net\nVmPeak:\t  9000 kB\nVmHWM:\t    4096 kB\nVmRSS:\t    1024 kB\n"
    assert peak_of_wulf_net(status) == 4096 * 1024
    with pytest.raises(BenchError, match="not the status of wulf-net"):
        peak_of_wulf_net(status.replace("wulf-net", "taskset"))
    with pytest.raises(BenchError, match="no VmHWM"):
        peak_of_wulf_net(status.replace("VmHWM", "VmLck"))
