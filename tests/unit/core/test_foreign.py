"""What a node says can neither drive a terminal nor stop whoever reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.core.foreign import clean, parse

HARMFUL = "\x1b\x00\x07\x08\x7f\x9b\u202e\u2066\u200f\ud800"


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e308, 1e308) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
))  # fmt: skip
def test_what_is_said_is_taken_as_it_is_but_for_what_drives_a_terminal(value: object) -> None:
    def cleaned(one: object) -> object:
        if isinstance(one, dict):
            return {clean(key): cleaned(inner) for key, inner in one.items()}
        return clean(one) if isinstance(one, str) else [cleaned(x) for x in one] if isinstance(one, list) else one

    for ascii_only in (True, False):
        try:
            text = json.dumps(value, ensure_ascii=ascii_only).encode()
        except UnicodeEncodeError:
            continue
        assert parse(text) == cleaned(value)


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("harmful", HARMFUL)
def test_no_control_character_comes_through(harmful: str, ascii_only: bool) -> None:
    text = json.dumps({f"a{harmful}": [f"{harmful}b"]}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        found = parse(text)
    except UnicodeDecodeError:
        assert harmful == "\ud800" and not ascii_only
        return
    assert found == {"a\ufffd": ["\ufffdb"]}


def test_lines_stay_lines() -> None:
    assert clean("a\tb\r\nc\rd\n") == "a\tb\nc\nd\n"
    assert clean("Größe µ € 漢 \xa0") == "Größe µ € 漢 \xa0"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"NaN", "NaN"),
        (b'{"value": -Infinity}', "Infinity"),
        (b'{"value": [1e999]}', "beyond all bounds"),
        (b'{"value": -1E+400}', "beyond all bounds"),
        (b"9" * 400 + b".0", "beyond all bounds"),
        (b"9" * 400, "beyond all bounds"),
        (b"9" * 5000, "digits"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 100_000, "nested"),
        (b"\xff\xfe", "utf-8"),
        (b'{"a": 1} x', "Extra data"),
        (b"", "Expecting value"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(text)


def test_numbers_at_the_bounds_are_numbers() -> None:
    assert parse(b"[1e308, -1E+308, 1e-400, 18446744073709551616]") == [1e308, -1e308, 0.0, 1 << 64]
