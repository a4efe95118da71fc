"""Times as people write them."""

from __future__ import annotations

import pytest

from wulf.core.durations import parse_duration, parse_long_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60s", 60), ("5m", 300), (" 1h ", 3600), ("7d", 604_800), ("0.5", 0.5), ("36500d", 3_153_600_000)],
)
def test_long_ones(text: str, seconds: float) -> None:
    assert parse_long_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a duration such as 60s"),
        ("soon", "is not a duration such as 60s"),
        ("5w", "is not a duration such as 60s"),
        ("0", "is not above 0"),
        ("-1m", "is not above 0"),
        ("nan", "is not above 0"),
        ("1e308", "is longer than 36500d"),
        ("inf", "is longer than 36500d"),
        ("36501d", "is longer than 36500d"),
    ],
)
def test_what_is_no_long_duration_is_said(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_long_duration(text)


@pytest.mark.parametrize(("text", "seconds"), [("50us", 5e-5), ("1.5 ms", 1.5e-3), ("none", 0.0), ("0", 0.0)])
def test_short_ones(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(("text", "why"), [("5", "with its unit"), ("1m", "with its unit"), ("11s", "The most is 10")])
def test_what_is_no_short_duration_is_said(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_duration(text, most=10)
