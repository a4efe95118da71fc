"""Part `lmbench`: every row of the node survey that has lmbench's label and whose original can be run, beside it.

No distribution packages lmbench: WULF_LMBENCH names the folder with its programs, built with its own flags (-O). A row
whose ratio does not lie within 5 % of 1 is other work, and has to have another name (rows.toml: `near`).
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from bench.engine import parse
from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.rows import Row as Compared
from bench.engine.several import Runs
from bench.node import loops
from wulf.core.records import Param
from wulf.measure.node.rows import Row, table

FOLDER = "WULF_LMBENCH"

FILE_BYTES = 8 << 20
"""Of the file that lmbench's summary maps and reads."""

ARRAY_BYTES = 64 << 20
"""Of arrays in memory, on both sides."""

L1_BYTES = 1 << 10
"""Where lmbench's summary reads off the latency of L1."""

TIMING = ("ENOUGH=10000", "TIMING_O=0", "LOOP_O=0")
"""What its script exports for its programs, which else find it out anew, each for ten seconds: microseconds of a
repetition, of which most programs make eleven. On a steady machine its configuration finds as much or less.
"""

Run = Callable[[Sequence[str]], str]
"""A program on the CPU that measures: what it prints."""

Ours = Callable[..., float]
"""Probe, metric and parameters → one replicate's value."""


@dataclass(frozen=True)
class Original:
    """What of lmbench has a row's figure.

    Parameters
    ----------
    words
        Its program and arguments; `{file}` is a file of 8 MiB written by lmdd.
    scale
        From the last number that it prints to SI, where `read` is not given.
    read
        The figure in what it prints [SI].
    params
        What our probe is asked besides the row's own, as sizes that the survey takes from the node.
    """

    words: str
    scale: float = 1e-6
    read: Callable[[str], float] | None = None
    params: Mapping[str, Param] | None = None

    def figure(self, output: str) -> float:
        """What the program printed, in SI."""
        return self.read(output) if self.read else parse.lmbench_last(output, self.scale)


def _latency_at(size: int) -> Callable[[str], float]:
    """Of lat_mem_rd's lines (MB, ns) that of a size [B]."""

    def read(output: str) -> float:
        rows = re.findall(r"(?m)^([0-9.]+) ([0-9.]+)$", output)
        return min((abs(float(mb) * (1 << 20) - size), float(ns)) for mb, ns in rows)[1] * 1e-9

    return read


MEMORY = "/dev/shm"
"""Where lmbench makes its files: on a disk the figures are the disk's, and its journal's."""

_ARRAY: dict[str, Param] = {"bytes": ARRAY_BYTES}

ORIGINALS: dict[str, Original] = {
    "os.syscall.null": Original("lat_syscall null"),
    "os.syscall.read": Original("lat_syscall read"),
    "os.syscall.write": Original("lat_syscall write"),
    "os.syscall.stat": Original("lat_syscall stat /etc/passwd"),
    "os.syscall.open": Original("lat_syscall open /etc/passwd"),
    "os.signal.install": Original("lat_sig install"),
    "os.signal.handle": Original("lat_sig catch"),
    "mem.fault.protection": Original("lat_sig prot {file}"),
    "mem.fault.page": Original("lat_pagefault {file}"),
    "mem.mmap": Original(f"lat_mmap {FILE_BYTES} {{file}}"),
    "os.reread.read": Original(f"bw_file_rd {FILE_BYTES} io_only {{file}}", 1e6),
    "os.reread.mapped": Original(f"bw_mmap_rd {FILE_BYTES} mmap_only {{file}}", 1e6),
    **{
        f"os.context.{processes}p.{kib}k": Original(f"lat_ctx -s {kib} {processes}")
        for processes, kib in ((2, 0), (2, 16), (2, 64), (8, 16), (8, 64), (16, 16), (16, 64))
    },
    "mem.l1.latency": Original("lat_mem_rd -N 1 1 128", read=_latency_at(L1_BYTES), params={"bytes": L1_BYTES}),
    "mem.random.latency": Original("lat_mem_rd -N 1 -t 64 16", read=_latency_at(ARRAY_BYTES), params=_ARRAY),
}
"""Row → its original; arithmetic beside."""

OPERATIONS = {
    **{f"cpu.{ours}.{op}": f"{theirs} {op}" for ours, theirs in (("int", "integer"), ("int64", "int64"))
       for op in ("mul", "div")},
    **{f"cpu.{kind}.{op}": f"{kind} {op}" for kind in ("float", "double") for op in ("add", "mul", "div")},
}  # fmt: skip
"""Row → its name in lat_ops' output, of which one run has all."""


SLOW, SLOW_SHARE = ("mem.l1.latency", "mem.random.latency"), 0.5
"""Rows of which lmbench measures all sizes for one; they have so much of the time, and the others more blocks."""


def measure(context: Context) -> list[Compared]:
    """All rows of the part; none, where no lmbench is named."""
    if not os.environ.get(FOLDER):
        context.say(f"lmbench: {FOLDER} does not name the folder of its programs; left out")
        return []
    host = loops.this_host(context)
    found = list(contests(host.run, host.figure, context.stack))
    slow = [contest for contest in found if contest.name.split(",")[0] in SLOW]
    left = context.effort.until - context.effort.clock()
    rest = replace(context.effort, until=context.effort.until - SLOW_SHARE * left)
    run_blocks([contest for contest in found if contest not in slow], rest, context.rng, context.say)
    run_blocks(slow, context.effort, context.rng, context.say)
    return [contest.row() for contest in found]


def contests(run: Run, ours: Ours, stack: ExitStack) -> Iterator[Contest]:
    """A contest for each row.

    Parameters
    ----------
    stack
        Holds the files that lmbench is given.
    """
    file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "file"
    run(_words("lmdd", f"of={file}", f"move={FILE_BYTES}", "fsync=1", "print=3"))
    rows = table().by_name
    for words, names in _programs().items():
        runs = _runs(run, _words(*words.format(file=file).split()), names)
        for name in names:
            yield _contest(rows[name], ORIGINALS[name].params or {}, ours, functools.partial(runs.figure, name))
    operations = Runs(lambda: parse.lmbench_operations(run(_words("lat_ops", "-N", "3"))))
    for name, label in OPERATIONS.items():
        yield _contest(rows[name], {}, ours, functools.partial(operations.figure, label))


def _programs() -> dict[str, list[str]]:
    """Words of a program → the rows that one run of it has."""
    found: dict[str, list[str]] = {}
    for name, original in ORIGINALS.items():
        found.setdefault(original.words, []).append(name)
    return found


def _words(program: str, *words: str) -> list[str]:
    return ["env", *TIMING, f"TMPDIR={MEMORY}", f"{os.environ[FOLDER]}/{program}", *words]


def _runs(run: Run, words: Sequence[str], names: Sequence[str]) -> Runs[str]:
    def figures() -> dict[str, float]:
        output = run(words)
        return {name: ORIGINALS[name].figure(output) for name in names}

    return Runs(figures)


def _contest(row: Row, params: Mapping[str, Param], ours: Ours, theirs: Callable[[], float]) -> Contest:
    asked = {**row.params, **params}
    return Contest(
        f"{row.name}, {row.lmbench}", "lmbench", row.unit, "same", lambda: ours(row.probe, row.metric, **asked), theirs
    )
