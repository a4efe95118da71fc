"""wulf-node's recording of who has the CPUs: what is told of two processes that share one, and what without rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from .session import Session

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="tracing the system needs root")
CPU = max(os.sched_getaffinity(0))

SPIN = f"""
import os, time
os.sched_setaffinity(0, {{{CPU}}})
print("ready", flush=True)
input()
end = time.thread_time() + 0.3
while time.thread_time() < end:
    pass
print("done", flush=True)
input()
"""
"""Takes 0.3 s of a CPU once it is told to, and stays until its input ends."""


@AS_ROOT
def test_two_that_share_a_cpu_have_taken_it_from_each_other() -> None:
    with Session(program="wulf-node") as session:
        began = session.ask("noise_start")
        assert began["ok"], began
        assert CPU in began["cpus"]
        pair = [
            subprocess.Popen([sys.executable, "-c", SPIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for said in (b"ready\n", b"done\n"):
            for one in pair:
                assert one.stdout is not None
                assert one.stdout.readline() == said
            for one in pair:
                assert one.stdin is not None
                if said == b"ready\n":
                    one.stdin.write(b"\n")
                    one.stdin.flush()
        told = session.ask("noise_stop", processes=[*(one.pid for one in pair), 1 << 30])
        for one in pair:
            one.communicate()
    assert told["ok"], told
    first, second, nobody = told["processes"]
    assert not nobody["seen"]
    taken = 0.0
    for own, other in ((first, pair[1].pid), (second, pair[0].pid)):
        assert own["seen"]
        begins = [piece[0] for piece in own["stolen"]]
        assert begins == sorted(begins)
        numbers = {place for place, one in enumerate(told["culprits"]) if one.get("pid") == other}
        taken += sum(length for _, length, who in own["stolen"] if who in numbers) * 1e-9
    assert taken > 0.1  # each has 0.3 s of one CPU, side by side


@AS_ROOT
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="nothing here takes a process's rights away")
def test_without_rights_every_figure_is_null_with_the_reason_and_what_to_do() -> None:
    with Session("setpriv", "--bounding-set=-all", "--inh-caps=-all", program="wulf-node") as session:
        answer = session.ask("run", probe="noise-why", params={"seconds": 0.01})
        refused = session.ask("noise_start")
    assert {metric["value"] for metric in answer["metrics"].values()} == {None}
    for reason in (answer["metrics"]["lost"]["reason"], refused["error"]["message"]):
        assert "needs root" in reason
        assert "run wulf as root" in reason
    assert refused["error"]["code"] == "unavailable"


def test_a_recording_that_does_not_run_has_no_end() -> None:
    with Session(program="wulf-node") as session:
        refused = session.ask("noise_stop", processes=[])
        wrong = session.ask("noise_stop", processes="all")
    assert "noise_start begins it" in refused["error"]["message"]
    assert wrong["error"]["field"] == "processes"
