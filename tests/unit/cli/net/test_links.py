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


def test_of_many_pairs_a_sum_and_the_worst_are_shown_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"compute-rack{number:03}" for number in range(100)]
    polls = Polls({name: name for name in names})
    answers = {a: answer(*(group(b, again=int(b[-3:])) for b in names if b != a)) for a in names[:3]}
    links._lines(7, polls.cells, polls.take(answers, 0, "now"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + links.MOST_LINES
    assert max(map(len, lines)) <= 80
    assert " ".join(lines[0].split()).startswith(
        "7 297 pairs, 2.38 Gbit/s, median rtt 200 µs, 295 sent again; the worst"
    )
    assert all("again 1.4" in line for line in lines[1:4])


def test_four_nodes_have_a_line_a_pair_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"node{number}" for number in range(4)]
    polls = Polls({name: name for name in names})
    answers = {a: answer(*(group(b, rtt=0.01234, least=0.000987) for b in names if b != a)) for a in names}
    links._lines(1234, polls.cells, polls.take(answers, 0, "now"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert max(map(len, lines)) <= 80


def test_an_object_a_pair_in_si_units(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = map(json.loads, polled(capsys, "_json_lines"))
    assert (first["poll"], first["pair"], first["sent"], first["sent_again"]) == (1, "n1>n2", 1e6, 0.01)
    assert (second["pair"], second["smoothed_rtt"]) == ("n2>n1", None)
