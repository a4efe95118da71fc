"""`wulf node --noise --why` finds culprits that were planted, by name and by how much, and none that were not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import wulf
from tests.lab.node import planted
from tests.lab.node.planted import planting
from wulf.core.records import Record
from wulf.lab import Lab
from wulf.measure.node.culprits import PHASE, Key, key_of, totals_in
from wulf.store.run import read_run

pytestmark = [
    pytest.mark.lab,
    pytest.mark.usefixtures("mark"),
    pytest.mark.skipif(os.geteuid() != 0, reason="tracing the system needs root"),
]

CPU = max(os.sched_getaffinity(0))


def culprits(folder: Path, *words: str) -> dict[tuple[str, Key], Record]:
    """(node, who) → its record, of `CPU`."""
    done = wulf("node", "--noise", "--why", "--quick", "--cpus", str(CPU), "--out", str(folder), *words)
    assert done.returncode in (0, 1), done.stderr
    run = read_run(folder)
    assert totals_in(run.records)
    return {(one.subject, key_of(one)): one for one in run.records if one.phase == PHASE}


def on_this_machine(folder: Path) -> dict[Key, Record]:
    return {key: record for (_, key), record in culprits(folder).items()}


def rate(found: dict[Key, Record], key: Key) -> float:
    return float(found[key].info["rate"]) if key in found else 0.0


def test_a_task_is_named_with_its_share_on_nodes_of_a_lab(tmp_path: Path, two_nodes: Lab) -> None:
    with planting("task", CPU) as said:
        found = culprits(tmp_path / "run", "--lab")
    for node in ("n1", "n2"):  # which have PID namespaces of their own
        record = found[node, Key("task", planted.NAME)]
        assert record.value is not None
        assert said["share"] / 2 < record.value < said["share"] * 2
    run = read_run(tmp_path / "run")
    assert any(one.about.get("culprit") == planted.NAME for one in run.findings)
    assert "Who took the CPU" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.full
@pytest.mark.alone
def test_a_tasks_share_is_within_its_interval_by_the_kernels_own_account(tmp_path: Path) -> None:
    with planting("task", CPU) as said:
        found = on_this_machine(tmp_path / "run")
    record = found[Key("task", planted.NAME)]
    assert record.low is not None
    assert record.high is not None
    slack = 0.05 * said["share"]  # its account is of the whole time, the interval of traced slices of it
    assert record.low - slack <= said["share"] <= record.high + slack


@pytest.mark.full
def test_a_timer_is_named_by_its_function_and_no_more_after_it(tmp_path: Path) -> None:
    key = Key("timer", "it_real_fn")
    with planting("timer", CPU) as said:
        during = on_this_machine(tmp_path / "during")
    after = on_this_machine(tmp_path / "after")
    assert 0.7 * said["rate"] < rate(during, key) < 1.3 / planted.INTERVAL
    assert rate(after, key) < rate(during, key) / 10
    assert not any(one.name == planted.NAME for one in after)


@pytest.mark.full
def test_an_interrupt_storm_is_told_by_its_vector_though_its_maker_sits_elsewhere(tmp_path: Path) -> None:
    key = Key("interrupt", "call_function_single")
    with planting("interrupts", CPU) as said:
        during = on_this_machine(tmp_path / "during")
    after = on_this_machine(tmp_path / "after")
    assert rate(during, key) > 0.7 * said["rate"]
    assert rate(after, key) < rate(during, key) / 10
    assert not any(one.name == planted.NAME for one in during)


@pytest.mark.full
def test_traffic_is_told_as_the_softirq_that_delivers_it(tmp_path: Path) -> None:
    key = Key("softirq", "NET_RX")
    with planting("network", CPU) as said:
        during = on_this_machine(tmp_path / "during")
    after = on_this_machine(tmp_path / "after")
    assert rate(during, key) > 0.5 * said["rate"]
    assert (during[key].low or 0.0) > 2 * _high(after, key)
    assert (during[Key("task", planted.NAME)].low or 0.0) > 0.01


def _high(found: dict[Key, Record], key: Key) -> float:
    high: Any = found[key].high if key in found else None
    return float(high or 0.0)
