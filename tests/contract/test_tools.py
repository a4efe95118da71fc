"""Every loop of another tool (`--as`): it runs over wulf-net, and takes what a node tells, or says why not."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from tests.process.cli.bad_input.changes import VALUES, defect_of, places, with_changed
from tests.unit.measure import test_mpi_tools, test_tools
from wulf.cli.main import cli
from wulf.measure.engine.plan import Cell
from wulf.measure.tool import Loop, Measurement
from wulf.measure.tools import loops, mpi_loops
from wulf.store.reading import replicate_of
from wulf.store.run import read_run


def name_of(loop: Loop) -> str:
    return f"{loop.tool}-{loop.pattern}-{loop.transport or 'mpi'}{'-both' if loop.options.get('both') else ''}"


def sound(loop: Loop) -> tuple[Cell, dict[str, Any]]:
    """A cell, the second of its run, and what a probe tells of it: all that any tool reads."""
    if not loop.transport:
        _, cell = test_mpi_tools.cells_of(loop, 8, 16)
        return cell, test_mpi_tools.answer(1, cell.metrics[0].name, 1e-5) | {"at": test_tools.AT, "counters": None}
    cell, flow, trip = test_tools.cell_of(loop, 1), test_tools.flow(1e8, cell=1), test_tools.trip(2e-5, 1)
    if loop.pattern == "connect":
        connections = {"connect": {"value": 3e-5}, "connections": {"value": 12_345.6}}
        return cell, trip | {"metrics": connections, "info": flow["info"], "counters": flow["counters"]}
    return cell, flow if loop.pattern == "stream" else trip | {"info": {**flow["info"], "late": 2}}


def told(loop: Loop, cell: Cell, line: str) -> None:
    """All that is made of a replicate."""
    try:
        replicate = replicate_of(line.encode())
    except (ValueError, ValidationError):
        return  # the run's reader refuses it before
    measured = Measurement.of([cell], [replicate])
    if measured.cells:
        if loop.figure is not None:
            assert 0 < loop.figure(replicate) < 1e18
        assert loop.command(measured) and loop.text(measured)
        if loop.files is not None:
            assert isinstance(loop.files(measured), dict)


@pytest.mark.parametrize("loop", [*loops(), *mpi_loops()], ids=name_of)
def test_a_changed_answer_is_taken_or_told(loop: Loop) -> None:
    cell, answer = sound(loop)
    answer = {"block": 0, "during": None} | answer
    line, wrong = json.dumps(answer), []
    told(loop, cell, line)
    for place in places(answer):
        for name in (*VALUES, "gone"):
            if not place and name == "gone":
                continue
            if defect := defect_of(partial(told, loop, cell, with_changed([line], 0, place, name))):
                wrong.append(f"{'.'.join(map(str, place))} is {name}: {defect}")
    assert wrong == []


@pytest.mark.parametrize("loop", loops(), ids=name_of)
def test_the_options_of_a_loop_are_those_of_its_transport(loop: Loop) -> None:
    assert loop.transport == "tcp" or "nodelay" not in loop.options


def out(folder: Path) -> list[str]:
    return ["--launcher", "local", "--quick", "--out", str(folder / "run")]


@pytest.mark.parametrize("loop", loops(), ids=name_of)
def test_the_programs_of_this_wulf_do_what_a_tool_does(loop: Loop, tmp_path: Path) -> None:
    how = ["--as", loop.tool, "--transport", loop.transport]
    more = ["--most", "8", "--seconds", "0.001"] if loop.pattern == "sweep" else ["--seconds", "0.6"]
    more += ["--bytes", "64"] if loop.tool == "iperf3" else []  # at its 1 Mbit/s few of the usual length come in 10 ms
    done = CliRunner().invoke(cli, ["net", loop.pattern, "a", "b", *how, *more, *out(tmp_path)], standalone_mode=False)
    assert done.exception is None and done.return_value in (0, 1), done.output
    assert done.stdout
    assert {record.verdict for record in read_run(tmp_path / "run").records} <= {"ok", "noisy", "unresolved"}


@pytest.mark.full
@pytest.mark.parametrize("loop", mpi_loops(), ids=name_of)
def test_ranks_do_what_a_tool_does(loop: Loop, tmp_path: Path) -> None:
    both = ["--both", "true"] if loop.options.get("both") else []
    words = ["mpi", loop.pattern, "n[1-2]", "--as", loop.tool, *both, "--bytes", "8", *out(tmp_path)]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert done.exception is None and done.return_value in (0, 1), done.output
    sizes = {record.params["bytes"] for record in read_run(tmp_path / "run").records}
    assert sizes >= {1, 2, 4, 8} and max(sizes) < 16
    assert len(done.stdout.splitlines()) >= len(sizes)
