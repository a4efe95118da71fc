"""The nightly survey: what it says and when it is silent; cron and systemd take its schedule."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from tests.process.operations.templates import FOLDER, configured, written, wulf_in

NIGHTLY = FOLDER / "nightly"
SURVEY = """#!/bin/sh
echo "$@" >> {log}
case $1 in
compare) exit {slower} ;;
survey)
    for word; do out=$word; done
    mkdir -p "$out"
    echo '{{"state": "complete", "exit_code": {own}}}' > "$out/run.json"
    echo "nodes surveyed"
    exit {status} ;;
esac
"""
"""A wulf whose surveys end with `status`, with `own` where there is no baseline; `slower` is the status of compare."""


class Nights:
    """The script with a wulf of which each test says how it ends."""

    def __init__(self, where: Path, **variables: object) -> None:
        self.where, self.log, self.runs = where, where / "wulf.log", where / "runs"
        self.script = configured(
            "nightly/wulf-nightly", where, WULF=where / "wulf", RUNS=self.runs, NODES="n[1-2]", **variables
        )

    def night(self, status: int, own: int, slower: int = 0) -> tuple[int, str]:
        """Exit status, and what is printed."""
        text = SURVEY.format(log=self.log, status=status, own=own, slower=slower)
        written(self.where / "wulf", text)
        for run in sorted(self.runs.glob("20*")):  # a day passes
            run.rename(run.with_name(f"{int(run.name[:4]) - 1}{run.name[4:]}"))
        done = subprocess.run([self.script], capture_output=True, text=True, check=False, timeout=60)
        assert done.stderr == ""
        return done.returncode, done.stdout

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()


SAID = "nodes surveyed\n"


def test_the_first_night_has_no_baseline_and_is_told(tmp_path: Path) -> None:
    nights = Nights(tmp_path)
    assert nights.night(0, 0) == (0, SAID)
    (run,) = nights.runs.glob("20*")
    assert nights.calls() == [f"survey --nodes n[1-2] --out {run}"]


def test_every_other_night_is_held_against_the_one_before(tmp_path: Path) -> None:
    nights = Nights(tmp_path)
    for _ in range(3):
        nights.night(0, 0)
    *_, before, now = sorted(nights.runs.glob("20*"))
    assert nights.calls()[-1] == f"survey --nodes n[1-2] --baseline {before} --out {now}"
    assert len(list(nights.runs.glob("20*"))) == 3


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ((0, 0), (0, 0), False),
        ((0, 0), (1, 0, 1), True),
        ((0, 0), (1, 1), True),
        ((1, 1), (1, 1, 0), False),
        ((1, 1), (1, 1, 1), True),
        ((1, 1), (1, 1, 3), False),
        ((1, 1), (0, 0), True),
        ((1, 0, 1), (0, 0), False),
        ((3, 3), (3, 3), True),
        ((0, 0), (70, 70), True),
    ],
    ids=[
        "well as before", "slower", "a node stands out", "the same stands out", "it stands out and another is slower",
        "it stands out and nothing can be compared", "it stands out no more", "as slow as the night before",
        "still incomplete", "wulf failed",
    ],
)  # fmt: skip
def test_only_a_change_is_told(tmp_path: Path, before: tuple[int, ...], now: tuple[int, ...], told: bool) -> None:
    nights = Nights(tmp_path)
    nights.night(*before)
    assert nights.night(*now) == ((now[0], SAID) if told else (0, ""))


def test_an_interrupted_night_is_no_baseline(tmp_path: Path) -> None:
    nights = Nights(tmp_path)
    nights.night(0, 0)
    nights.night(0, 0)
    whole, torn = sorted(nights.runs.glob("20*"))
    (torn / "run.json").write_text('{"state": "interrupted", "exit_code": 130}')
    nights.night(0, 0)
    assert f"--baseline {nights.runs / f'{int(whole.name[:4]) - 1}{whole.name[4:]}'} " in nights.calls()[-1]


def test_a_trusted_run_is_the_baseline_of_all_nights(tmp_path: Path) -> None:
    nights = Nights(tmp_path, BASELINE="/trusted")
    nights.night(0, 0)
    nights.night(1, 1, 0)
    assert [re.findall(r"--baseline (\S+)", line) for line in nights.calls() if line[0] == "s"] == [["/trusted"]] * 2


def test_it_mails_what_it_would_print(tmp_path: Path) -> None:
    mail = written(tmp_path / "mail", f'#!/bin/sh\n(echo "$@"; cat) >> {tmp_path}/mailed\n')
    nights = Nights(tmp_path, MAIL_TO="root@localhost")
    nights.script.write_text(nights.script.read_text().replace("| mail ", f"| {mail} "))
    assert nights.night(0, 0) == (0, "")
    assert nights.night(0, 0) == (0, "")
    assert nights.night(1, 1) == (1, "")
    assert (tmp_path / "mailed").read_text() == "".join(
        f"-s wulf: n[1-2], exit status {status} root@localhost\n{SAID}" for status in (0, 1)
    )


def test_two_do_not_measure_each_other(tmp_path: Path) -> None:
    nights = Nights(tmp_path)
    nights.night(0, 0)
    with (nights.runs / ".nightly").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        status, said = nights.night(0, 0)
    assert (status, len(nights.calls())) == (3, 1)
    assert "still runs" in said


@pytest.mark.full
def test_nights_of_this_machine(tmp_path: Path) -> None:
    """With wulf itself, which may well find something slower the second time."""
    runs = tmp_path / "runs"
    script = configured(
        "nightly/wulf-nightly", tmp_path, WULF=wulf_in(tmp_path), RUNS=runs, NODES="localhost",
        OPTIONS="--quick --launcher local",
    )  # fmt: skip
    first, second = [
        subprocess.run([script], capture_output=True, text=True, check=False, timeout=120) for _ in range(2)
    ]
    before, now = sorted(runs.glob("20*"))
    assert first.returncode in (0, 1), first.stdout
    assert f"report: {before / 'report.html'}" in first.stdout
    assert not (before / "change.html").exists()
    assert (now / "change.html").exists()
    assert (second.returncode, f"change: {now / 'change.html'}" in second.stdout) in ((0, False), (1, True))


def analyzed(*words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=120)


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    for path in NIGHTLY.glob("*.[st]*er*"):
        (tmp_path / path.name).write_text(path.read_text().replace("/usr/local/sbin/wulf-nightly", "/bin/true"))
    units = sorted(map(str, tmp_path.iterdir()))
    assert len(units) == 2
    done = analyzed("verify", "--man=no", *units)
    assert (done.returncode, done.stderr) == (0, "")


def test_timer_and_cron_mean_the_same_hour(tmp_path: Path) -> None:
    (calendar,) = re.findall(r"^OnCalendar=(.*)", (NIGHTLY / "wulf-nightly.timer").read_text(), re.MULTILINE)
    done = analyzed("calendar", "--iterations=2", calendar)
    assert done.returncode == 0, done.stderr
    elapses = [
        datetime.strptime(text, "%Y-%m-%d %H:%M:%S")
        for text in re.findall(r"(?:elapse|#2): \w+ (\S+ \S+) ", done.stdout)
    ]
    assert len(elapses) == 2
    *settings, line = (NIGHTLY / "wulf-nightly.cron").read_text().splitlines()
    assert "MAILTO=root" in settings
    minute, hour, *days, user, command = line.split()
    assert (days, user, command) == (["*"] * 3, "wulf", "/usr/local/sbin/wulf-nightly")
    assert [(time.hour, time.minute) for time in elapses] == [(int(hour), int(minute))] * 2
