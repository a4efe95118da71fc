"""Runs of which one field was changed: whoever reports or compares them takes it, or says what is wrong."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.process.cli.bad_input.changes import VALUES, defect_of, places, with_changed
from tests.process.cli.bad_input.runs import IN_MEMORY, write_run
from tests.unit.report.make_run import SHAPES
from tests.unit.report.node.test_culprits import cluster
from wulf.measure.comparing import compare_runs
from wulf.report.run.terminal import print_report
from wulf.report.run.view import report_view
from wulf.store.run import Run, read_run

FEW, MANY = 12, 100
"""Changes of a file."""


def lost_to_culprits() -> Run:
    return Run(path=Path("run"), meta={"id": "x", "command": "node-noise"}, records=cluster(3))


RUNS: dict[str, Callable[[], Run]] = {**IN_MEMORY, "survey": SHAPES["survey"], "culprits": lost_to_culprits}


def told(path: Path, sound: Run) -> None:
    run = read_run(path)
    print_report(run, Console(file=io.StringIO(), width=80), whole=True)
    report_view(run)
    compare_runs(sound, run)


def changed(lines: list[str], chance: random.Random, number: int) -> Iterator[tuple[str, str]]:
    """What was changed, and the file's text. Places of a form, such as a field of all records, count as one."""
    forms: dict[tuple[Any, ...], list[tuple[int, tuple[Any, ...]]]] = {}
    for line, text in enumerate(lines):
        for place in places(json.loads(text)):
            form = tuple("*" if isinstance(step, int) else step for step in place)
            forms.setdefault(form, []).append((line, place))
    every = [(form, name) for form in forms if form for name in (*VALUES, "gone")]
    for form, name in chance.sample(every, min(number, len(every))):
        line, place = chance.choice(forms[form])
        what = f"{'.'.join(map(str, place))} of line {line + 1} is {name}"
        yield what, with_changed(lines, line, place, name)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", RUNS)
def test_a_changed_field_is_taken_or_told(name: str, number: int, tmp_path: Path) -> None:
    path = tmp_path / "run"
    write_run(path, RUNS[name]())
    sound, chance, wrong = read_run(path), random.Random(name), []
    for file in sorted(path.glob("*.json*")):
        text = file.read_text()
        lines = text.splitlines() if file.suffix == ".jsonl" else [text]
        for what, now in changed(lines, chance, number):
            file.write_text(now)
            if defect := defect_of(lambda: told(path, sound)):
                wrong.append(f"{file.name}: {what}: {defect}")
        file.write_text(text)
    assert wrong == []
