"""Rates as metrics."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import wulf.rates
from tests.unit.rates.making import LATENCY, NOTHING, SIZE, written
from wulf.rates.exposition import FAMILIES, UNREADABLE, families, metrics
from wulf.rates.rate import unix_time
from wulf.scrape.openmetrics import Form, exposition

SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? \S+')


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WULF_RATES", str(tmp_path / "rates.json"))
    written(tmp_path / "rates.json")
    return tmp_path / "rates.json"


def test_every_rate_with_its_interval_and_age(file: Path) -> None:
    text = exposition(families(wulf.rates.load(), unix_time(SIZE.at) + 60), Form.TEXT)
    lines = text.splitlines()
    assert 'wulf_rate{name="mem.l2.size",unit="B"} 1048576.0' in lines
    assert 'wulf_rate_low{name="mem.l2.latency",unit="s"} 3.4e-09' in lines
    assert 'wulf_rate_high{name="mem.l2.latency",unit="s"} 3.6e-09' in lines
    assert 'wulf_rate_age_seconds{name="mem.l2.size",unit="B"} 60.0' in lines
    assert [line for line in lines if line.startswith("wulf_rate_ok")] == [
        'wulf_rate_ok{name="mem.l2.latency",unit="s"} 0.0', 'wulf_rate_ok{name="mem.l2.size",unit="B"} 1.0',
    ]  # fmt: skip
    assert "wulf_rates_unknown 1.0" in lines
    assert NOTHING.name not in text


def test_the_format_is_prometheus_own(file: Path) -> None:
    described = set()
    for line in exposition(families(wulf.rates.load(), 0), Form.TEXT).splitlines():
        if line.startswith("# "):
            word, name, rest = line[2:].split(" ", 2)
            assert word in ("HELP", "TYPE")
            assert rest
            described.add((word, name))
        else:
            assert SAMPLE.fullmatch(line), line
            name = re.split(r"[{ ]", line)[0]
            assert {("HELP", name), ("TYPE", name)} <= described


def test_labels_are_escaped(tmp_path: Path) -> None:
    done = written(tmp_path / "rates.json", replace(LATENCY, unit='a"b\\c\nd'))
    assert 'unit="a\\"b\\\\c\\nd"' in exposition(families(done.rates, 0), Form.TEXT)
    rates = replace(done.rates, host="\ud800")
    assert exposition(families(rates, 0), Form.TEXT).encode(), "what is no character ended every scrape"


def test_the_file_is_read_as_it_is_now(file: Path) -> None:
    for form in Form:
        assert "wulf_rates_readable 1.0" in metrics(form)
    file.write_text("{")
    for form in Form:
        assert metrics(form) == exposition(UNREADABLE, form)
    assert "wulf_rates_readable 0.0" in exposition(UNREADABLE, Form.TEXT)


def test_all_families_are_in_the_table(file: Path) -> None:
    assert [family.name for family in families(wulf.rates.load(), 0)] == [family.name for family in FAMILIES]
