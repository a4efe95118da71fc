"""A reader gets this machine's rates whole, or an error of a type that says what is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import wulf.rates
from tests.unit.rates.making import AT, LATENCY, NOTHING, SIZE, written
from wulf.rates.places import read_path, user_path, write_path

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "reference" / "rates.schema.json").read_text())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written(tmp_path / "rates.json")
    return tmp_path / "rates.json"


def change(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_what_was_published_is_read(path: Path) -> None:
    rates = wulf.rates.load(path)
    assert dict(rates) == {rate.name: rate for rate in (SIZE, LATENCY, NOTHING)}
    assert (rates.host, rates.at) == ("n1", AT)
    assert rates.get_value("mem.l2.size") == 1048576


def test_the_age_is_the_readers(path: Path) -> None:
    rate = wulf.rates.load(path)["mem.l2.size"]
    noon = 1769860800.0
    assert rate.age(noon + 90) == 90
    assert rate.age(noon - 5) == 0, "a clock that was set back makes nothing younger than new"
    assert wulf.rates.load(path).get_value("mem.l2.size", max_age=60, now=noon + 60) == 1048576
    with pytest.raises(wulf.rates.RateOldError, match="61 s ago"):
        wulf.rates.load(path).get_value("mem.l2.size", max_age=60, now=noon + 61)


def test_a_rate_that_is_not_there_names_the_nearest(path: Path) -> None:
    with pytest.raises(KeyError) as caught:
        wulf.rates.load(path)["mem.l2.sise"]
    assert isinstance(caught.value, wulf.rates.RateMissingError)
    assert "the nearest is mem.l2.size" in str(caught.value)


def test_no_value_is_an_error_with_its_reason(path: Path) -> None:
    with pytest.raises(wulf.rates.RateUnknownError, match="no io_uring here"):
        wulf.rates.load(path).get_value("os.io_uring")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(wulf.rates.RatesMissingError, match="No such file") as caught:
        wulf.rates.load(tmp_path / "none.json")
    assert caught.value.exit_code == 3
    assert "wulf rates publish" in caught.value.next_step


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_torn_file(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(wulf.rates.RatesTornError, match="is torn"):
        wulf.rates.load(path)


def test_another_version_says_which(path: Path) -> None:
    change(path, schema=2)
    with pytest.raises(wulf.rates.RatesVersionError, match="schema 2; this wulf reads 1"):
        wulf.rates.load(path)


def test_another_kernel_says_what_differs(path: Path) -> None:
    machine = json.loads(path.read_text())["machine"]
    change(path, machine=machine | {"kernel.release": "2.4.18"})
    with pytest.raises(wulf.rates.RatesMachineError, match=r"kernel\.release was 2\.4\.18, is "):
        wulf.rates.load(path)
    assert len(wulf.rates.load(path, check=False)) == 3


def test_a_fact_that_one_side_could_not_read_says_nothing(path: Path) -> None:
    machine = json.loads(path.read_text())["machine"]
    del machine["kernel.release"]
    change(path, machine=machine | {"cpu.colour": "blue"})
    assert len(wulf.rates.load(path)) == 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", None), ("schema", "1"), ("schema", True), ("host", 1), ("at", "yesterday"), ("machine", []),
        ("machine", {"cpu.model": 3}), ("rates", []), ("rates", {"a": 1}), ("fingerprint", None), ("wulf", {}),
    ],
)  # fmt: skip
def test_wrong_fields_are_torn_for_reader_and_schema(path: Path, field: str, value: Any) -> None:
    change(path, **{field: value})
    with pytest.raises(wulf.rates.RatesTornError):
        wulf.rates.load(path)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(path.read_text()), SCHEMA)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("value", "1"), ("value", True), ("low", []), ("unit", ""), ("unit", None), ("at", "2026"), ("verdict", "fine"),
        ("provenance", "guessed"), ("reason", 3), ("value", None),
    ],
)  # fmt: skip
def test_a_wrong_rate_is_torn_for_reader_and_schema(path: Path, field: str, value: Any) -> None:
    content = json.loads(path.read_text())
    content["rates"]["mem.l2.size"][field] = value
    path.write_text(json.dumps(content))
    with pytest.raises(wulf.rates.RatesTornError, match=r"mem\.l2\.size|time"):
        wulf.rates.load(path)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, SCHEMA)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1" * 400])
def test_numbers_are_finite(path: Path, number: str) -> None:
    path.write_text(path.read_text().replace("1048576.0", number))
    with pytest.raises(wulf.rates.RatesTornError):
        wulf.rates.load(path)


def test_what_is_published_fits_the_schema(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(path.read_text()), SCHEMA)


def test_endless_and_odd_files_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(wulf.rates.RatesTornError, match="not a regular file"):
        wulf.rates.load("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(wulf.rates.RatesTornError, match="not a regular file"):
        wulf.rates.load(tmp_path / "pipe")
    (tmp_path / "long").write_bytes(b" " * (1 << 21))
    with pytest.raises(wulf.rates.RatesTornError, match="longer than 1048576 bytes"):
        wulf.rates.load(tmp_path / "long")
    (tmp_path / "deep").write_bytes(b"[" * 200_000)
    with pytest.raises(wulf.rates.RatesTornError):
        wulf.rates.load(tmp_path / "deep")


def test_the_search_order(tmp_path: Path) -> None:
    system, home = tmp_path / "run" / "rates.json", {"HOME": "/home/a"}
    assert read_path({**home, "WULF_RATES": "/x/y.json"}, system) == Path("/x/y.json")
    assert read_path(home, system) == Path("/home/a/.cache/wulf/rates.json")
    system.parent.mkdir()
    system.write_text("")
    assert read_path(home, system) == system
    assert user_path({**home, "XDG_CACHE_HOME": "/c"}) == Path("/c/wulf/rates.json")
    assert user_path({**home, "XDG_CACHE_HOME": "c"}) == Path("/home/a/.cache/wulf/rates.json")


def test_the_machines_file_is_published_where_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = {"HOME": "/home/a"}
    assert write_path(home, tmp_path / "wulf" / "rates.json") == tmp_path / "wulf" / "rates.json"
    assert write_path({**home, "WULF_RATES": "/x.json"}, tmp_path / "rates.json") == Path("/x.json")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert write_path(home, tmp_path / "rates.json") == Path("/home/a/.cache/wulf/rates.json")
