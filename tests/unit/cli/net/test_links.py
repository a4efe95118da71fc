"""What `wulf links --live` says of each poll."""

from __future__ import annotations

import json

import pytest

from tests.unit.measure.net.test_traffic import OWNERS, answer, group
from wulf.cli.net import links
from wulf.measure.net.traffic import Polls


def polled(capsys: pytest.CaptureFixture[str], show: str) -> list[str]:
    polls = Polls(OWNERS)
    busy, quiet = group(again=70), group("10.0.0.1", segments=3, delivered=3, acked=900)
    taken = polls.take({"n1": answer(busy), "n2": answer(quiet)}, 0, "now")
    getattr(links, show)(1, polls.cells, taken)
    return capsys.readouterr().out.splitlines()


def test_a_line_a_pair(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = polled(capsys, "_lines")
    assert " ".join(first.split()) == "1 n1 → n2 8 Mbit/s rtt 200 µs (least 100 µs) again 1.00%"
    assert " ".join(second.split()) == "1 n2 → n1 720 bit/s rtt – (least –) again –"


def test_an_object_a_pair_in_si_units(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = map(json.loads, polled(capsys, "_json_lines"))
    assert (first["poll"], first["pair"], first["sent"], first["sent_again"]) == (1, "n1>n2", 1e6, 0.01)
    assert (second["pair"], second["smoothed_rtt"]) == ("n2>n1", None)
