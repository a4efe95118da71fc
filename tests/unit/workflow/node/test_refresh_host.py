"""The real machine of a refresh: whose CPU time is whose, and a child that is gone as soon as the load rises."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from wulf.workflow.node import refresh_host
from wulf.workflow.node.refresh import Account
from wulf.workflow.node.refresh_host import (
    ThisHost,
    Usage,
    busy_share,
    family_seconds,
    processes,
    programs_seconds,
    read_account,
    state_path,
    usage,
)


def test_what_others_use_is_what_is_not_ours() -> None:
    before, after = Usage(10.0, 100.0, 5.0), Usage(11.0, 101.5, 6.0)
    assert busy_share(before, after, cpus=2) == pytest.approx(0.25)
    assert busy_share(before, Usage(11.0, 100.5, 6.0), cpus=2) == 0, "ours was counted a moment later than all"


def test_programs_alone_are_counted() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    stat = "cpu  100 20 30 9999 400 500 600 700 0 0\ncpu0 1 2 3 4\n"
    assert programs_seconds(stat) == 150 / ticks


def test_a_family_is_all_below() -> None:
    assert family_seconds(1, {1: (0, 1.0), 2: (1, 2.0), 3: (2, 4.0), 4: (0, 8.0), 5: (4, 16.0)}) == 7.0
    assert family_seconds(9, {1: (0, 1.0)}) == 0.0


def test_this_process_is_seen() -> None:
    assert processes()[os.getpid()][0] == os.getppid()
    first = usage()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    assert usage().own - first.own >= 0.05


def test_the_account_is_kept_and_begun_anew_where_it_is_torn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a" / "refresh.json"
    assert read_account(path, 7.0) == Account(at=7.0, since=7.0)
    kept = Account(at=1.0, credit=-2.5, cost=3.0, spent=4.0, since=0.5, tried={"mem.l2.latency": 0.75})
    ThisHost(lambda *_: [], path).save(kept)
    assert read_account(path, 7.0) == kept
    assert capsys.readouterr().err == ""
    for content in ("{", "[]", '{"at": 1}', path.read_text().replace("0.75", '"x"')):
        path.write_text(content)
        assert read_account(path, 7.0) == Account(at=7.0, since=7.0)
        assert "begun anew" in capsys.readouterr().err


def test_where_the_account_is_kept() -> None:
    assert state_path({"STATE_DIRECTORY": "/var/lib/wulf:/x"}) == Path("/var/lib/wulf/refresh.json")
    assert state_path({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == Path("/s/wulf/refresh.json")
    assert state_path({"XDG_STATE_HOME": "s", "HOME": "/h"}) == Path("/h/.local/state/wulf/refresh.json")


def looks(loads: Sequence[float]) -> Iterator[Usage]:
    """Usages whose differences are these loads of one CPU, a second apart; the last goes on."""
    cpus, used = os.cpu_count() or 1, 0.0
    for second in range(1_000_000):
        yield Usage(float(second), used, 0.0)
        used += loads[min(second, len(loads) - 1)] * cpus


def test_it_looks_more_often_than_twice_a_second() -> None:
    assert refresh_host.WINDOW * 2 < 1.0, "a load is seen in full in the second look after it rose at the latest"


def test_the_last_minute_counts_before_anything_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cpus = os.cpu_count() or 1
    monkeypatch.setattr(refresh_host, "WINDOW", 0.0)
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0 * cpus, 0.0, 0.0))
    seen = looks([0.25])
    host = ThisHost(lambda *_: [], tmp_path / "state", lambda: next(seen))
    assert host.load(first=True) == 3.0
    assert host.load(first=False) == pytest.approx(0.25), "later it would count what we did ourselves"


def test_own_time_is_counted_once(tmp_path: Path) -> None:
    host = ThisHost(lambda *_: [], tmp_path / "state")
    assert host.overhead() > 0
    assert host.overhead() < 5
