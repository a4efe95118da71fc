"""A Slurm job held for as long as a block lasts: asked for with salloc, waited for, and gone however the block ends.

salloc's job lasts as long as the command that salloc runs there. Ours reads its standard input, whose other end only
this process holds: when it ends, by kill -9 too, so do command, salloc and job. A salloc that still waits in the queue
has no command yet: a shell that reads the same pipe sends it SIGTERM, on which it withdraws its request. Never both at
once: a salloc whose job is revoked while its command ends may wait for that command for ever, with all of a CPU (seen
with 22.05: its thread for messages takes the exit status that its main thread waits for).
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from wulf.cluster.inventory import expand
from wulf.cluster.slurm.jobs import SlurmJob, granted_words, pending_job, resources, waiting_words
from wulf.core.errors import UsageError

ASK_EVERY = 3.0
"""Seconds between two looks at why the job waits."""

END_GRACE = 2.0
"""Seconds for salloc to end with its command, before it is taken for one that still waits in the queue."""

END_PATIENCE = 20.0
"""Seconds for salloc to withdraw or give back its job, before it is killed."""

_HOLD = 'echo "$SLURM_JOB_ID $SLURM_JOB_NODELIST"; exec cat >/dev/null'

_KEEP = """
grace=$1 patience=$2; shift 2
exec 3<&0
"$@" <&3 3<&- &
salloc=$!
{ cat <&3; sleep "$grace"; kill -TERM $salloc; sleep "$patience"; kill -KILL $salloc; } >/dev/null 2>&1 &
exec 3<&- </dev/null
wait $salloc
status=$?
trap "" TERM
kill -TERM 0
exit $status
"""
"""Runs salloc, whose number nobody else gets as long as this shell has not waited for it, and ends it with our pipe."""


@contextmanager
def allocation(nodes: str, options: Mapping[str, str], say: Callable[[str], None]) -> Iterator[SlurmJob]:
    """Nodes ("n[1-4]", or "3" for any three) for the length of the block.

    Parameters
    ----------
    options
        As `wulf.cluster.slurm.jobs.resources` takes them.
    say
        Told why the job waits, whenever that changes, and when it has begun.

    Raises
    ------
    UsageError
        Slurm has no such nodes or options, or is not there.
    """
    command = ["salloc", *resources(nodes, options), "sh", "-c", _HOLD]
    argv = ["sh", "-c", _KEEP, "sh", f"{END_GRACE:g}", f"{END_PATIENCE:g}", *command]
    if shutil.which("salloc") is None:
        raise UsageError("this machine has no salloc", "run wulf where Slurm's commands are (slurm-client)")
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        job = _granted(process, say)
        say(granted_words(job))
        yield job
    finally:
        _give_back(process)


def _granted(process: subprocess.Popen[bytes], say: Callable[[str], None]) -> SlurmJob:
    """Wait for the line with which our command begins in the job."""
    said: list[str] = []
    waiting, asked, told = "", time.monotonic(), ""
    for stream, line in _lines(process):
        if stream == "stdout":
            number, nodes = line.split()
            return SlurmJob(number, tuple(expand(nodes)))
        if line:
            said.append(line)
            waiting = pending_job(line) or waiting
        if waiting and time.monotonic() - asked > ASK_EVERY:
            asked, words = time.monotonic(), _why(waiting)
            if words and words != told:
                say(words)
                told = words
    raise UsageError(f"Slurm gave no job: {' / '.join(_plain(said)) or 'salloc said nothing'}", "`sinfo` shows nodes")


def _plain(said: Sequence[str]) -> list[str]:
    return [line.removeprefix("salloc: ").removeprefix("error: ") for line in said[-3:]]


def _lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, str]]:
    """Lines with their stream's name as they come, and an empty one every second; ends with both streams."""
    assert process.stdout and process.stderr  # noqa: S101
    with selectors.DefaultSelector() as selector:
        pending = {"stdout": b"", "stderr": b""}
        selector.register(process.stdout, selectors.EVENT_READ, "stdout")
        selector.register(process.stderr, selectors.EVENT_READ, "stderr")
        while selector.get_map():
            for key, _ in selector.select(1.0):
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fileobj)
                *whole, pending[key.data] = (pending[key.data] + data).split(b"\n")
                yield from ((key.data, line.decode(errors="replace")) for line in whole)
            yield "stderr", ""


def _why(job: str) -> str:
    """Why a job waits; empty where it doesn't, or Slurm does not say."""
    asked = subprocess.run(
        ["squeue", "--noheader", f"--jobs={job}", "--states=PENDING", "--format=%r"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    reason = asked.stdout.strip()
    return waiting_words(job, reason) if reason else ""


def _give_back(process: subprocess.Popen[bytes]) -> None:
    """End the job, whether it has begun or not."""
    assert process.stdin and process.stdout and process.stderr  # noqa: S101
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(END_GRACE + 2 * END_PATIENCE)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stdout.close()
    process.stderr.close()
