"""`wulf node --fleet` on this machine, beside a fleet that a state of a sentry tells of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.commands import wulf
from tests.unit.sentry.making import HOLDER
from wulf.measure.node.rows import Row, rows_of, table
from wulf.sentry.harvest import class_of, seconds_of
from wulf.sentry.state import Figure, MetricInfo, SentryState
from wulf.store.run import Run, read_run

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300)]

OTHERS = [f"f{i}" for i in range(1, 8)]
FASTER = 3.0
"""Times that the fleet does better in one row, and this machine in all others: no noise is that large."""


def fill(path: Path, run: Run, best: Row) -> None:
    """Seven nodes of this machine's hardware: faster in one row, slower in all others."""
    (node,) = run.fingerprint
    known, at = table().by_name, seconds_of(run.records[0].at)
    with SentryState(path) as state:
        state.watch(dict.fromkeys(OTHERS, class_of(run.fingerprint[node])), at, 0.01)
        number = state.claim("node", OTHERS, "due", at, HOLDER)
        assert number is not None
        for name, record in rows_of(run.records)[node].items():
            if record.value and known[name].worse:
                state.metric(MetricInfo(name, record.unit, "higher" if known[name].worse < 0 else "lower"))
                faster = (name == best.name) == (known[name].worse < 0)
                value = record.value * (FASTER if faster else 1 / FASTER)
                state.add(number, [Figure(one, name, at, value) for one in OTHERS])
        state.finish(number, "done", at, 1.0, measured=OTHERS)


@pytest.mark.full
def test_a_row_in_which_the_fleet_is_faster_is_named(tmp_path: Path) -> None:
    words, best = ("node", "--quick", "--only", "cpu"), table().by_name["cpu.sha1"]
    assert wulf(*words, "--out", str(tmp_path / "before")).returncode in (0, 1)
    fill(tmp_path / "sentry.db", read_run(tmp_path / "before"), best)
    done = wulf(*words, "--fleet", str(tmp_path / "sentry.db"), "--out", str(tmp_path / "run"))
    assert done.returncode in (0, 1), done.stderr
    (found,) = (one for one in read_run(tmp_path / "run").findings if "Beside the fleet" in one.text)
    assert found.about["slow"] == 1
    assert found.evidence[0].row == best.name
    assert "the median of 7 other nodes" in found.text
    assert f"is as fast as the fleet in {found.about['of'] - 1} of {found.about['of']} figures" in done.stdout
    assert "As fast as it should be?" in done.stdout
    assert best.name in done.stdout


def test_a_fleet_that_is_not_there_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    done = wulf("node", "--fleet", str(tmp_path / "none.db"), "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "there is no state of a sentry" in done.stderr
    assert not (tmp_path / "run").exists()
