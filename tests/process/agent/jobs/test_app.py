"""Applications run on this machine, with all that can go wrong with one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.processes import PATIENCE, gone, text_when_there
from wulf.agent.jobs import app
from wulf.agent.jobs.app import StreamEnds, app_clear, app_file, app_folder, app_run
from wulf.agent.session import Refused


def shell(script, **more):
    return app_run(command=["sh", "-c", script], **{"timeout": PATIENCE, **more})


def test_a_run_has_its_files_its_environment_and_a_folder_that_goes_away():
    ran = shell(
        'pwd; cat in; echo "$WHO"; echo there > out', files={"in": "text\n"}, environment={"WHO": "me"},
        outputs=["out", "none"],
    )  # fmt: skip
    folder, *said = ran["stdout"].splitlines()
    assert said == ["text", "me"]
    assert ran["files"] == {"out": "there\n"}
    assert (ran["status"], ran["signal"], ran["timed_out"]) == (0, None, False)
    assert not Path(folder).exists()
    assert 0 < ran["seconds"] < PATIENCE
    assert ran["usage"]["resident"] > 0
    assert ran["counters"]["cpu"]["all"]


def test_it_reads_nothing():
    assert shell("cat; echo done")["stdout"] == "done\n"


def test_our_own_python_path_is_not_the_applications():
    ran = app_run(command=[sys.executable, "-c", "import sys; print(sys.argv, sys.path[0])"], timeout=PATIENCE)
    assert ran["stdout"] == "['-c'] \n"


def test_status_and_words():
    ran = shell("echo sorry >&2; exit 3")
    assert (ran["status"], ran["stderr"]) == (3, "sorry\n")


@pytest.mark.parametrize(
    ("number", "name"),
    [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGKILL, "SIGKILL"), (signal.SIGRTMIN, "SIGRTMIN"),
     (signal.SIGRTMIN + 3, "SIGRTMIN+3"), (signal.SIGRTMAX, "SIGRTMAX")],
)  # fmt: skip
def test_a_signal_ends_it_with_all_that_it_started(tmp_path, number, name):
    ran = shell(f"setsid sleep 1000 & echo $! > pid; kill -{int(number)} $$", folder=str(tmp_path))
    assert (ran["status"], ran["signal"]) == (None, name)
    assert gone((tmp_path / "pid").read_text().strip())


def test_what_is_not_there_is_no_fault_of_the_session():
    assert app_run(command=["/no/such"])["error"] == "/no/such: No such file or directory"
    assert "No such file" in app_run(command=["true"], folder="/no/folder")["error"]


@pytest.mark.parametrize("deaf", ["", "trap '' TERM;"])
def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path, monkeypatch, deaf):
    monkeypatch.setattr("wulf.agent.jobs.app.START", app.START.replace("; sys.exit", QUICK))
    script = f"{deaf} sleep 1000 & echo $! > pids; setsid sleep 1000 & echo $! >> pids; echo $$ >> pids; wait"
    ran = shell(script, timeout=2.0, folder=str(tmp_path))
    assert ran["timed_out"]
    assert ran["signal"] in ("SIGTERM", "SIGKILL")
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 3
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("deaf", ["", "trap '' TERM;"])
@pytest.mark.parametrize("outer_one", [False, True])
def test_killing_those_that_run_it_leaves_nothing_of_it(tmp_path, deaf, outer_one):
    """By SIGKILL, which nobody can act on: the job lived on, and what it had started in other sessions."""
    script = f"{deaf} setsid sleep 1000 & echo $! > pids; echo $$ >> pids; echo $PPID > runner; wait; sleep 1000"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(shell, script, folder=str(tmp_path))
        runner = int(text_when_there(tmp_path / "runner"))
        outer = int(Path(f"/proc/{runner}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(outer if outer_one else runner, signal.SIGKILL)
        ran = running.result(PATIENCE)
    assert ran["signal"] in ("SIGKILL", "SIGTERM")
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert all(gone(pid) for pid in (*pids, runner, outer))


QUICK = "; from wulf.agent.mpi import supervise; supervise.GRACE = 0.2; sys.exit"


def test_what_it_leaves_behind_is_ended(tmp_path):
    ran = shell("setsid sleep 1000 & echo $! > pid; exit 0", folder=str(tmp_path))
    assert (ran["status"], ran["timed_out"]) == (0, False)
    assert gone((tmp_path / "pid").read_text().strip())


def test_a_flood_costs_little_memory():
    before = resident()
    ran = shell("head -c 100000000 /dev/zero | tr '\\0' x; echo end", most=1000)
    assert ran["flooded"]
    assert ran["bytes"]["stdout"] == 100_000_004
    assert ran["stdout"].startswith("xxx")
    assert ran["stdout"].endswith("xxend\n")
    assert len(ran["stdout"]) < 1100
    assert resident() - before < 30_000_000


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_the_first_and_the_last_bytes_are_kept():
    kept = StreamEnds(8)
    for part in (b"ab", b"cdef", b"g", b"hi", b"jklmnopqrst", b"uv"):
        kept.take(part)
    assert kept.text() == "abcd\n… 14 bytes left out …\nstuv"
    short = StreamEnds(8)
    short.take(b"abcdefgh")
    assert (short.text(), short.lost) == ("abcdefgh", 0)


def test_a_folder_is_made_filled_and_removed(tmp_path):
    folder = app_folder("job-1", str(tmp_path))["folder"]
    assert app_folder("job-1", str(tmp_path))["folder"] == folder  # a second node of a shared file system
    app_file(folder, "in", "a")
    app_file(folder, "in", "b", append=True)
    assert app_run(command=["cat", "in"], folder=folder, timeout=PATIENCE)["stdout"] == "ab"
    app_clear(folder)
    assert not Path(folder).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_somebody_elses_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(app.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / app.OWN).mkdir()
    os.chown(tmp_path / app.OWN, 12345, 12345)
    with pytest.raises(Refused, match="belongs to somebody else"):
        app_folder("job-1")


def test_no_other_folder_is_ever_removed(tmp_path):
    (tmp_path / "mine").mkdir()
    app_clear(str(tmp_path / "mine"))
    assert (tmp_path / "mine").is_dir()


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "-rf"])
def test_names_stay_within_the_folder(tmp_path, name):
    with pytest.raises(Refused, match="no plain file name"):
        app_file(str(tmp_path), name, "")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"command": "ls"}, "command"), ({"command": []}, "command"), ({"command": ["ls"], "timeout": 0}, "timeout")],
)
def test_what_can_not_be_run_is_refused(wrong, field):
    with pytest.raises(Refused) as refused:
        app_run(**wrong)
    assert refused.value.answer["field"] == field


def test_the_end_of_the_session_ends_the_application_and_its_folder(tmp_path):
    words = [sys.executable, "-m", "wulf.agent"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as agent:
        agent.stdout.readline()
        request = {"id": 1, "op": "app_run", "command": ["sh", "-c", f"echo $$ $PWD > {tmp_path}/pid; sleep 1000"]}
        agent.stdin.write(json.dumps({**request, "timeout": 1000.0}) + "\n")
        agent.stdin.flush()
        pid, _folder = text_when_there(tmp_path / "pid").split()
        agent.kill()
    assert gone(pid)
