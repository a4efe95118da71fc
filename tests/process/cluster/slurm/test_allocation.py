"""A job's salloc, played by a script that logs what happens to it, under a process that holds the job and is killed."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import gone, wait_until
from wulf.cluster.slurm import allocation
from wulf.core.errors import UsageError

SALLOC = """#!/bin/sh
log() { echo "$*" >>"$LOG"; }
if [ "$ROLE" = deaf ]; then trap 'log SIGTERM' TERM; else trap 'log SIGTERM; exit 1' TERM; fi
case $ROLE in waiting | deaf) echo "salloc: Pending job allocation 7" >&2 ;; esac
log "salloc $$"
case $ROLE in
granted)
  while [ $# -gt 0 ] && [ "$1" != sh ]; do shift; done
  SLURM_JOB_ID=7 SLURM_JOB_NODELIST='n[1-2]' "$@"
  log "command ended"
  ;;
refused) echo "salloc: error: Invalid node name specified" >&2; exit 1 ;;
*) while :; do sleep 0.1; done ;;
esac
"""

SLEEP = f"""#!/bin/sh
if [ "$1" = {allocation.END_PATIENCE:g} ]; then
  tries=0
  until grep -q SIGTERM "$LOG" || [ $tries = 1000 ]; do tries=$((tries + 1)); {shutil.which("sleep")} 0.01; done
else
  exec {shutil.which("sleep")} "$@"
fi
"""
"""Patience ends once salloc has heard its signal: how long a busy machine lets it wait for a CPU is no matter."""

HOLD = """
import sys, time
from wulf.cluster.slurm import allocation
allocation.END_GRACE = float(sys.argv[2])
with allocation.allocation("n[1-2]", {}, lambda text: print(text, flush=True)) as job:
    print(*job.nodes, flush=True)
    time.sleep(float(sys.argv[1]))
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, script in {"salloc": SALLOC, "sleep": SLEEP}.items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def held(role: str, seconds: float = 60) -> subprocess.Popen[str]:
    grace = 30 if role == "granted" else 0.5
    words = [sys.executable, "-c", HOLD, str(seconds), str(grace)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ | {"ROLE": role})


def begun(log: Path) -> bool:
    """Whether salloc has said its number; the file is there before that."""
    return log.exists() and log.read_text().endswith("\n")


def number_and_rest(log: Path) -> tuple[int, list[str]]:
    """salloc's process, and what happened to it."""
    first, *rest = log.read_text().splitlines()
    return int(first.split()[1]), rest


def test_a_job_ends_with_its_command_and_salloc_hears_no_signal_then(log):
    with held("granted", 0) as holder:
        assert holder.wait(30) == 0
        assert holder.stdout.read() == "job 7 has n1,n2\nn1 n2\n"
    salloc, heard = number_and_rest(log)
    assert gone(salloc)
    assert heard == ["command ended"]


def test_when_its_holder_is_killed_a_job_ends_with_its_command_alone(log):
    with held("granted") as holder:
        assert holder.stdout.readline() == "job 7 has n1,n2\n"
        holder.kill()
    salloc, _ = number_and_rest(log)
    assert wait_until(lambda: gone(salloc) and number_and_rest(log)[1] != [])
    assert number_and_rest(log)[1] == ["command ended"]


@pytest.mark.parametrize("role", ["waiting", "deaf"])
def test_when_its_holder_is_killed_a_request_is_withdrawn_or_its_salloc_killed(log, role):
    with held(role) as holder:
        assert wait_until(lambda: begun(log))
        holder.kill()
    salloc, _ = number_and_rest(log)
    assert gone(salloc)
    assert number_and_rest(log)[1] == ["SIGTERM"]


def test_an_interrupted_wait_withdraws_the_request(log):
    with held("waiting") as holder:
        assert wait_until(lambda: begun(log))
        holder.send_signal(signal.SIGINT)
        assert holder.wait(30) != 0
    assert gone(number_and_rest(log)[0])
    assert number_and_rest(log)[1] == ["SIGTERM"]


def test_a_refusal_is_told_in_slurms_words(log, monkeypatch):
    monkeypatch.setenv("ROLE", "refused")
    with pytest.raises(UsageError, match="Invalid node name specified"), allocation.allocation("n9", {}, print):
        pass


def test_a_machine_without_slurm_is_told_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="no salloc"), allocation.allocation("n1", {}, print):
        pass
