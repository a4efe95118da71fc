"""One sentry a state; what measures dies with it, and what it left is found by its mark, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import gone, text_when_there, wait_until
from wulf.core.errors import UsageError
from wulf.sentry.plan import Measure
from wulf.workflow.sentry import tied
from wulf.workflow.sentry.children import COMPLAINED, SAID, TIED, Children, Job
from wulf.workflow.sentry.holding import MARK, ended, held, is_alive, mark_of, myself, processes_of

MEASURE = Measure(name="x", command=("no-such-command",), every=1.0)

HOLDS = "import sys, time; from pathlib import Path\nfrom wulf.workflow.sentry.holding import held\n"
HOLDS += "with held(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"


def test_a_state_has_one_sentry_and_is_free_when_that_is_killed(tmp_path: Path) -> None:
    state = tmp_path / "sentry.db"
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(state)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match=f"process {other.pid} on "), held(state):
            pass
        other.kill()
    with held(state), pytest.raises(UsageError, match="another sentry has"), held(state):
        pass


def test_a_holder_is_told_from_another_process_of_its_number() -> None:
    own = myself()
    assert is_alive(own)
    assert not is_alive({**own, "started": "1"})
    assert not is_alive({**own, "boot": "another"})
    assert not is_alive({})


def test_what_a_killed_sentry_left_ends_by_itself_or_is_ended(tmp_path: Path) -> None:
    mark = mark_of(tmp_path / "sentry.db", 7)
    words = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(words, env={MARK: mark}) as left, subprocess.Popen(words, env={MARK: f"{mark}1"}) as other:
        assert wait_until(lambda: processes_of(mark) == [left.pid], 10)
        assert ended(mark, 0.2)
        assert gone(left.pid)
        assert other.poll() is None, "another measurement's, whose mark begins alike"
        other.kill()
    assert ended(mark, 0.0)


def test_what_nobody_can_end_is_told() -> None:
    now = [0.0]
    killed: list[int] = []

    def sleep(seconds: float) -> None:
        now[0] += seconds

    gone_at_last = ended(
        "m", 1.0, look=lambda _: [7], clock=lambda: now[0], sleep=sleep, kill=lambda pid, _: killed.append(pid)
    )
    assert (gone_at_last, set(killed)) == (False, {7})
    assert now[0] == pytest.approx(2.0, abs=0.3)


def job(folder: Path, limit: float = 60.0) -> Job:
    return Job(3, MEASURE, ("n1", "n2"), folder, limit)


def test_a_command_says_into_its_folder_and_is_known_by_its_mark(tmp_path: Path) -> None:
    state = tmp_path / "sentry.db"
    child = Children(state, lambda _: ["--lab", "none"]).start(job(tmp_path / "run"), 0.0)
    found: list[object] = []
    assert wait_until(lambda: (end := child.poll(0.0)) is not None and not found.append(end), 30)
    assert getattr(found[0], "status", None) == 2
    assert "No such command 'no-such-command'" in (tmp_path / "run" / COMPLAINED).read_text()
    assert (tmp_path / "run" / SAID).read_text() == ""
    assert processes_of(mark_of(state, 3)) == []


SENTRY = """
import sys, time
from pathlib import Path
from wulf.sentry.plan import Measure
from wulf.workflow.sentry import children
children.words = lambda job, way: [sys.executable, "-S", "-c", "import sys,time;print(1,flush=True);time.sleep(60)"]
measure = Measure(name="x", command=("x",), every=1.0)
job = children.Job(3, measure, ("n1",), Path(sys.argv[2]), float(sys.argv[3]))
child = children.Children(Path(sys.argv[1])).start(job, 0.0)
print("started", flush=True)
for second in range(600):
    end = child.poll(second / 10)
    if end:
        print(end, flush=True)
        break
    time.sleep(0.1)
"""


def test_what_measures_dies_with_a_sentry_that_is_killed(tmp_path: Path) -> None:
    state, folder = tmp_path / "sentry.db", tmp_path / "run"
    words = [sys.executable, "-c", SENTRY, str(state), str(folder), "600"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as other:
        assert text_when_there(folder / SAID) == "1\n"
        (child,) = processes_of(mark_of(state, 3))
        before = time.monotonic()
        os.kill(other.pid, signal.SIGKILL)
        assert gone(child)
        assert time.monotonic() - before < 5.0
    assert ended(mark_of(state, 3), 5.0)


def test_a_parent_that_has_ended_already_has_nothing_begun() -> None:
    assert Path(tied.__file__) == TIED
    words = [sys.executable, "-S", str(TIED), "1", "/bin/echo", "begun"]
    assert subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout == ""


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    words = [sys.executable, "-c", SENTRY, str(tmp_path / "sentry.db"), str(tmp_path / "run"), "1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[1] == f"End(status={-signal.SIGTERM}, late=True)"
