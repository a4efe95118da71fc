"""The terminal report in exactly 80 columns, without colour."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tests.unit.report.make_run import SHAPES, failed, hostile, make_run, pair_records, record, survey, troubled
from tests.wording import Wording, lacking
from wulf.report.run.terminal import print_records, print_report
from wulf.store.run import Run


def shown(run: Run, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), record=True, color_system=None)
    print_report(run, console)
    return console.export_text().splitlines()


def block(lines: list[str], title: str) -> list[str]:
    """The lines from a title to the next empty line."""
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    stop = next((i for i in range(start, len(lines)) if not lines[i].strip()), len(lines))
    return [line.rstrip() for line in lines[start:stop]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [80, 40])
def test_every_shape_fits(shape: str, width: int) -> None:
    lines = shown(SHAPES[shape](), width)
    assert lines
    assert max(map(len, lines)) <= width


def test_findings_come_before_tables() -> None:
    lines = shown(survey())
    assert lines[0].startswith("n3 stands out: its links reach 0.19 Gbit/s")
    places = [next(i for i, x in enumerate(lines) if x.startswith(w)) for w in ("PROBLEM  n3", "LOOK AT", "TCP round")]
    assert places == sorted(places)


def test_a_matrix_exactly() -> None:
    records = [
        record(pair, "throughput", value, phase="pairs", params={"transport": "tcp", "pattern": "stream", "bytes": 1})
        for pair, value in {"n1>n2": 1.25e9, "n2>n1": 1.2e9, "n1>n3": 2.5e7, "n3>n1": 2.4e7, "n2>n3": 1.1e9}.items()
    ]
    records.append(
        failed("n3>n2", "throughput", "peer lost", phase="pairs", params={"transport": "tcp", "pattern": "stream"})
    )
    records[-1].params["bytes"] = 1
    assert block(shown(make_run(("n1", "n2", "n3"), records)), "TCP bandwidth") == [
        "TCP bandwidth (Gbit/s), from row to column",
        "  5 of 6 pairs, 192 Mbit/s to 10 Gbit/s",
        "         n1    n2     n3",
        "  n1      ·  10.0  0.200",
        "  n2   9.60     ·   8.80",
        "  n3  0.192     ×      ·",
    ]


def test_missing_and_doubtful_values_are_marked_and_explained() -> None:
    text = "\n".join(shown(troubled()))
    assert "~25.0" in text
    for line in ("~ noisy: the interval is wider", "? unresolved: no answer", "× failed: the", "– not measured"):
        assert f"\n  {line}" in text
    assert "12.1%" not in text  # the interval itself says how noisy
    lost = next(line for line in text.splitlines() if "× TCP round trip" in line)
    assert lacking(lost, "1 B, n1 ↔ n4 and 1 more: ", "n4: its session ended") == []
    assert lacking(text, "was interrupted", " 32 records") == []


def test_no_legend_where_all_is_well() -> None:
    text = "\n".join(shown(survey()))
    assert "noisy" not in text
    assert "not measured" not in text


def test_wide_matrices_are_folded_into_blocks_of_columns() -> None:
    lines = shown(survey([f"n{i}" for i in range(1, 17)], slow=None))
    heads = [line.split() for line in lines if re.fullmatch(r"( +n\d+)+ *", line)]
    assert heads[:2] == [[f"n{i}" for i in range(1, 13)], [f"n{i}" for i in range(13, 17)]]


def test_large_clusters_show_the_ten_slowest_pairs() -> None:
    table = block(shown(survey([f"n{i:03d}" for i in range(1, 21)], slow="n007")), "TCP bandwidth")
    assert lacking(table[2], "slowest of 380 pairs", "(380 to measure)") == []
    assert len(table) == 14
    assert all("n007" in line for line in table[4:])


def test_long_names_are_numbered() -> None:
    names = [f"compute-{i}.cluster.example.org" for i in (1, 2)]
    lines = shown(make_run(names, pair_records(names)))
    assert any(line.split() == ["1", "2"] for line in lines)
    assert any(line.startswith("  1 compute-1.cluster.example.org") for line in lines)


def test_names_can_not_drive_the_terminal() -> None:
    text = "\n".join(shown(hostile()))
    assert "\x1b" not in text
    assert "n\ufffd[31m3" in text
    assert "[bold]" in "\n".join(shown(make_run(("[bold]", "n2"), pair_records(["[bold]", "n2"]))))


def test_colour_is_used_where_there_is_some_and_adds_no_meaning() -> None:
    out = io.StringIO()
    print_report(troubled(), Console(width=80, file=out, force_terminal=True, color_system="standard"))
    assert "\x1b[1;31mPROBLEM" in out.getvalue()


def test_a_pipe_gets_no_trailing_blanks_on_its_text() -> None:
    out = io.StringIO()
    print_report(survey(), Console(width=80, file=out))
    lines = out.getvalue().splitlines()
    stop = next(i for i, line in enumerate(lines) if line.startswith("TCP round trip"))
    assert [line for line in lines[:stop] if line != line.rstrip()] == []


def test_one_reason_is_given_once() -> None:
    text = "\n".join(shown(SHAPES["dead"](), 120))
    pairs = next(line for line in text.splitlines() if "× TCP round trip" in line)
    assert lacking(pairs, "1 B, n1 ↔ n2 and 11 more: n2: ", "wulf-net ended", "SIGKILL") == []
    assert "× 12 sizes from 1 B to 4 MiB: n2: " in text
    assert text.count("SIGKILL") == 2


def test_a_node_against_itself() -> None:
    assert block(shown(SHAPES["loopback"]()), "TCP round trip") == [
        "TCP round trip, 1 B (µs)",
        "  1 of 1 pair, 9 µs to 9 µs",
        "        n1",
        "  n1  9.00",
    ]


def test_a_single_measurement_in_full(wording: Wording) -> None:
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    each = record(
        "n1>n2", "rtt", 18.5e-6, quantiles={"0.5": 18.5e-6, "0.999": 75e-6}, counters={"client": {"tcp.RetransSegs": 3}}
    )
    lost = record("n1>n2", "lost", 0.0, low=None, high=None, confidence=None)
    print_records(make_run(records=[each, lost]), console)
    text = console.export_text().lstrip()
    lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    assert lines[:6] == [
        ["n1 → n2: round trip 18.5 µs (18.1–18.9 µs)."],
        [""],
        ["n1 → n2", "tcp pingpong, 1 B"],
        ["value", "interval", "replicates", "verdict"],
        ["round trip", "18.5 µs", "18.1–18.9 µs (95 %)", "10", "ok"],
        ["lost", "0", "–", "10", "ok"],
    ]
    assert lacking(lines[6][0], "round trip: ", "p50 18.5 µs", "p99.9 75 µs") == []
    assert lacking(lines[7][0], "both ends", "client.tcp.RetransSegs 3") == []
    wording(text)


def test_a_failed_single_measurement_is_a_dash_with_its_reason() -> None:
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    print_records(make_run(records=[failed("n1>n2", "rtt", "n2: connection refused")]), console)
    last = console.export_text().splitlines()[-1]
    assert last.split() == ["round", "trip", "–", "–", "0", "failed:", "n2:", "connection", "refused"]


def test_what_limits_a_figure_stands_with_it() -> None:
    limit = {"rule": "window-bound", "subject": "n2", "text": "n2's receive window held it up.", "severity": "warn",
             "next_step": "raise tcp_rmem", "evidence": []}  # fmt: skip
    one = record("n1>n2", "throughput", 1e9, phase="single", bottleneck=[limit])
    lines = [line.strip() for line in shown(make_run(("n1", "n2"), [one]))]
    at = lines.index("window-bound: n2's receive window held it up.")
    assert lines[at + 1] == "→ raise tcp_rmem"
