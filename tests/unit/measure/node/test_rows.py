"""The table of the node survey: complete, consistent, and readable by name."""

from __future__ import annotations

import pytest

from tests.unit.measure.node_records import record
from wulf.measure.node.rows import GROUPS, curves_of, read_table, rows_of, table

LMBENCH = """
MHz|cache line bytes|mem par|scal load|tlb pages
null call|null I/O (read)|null I/O (write)|stat|open clos|slct TCP|sig inst|sig hndl|fork proc|exec proc|sh proc
intgr bit|intgr add|intgr mul|intgr div|intgr mod|int64 bit|int64 add|int64 mul|int64 div|int64 mod
float add|float mul|float div|float bogo|double add|double mul|double div|double bogo
2p/0K|2p/16K|2p/64K|8p/16K|8p/64K|16p/16K|16p/64K
Pipe|AF UNIX|UDP|RPC/UDP|TCP|RPC/TCP|TCP conn
remote UDP|remote RPC/UDP|remote TCP|remote RPC/TCP|remote TCP conn
0K File Create|0K File Delete|10K File Create|10K File Delete|Mmap Latency|Prot Fault|Page Fault|100fd selct
Pipe bw|AF UNIX bw|TCP bw|File reread|Mmap reread|Bcopy (libc)|Bcopy (hand)|Mem read|Mem write
L1 $|L2 $|Main mem|Rand mem
"""
"""lmbench's summary, the host's description aside, which the facts hold."""


def test_every_figure_of_lmbenchs_summary_is_a_row() -> None:
    wanted = {label for line in LMBENCH.strip().splitlines() for label in line.split("|")}
    assert {row.lmbench or row.near for row in table().rows if row.lmbench or row.near} == wanted


def test_what_lmbench_does_otherwise_does_not_have_its_label() -> None:
    rows = table().by_name
    assert rows["os.process.exec"].beside == "not lmbench's exec proc, which is a program that is dynamically linked"
    assert rows["os.syscall.null"].beside == "lmbench: null call"
    assert rows["os.reread.mmap"].beside == ""
    assert all(bool(row.near) == bool(row.differs) and not (row.near and row.lmbench) for row in table().rows)


@pytest.mark.parametrize(
    ("name", "metric", "params"),
    [
        ("mem.fault.protection", "excess", {"kind": "protection"}),  # the signal taken off, as lat_sig prot
        ("mem.fault.page", "latency", {"kind": "pages"}),  # a page, as lat_pagefault
        ("os.reread.mapped", "throughput", {"how": "mapped"}),  # mapped once, as bw_mmap_rd mmap_only
        ("os.signal.handle", "excess", {"action": "handle"}),  # the sending taken off, as lat_sig catch
    ],
)
def test_rows_with_lmbenchs_label_are_its_work_and_statistic(name: str, metric: str, params: dict[str, str]) -> None:
    row = table().by_name[name]
    assert row.lmbench
    assert (row.metric, row.unit) == (metric, "B/s" if metric == "throughput" else "s")
    assert params.items() <= row.params.items()


def test_rows_that_none_of_lmbench_has_are_there() -> None:
    names = {row.name for row in table().rows}
    ours = "mem.l3.latency mem.random.latency.huge mem.numa.far mem.core_to_core os.epoll.tcp os.futex.same os.io_uring"
    assert set(f"{ours} noise.detour.lost noise.ftq.lost noise.kernel.lost power.package".split()) <= names


@pytest.mark.parametrize("processes", [2, 8, 16])
def test_context_switches_of_processes_without_memory_of_their_own_are_there(processes: int) -> None:
    row = table().by_name[f"os.context.{processes}p.0k"]
    assert row.params == {"processes": processes, "bytes": 0, "placement": "same"}
    assert (row.probe, row.unit) == ("context-switch", "s")


def test_every_group_has_rows_and_quick_has_some_of_each() -> None:
    assert {row.group for row in table().rows} == set(GROUPS)
    assert {row.group for row in table().rows if row.quick} == set(GROUPS)


def test_what_is_worse_follows_from_the_unit_or_is_said() -> None:
    rows = table().by_name
    assert rows["os.syscall.null"].worse == 1
    assert rows["mem.triad"].worse == rows["cpu.fma.double"].worse == rows["cpu.clock"].worse == -1
    assert rows["noise.detour.rate"].worse == 1
    assert rows["power.package"].worse == rows["mem.line"].worse == 0


def test_a_name_twice_and_an_unknown_group_are_refused() -> None:
    row = {"name": "a.b", "title": "t", "probe": "p", "metric": "latency"}
    with pytest.raises(ValueError, match=r"names twice: \['a.b'\]"):
        read_table({"block": [{"title": "T", "group": "cpu", "rows": [row, row]}], "curve": [], "matrix": []})
    with pytest.raises(ValueError, match=r"groups that are none: \['gpu'\]"):
        read_table({"block": [{"title": "T", "group": "gpu", "rows": [row]}], "curve": [], "matrix": []})


def test_records_by_row_and_of_two_nodes_by_the_one_that_measured() -> None:
    one, two = record("n1", "os.syscall.null", 1e-7), record("n1>n2", "net.remote.tcp.latency", 2e-5)
    other = record("n2", "os.syscall.null", 1e-7).model_copy(update={"row": None})
    assert rows_of([one, two, other]) == {"n1": {"os.syscall.null": one, "net.remote.tcp.latency": two}}


def test_a_curves_points_are_in_order_and_of_its_metric() -> None:
    points = [
        record("n1", "", size * 1e-9, "s", curve="mem.chase.small", params={"bytes": size}) for size in (64, 16, 32)
    ]
    aside = points[0].model_copy(update={"metric": "load"})
    found = curves_of([*points, aside])["n1"]["mem.chase.small"]
    assert [point.params["bytes"] for point in found] == [16, 32, 64]
