"""The table of layers in exactly 80 columns, and what the page's chart is given."""

from __future__ import annotations

import io
import re

from rich.console import Console

from tests.unit.report.make_layers import layered
from tests.unit.report.make_run import make_run, record
from tests.wording import Wording, lacking
from wulf.core.records import Verdict
from wulf.report.kit.view import Drawing, walk
from wulf.report.net.layers import Layers, doubtful, layer_table, unseen
from wulf.report.run.html import render
from wulf.report.run.terminal import print_report


def test_the_table_exactly(wording: Wording) -> None:
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    print_report(layered(), console)
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert max(map(len, lines)) <= 80
    start = next(i for i, line in enumerate(lines) if line.startswith("Layers"))
    block = lines[start : start + 9]
    assert lacking(block[0], "n1 → n2", "1 B", "µs") == []
    assert [re.split(r" {2,}", line.strip()) for line in block[2:8]] == [
        ["null", "0.0310", "0.0310 to 0.0310"],
        ["shm", "0.412", "0.412 to 0.412", "+0.381", "0.381 to 0.381"],
        ["pipe", "6.40", "6.40 to 6.40", "+5.99", "5.99 to 5.99"],
        ["unix", "6.40", "6.28 to 6.52", "(0.00)", "-0.0894 to 0.0894"],
        ["loopback udp", "12.5", "12.5 to 12.5", "+6.10", "6.01 to 6.19"],
        ["wire udp", "16.5", "16.5 to 16.5", "+4.00", "3.99 to 4.01"],
    ]
    assert lacking(block[8], "unix over pipe: no difference", "169 ns") == []
    wording("\n".join(block))


def test_a_failed_layer_stands_in_the_table_with_its_reason() -> None:
    lost = record(
        "n1>n2", "rtt", None, verdict=Verdict.FAILED, reason="n2: the connection was lost", phase="layers",
        params={"transport": "tcp", "pattern": "pingpong", "bytes": 1},
    )  # fmt: skip
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    print_report(layered(lost), console)
    assert "× wire tcp: n2: the connection was lost" in console.export_text()


def test_reasons_that_many_share_are_said_once() -> None:
    run = layered()
    for each in run.records:
        if each.metric == "difference":
            each.value, each.low, each.reason = None, None, "the 3 blocks in common are too few for an interval"
        else:
            each.verdict, each.reason = Verdict.UNRESOLVED, "3 replicates, 6 are needed"
    table = layer_table(run)
    assert table is not None
    (said,) = unseen(table)
    assert lacking(said, "5 differences: ", " 3 blocks in common") == []
    assert doubtful(table) == ["? 6 layers: 3 replicates, 6 are needed"]


def test_bars_stand_on_each_other_and_say_what_they_add() -> None:
    (drawing,) = (one for one in walk(Layers().view(layered())) if isinstance(one, Drawing))
    bars = {bar["name"]: bar for bar in drawing.make()["bars"]}
    assert list(bars) == ["null", "shm", "pipe", "unix", "loopback udp", "wire udp"]
    assert bars["wire udp"]["text"] == "+4 µs"
    assert bars["unix"]["text"] == "no difference found"
    assert abs(bars["wire udp"]["base"] + bars["wire udp"]["added"] - bars["wire udp"]["value"]) < 1e-9


def test_the_page_has_the_section_only_where_there_are_layers() -> None:
    page = render(layered())
    assert 'id="layers-chart"' in page
    assert "no difference found; minimum detectable 169 ns" in page
    assert 'id="layers-chart"' not in render(make_run())
