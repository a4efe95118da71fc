"""kill -9 at any time leaves nothing that the next `up` or `down` doesn't clear."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.lab.conftest import PATIENCE_S, left_of, ssh
from tests.processes import wait_until
from wulf import lab
from wulf.lab import state
from wulf.lab.netns import Wire

pytestmark = pytest.mark.lab


def start(code: str, name: str) -> subprocess.Popen[str]:
    """Python that has the lab's name in its environment, so that its children are known by it."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import wulf.lab, time, os\n{code}"],
        env=os.environ | {"WULF_LAB": name}, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def answers(made: lab.Lab) -> bool:
    return ssh(made, "n1", "hostname").stdout == "n1\n"


SHORT = 6
"""Moments at which `make test` kills; `make test-all` has the rest."""


@pytest.mark.parametrize("seed", [*range(SHORT), *(pytest.param(i, marks=pytest.mark.full) for i in range(SHORT, 24))])
def test_up_killed_anywhere(netns: None, lab_name: str, seed: int) -> None:
    moment = random.Random(seed).uniform(0.05, 0.5)
    with start("wulf.lab.up(4)", lab_name) as process:
        time.sleep(moment)
        process.kill()
    if seed % 3 == 0:  # the next `up` cleans as well
        # One that was killed between its last two steps is found for a moment, until its processes have ended too.
        assert wait_until(lambda: not (found := lab.find(lab_name)) or answers(found), PATIENCE_S)
        with lab.find(lab_name) or lab.up(2, name=lab_name) as made:  # found: it was complete when it was killed
            assert answers(made)
    else:
        lab.down(lab_name)
    assert left_of(lab_name) == []


def test_complete_lab_outlives_its_maker(netns: None, lab_name: str) -> None:
    with start("wulf.lab.up(4); os.kill(os.getpid(), 9)", lab_name):
        pass
    assert ssh(lab.find(lab_name), "n4", "hostname").stdout == "n4\n"


def test_incomplete_lab_ends_with_its_maker_even_without_down(netns: None, lab_name: str) -> None:
    kill = "wulf.lab.state.save = lambda *_: os.kill(os.getpid(), 9)"  # all nodes are ready, lab.json isn't written
    with start(f"import wulf.lab.state\n{kill}\nwulf.lab.up(4)", lab_name) as process:
        pass
    assert process.returncode == -signal.SIGKILL
    assert wait_until(lambda: not [one for one, _ in state.processes() if one == lab_name], PATIENCE_S)


@pytest.mark.parametrize("fork", [False, True], ids=["alone", "with a forked child"])
def test_ephemeral_lab_ends_with_its_owner(netns: None, lab_name: str, fork: bool) -> None:
    code = f"wulf.lab.up(3, keep=False, name={lab_name!r})\n"
    # The child holds copies of everything its parent had open, as multiprocessing's do.
    code += "if os.fork() == 0: os.setsid(); time.sleep(30); os._exit(0)\n" if fork else ""
    code += "print(os.getpid(), flush=True); time.sleep(60)"
    with start(code, "unrelated") as process:
        process.stdout.readline()
        assert len(lab.find(lab_name).nodes) == 3
        process.kill()
        assert wait_until(lambda: not [one for one, _ in state.processes() if one == lab_name], PATIENCE_S)
        assert wait_until(lambda: not (state.root() / lab_name).exists(), PATIENCE_S)
        if not fork:
            assert left_of(lab_name) == []


def test_ephemeral_lab_ends_when_its_owner_just_ends(netns: None, lab_name: str) -> None:
    with start(f"wulf.lab.up(2, keep=False, name={lab_name!r})", lab_name) as process:
        assert process.wait(20) == 0
    assert left_of(lab_name) == []


def test_interrupt_during_up_leaves_nothing(netns: None, lab_name: str) -> None:
    for moment in (0.15, 0.25, 0.3, 0.35):
        with start("wulf.lab.up(8)", lab_name) as process:
            time.sleep(moment)
            os.killpg(process.pid, signal.SIGINT)
        if process.returncode != 0:  # interrupted before it was complete
            assert wait_until(lambda: not [one for one, _ in state.processes() if one == lab_name], PATIENCE_S)
            assert not (state.root() / lab_name).exists()
        lab.down(lab_name)
        assert left_of(lab_name) == []


def test_first_process_killed(netns: None, lab_name: str) -> None:
    lab.up(3, name=lab_name)
    os.kill(state.load(lab_name)["init"]["pid"], signal.SIGKILL)
    assert wait_until(lambda: lab.find(lab_name) is None, PATIENCE_S)
    lab.up(1, name="other" + lab_name).down()  # any `up` or `down` clears it
    assert left_of(lab_name) == []


@pytest.mark.parametrize("damage", ["removed", "torn"])
def test_state_lost_while_the_lab_is_up(netns: None, lab_name: str, damage: str) -> None:
    made = lab.up(2, name=lab_name)
    if damage == "removed":
        shutil.rmtree(made.state)
    else:
        (made.state / "lab.json").write_text('{"name": ')
    assert lab.find(lab_name) is None
    lab.down(lab_name)  # of a lab without state every other `up` and `down` clears what is left, perhaps sooner
    assert left_of(lab_name) == []


def test_failing_sshd_is_reported_and_nothing_stays(
    netns: None, lab_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wulf.core.errors import LabError
    from wulf.lab import login

    good = login._sshd_config
    monkeypatch.setattr(login, "_sshd_config", lambda *arguments: good(*arguments) + "NoSuchOption yes\n")
    with pytest.raises(LabError, match=r"node n\d can't start: sshd ended") as caught:
        lab.up(2, name=lab_name)
    assert "NoSuchOption" in str(caught.value)
    assert left_of(lab_name) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a process a /run of its own in a mount namespace: needs root")
def test_another_containers_lab_is_none_of_ours(netns: None, lab_name: str) -> None:
    """A host sees its containers' processes; a lab whose directory is not below our /run is not a leftover of ours."""
    code = f"made = wulf.lab.up(1, keep=False, name={lab_name!r}); print(made.is_up('n1'), flush=True); input()"
    words = 'mount -t tmpfs tmpfs /run && exec "$0" -c "$1"'
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", words, sys.executable, f"import wulf.lab\n{code}\nprint(made.is_up('n1'))"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        lab.down(lab_name)  # by its very name
        state.clear_stale()
        assert process.communicate("\n", timeout=30)[0] == "True\n", "still up"


def test_interrupt_at_the_very_end_of_up_leaves_nothing(
    netns: None, lab_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lab is complete, its maker not yet back: who pressed Ctrl-C has no lab then."""
    close = Wire.close

    def interrupted(self: Wire) -> None:
        close(self)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Wire, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lab.up(2, name=lab_name)
    assert wait_until(lambda: not [one for one, _ in state.processes() if one == lab_name], PATIENCE_S)
    assert not (state.root() / lab_name).exists()
