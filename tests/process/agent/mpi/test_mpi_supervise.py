"""A launcher ends with its session, whatever it does about that."""

import signal
import subprocess
import sys

import pytest

from tests.processes import alive, gone

SUPERVISE = """
import sys
from wulf.agent.mpi import supervise
supervise.PATIENCE = 0.2
sys.exit(supervise.supervise(sys.argv[1:]))
"""
QUICK = SUPERVISE.replace("sys.exit", "supervise.GRACE = 0.2; sys.exit")


def start(script, code=SUPERVISE):
    words = [sys.executable, "-c", code, "sh", "-c", script]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_the_streams_are_the_commands_own():
    with start("read line; echo got $line; exit 3") as process:
        assert process.communicate("it\n", timeout=20)[0] == "got it\n"
    assert process.returncode == 3


def test_the_status_of_a_signal():
    with start("kill -9 $$") as process:
        assert process.wait(20) == 128 + signal.SIGKILL


def test_a_command_that_is_not_there():
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISE, "/no/mpirun"], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 127
    assert "/no/mpirun: No such file" in done.stderr


@pytest.mark.parametrize("deaf", ["", "trap '' TERM;"])
def test_the_end_of_input_ends_it(deaf):
    with start(f"{deaf} echo $$; while :; do sleep 0.1; done", QUICK if deaf else SUPERVISE) as process:
        pid = int(process.stdout.readline())
        assert alive(pid)
        process.stdin.close()
        assert process.wait(20) == 128 + (signal.SIGKILL if deaf else signal.SIGTERM)
    assert not alive(pid)


def test_what_has_left_its_group_ends_too():
    with start("setsid sh -c 'echo $$; sleep 600' & read line; exit 0") as process:
        pid = int(process.stdout.readline())
        process.stdin.close()
        process.wait(20)
    assert gone(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it(number):
    with start("echo $$; while :; do sleep 0.1; done") as process:
        pid = int(process.stdout.readline())
        process.send_signal(number)
        process.wait(20)
    assert not alive(pid)


def test_its_own_death_ends_the_launcher():
    with start("echo $$; while :; do sleep 0.1; done") as process:
        pid = int(process.stdout.readline())
        process.kill()
    assert gone(pid)
