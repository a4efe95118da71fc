"""Which rows are held beside lmbench, and how its figures are read; what runs is injected."""

from contextlib import ExitStack

import pytest
from bench.node import lmbench

from wulf.measure.node.rows import table

WITHOUT = {
    "mem.l2.latency",  # lmbench reads it off at 128 KiB, whatever the L2 is
    "mem.line",
}


def test_every_row_with_lmbenchs_label_has_its_original():
    labelled = {row.name for row in table().rows if row.lmbench and row.program == "node" and not row.derived}
    assert labelled - WITHOUT == {*lmbench.ORIGINALS, *lmbench.OPERATIONS}


def made(monkeypatch, outputs):
    """The contests by name, where a program prints what is given for it."""
    monkeypatch.setenv(lmbench.FOLDER, "/lm")
    asked = []

    def run(words):
        program = next(word for word in words if word.startswith("/lm/"))
        asked.append((program.removeprefix("/lm/"), words))
        return outputs.get(asked[-1][0], "")

    with ExitStack() as stack:
        found = list(lmbench.contests(run, lambda *what, **params: (what, params), stack))
    return {contest.name: contest for contest in found}, asked


def test_figures_are_those_of_the_row_in_si(monkeypatch):
    outputs = {
        "lat_syscall": "Simple syscall: 0.0402 microseconds\n",
        "lat_mem_rd": '"stride=128\n0.00098 1.050\n0.00195 1.060\n64.00000 90.5\n',
        "bw_mmap_rd": "8.39 12000.5\n",
    }
    contests, asked = made(monkeypatch, outputs)
    theirs = {name.split(",")[0]: contest.peer for name, contest in contests.items()}
    assert theirs["os.syscall.null"]() == pytest.approx(0.0402e-6)
    assert all("TMPDIR=/dev/shm" in words for _, words in asked)
    assert theirs["mem.l1.latency"]() == pytest.approx(1.05e-9)
    assert theirs["mem.random.latency"]() == pytest.approx(90.5e-9)
    assert theirs["os.reread.mapped"]() == pytest.approx(12000.5e6)


def test_ours_is_the_rows_own_cell(monkeypatch):
    contests, asked = made(monkeypatch, {})
    assert asked[0][0] == "lmdd"  # the file is written as lmbench's summary writes it
    assert contests["mem.fault.protection, Prot Fault"].ours() == (("page-fault", "excess"), {"kind": "protection"})
    assert contests["mem.random.latency, Rand mem"].ours()[1]["bytes"] == 64 << 20


def test_one_run_of_lat_ops_has_all_operations(monkeypatch):
    text = "integer mul: 0.27 nanoseconds\nfloat div: 0.82 nanoseconds\n"
    contests, asked = made(monkeypatch, {"lat_ops": text})
    assert contests["cpu.int.mul, intgr mul"].peer() == pytest.approx(0.27e-9)
    assert contests["cpu.float.div, float div"].peer() == pytest.approx(0.82e-9)
    assert [program for program, _ in asked].count("lat_ops") == 1
