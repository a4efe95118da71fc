from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.core.errors import LabError
from wulf.lab import rates


@pytest.mark.parametrize(
    "text, bits",
    [
        ("200mbit", 200_000_000),
        ("1.5Gbit", 1_500_000_000),
        ("64kbit", 64_000),
        ("9600bit", 9600),
        ("9600", 9600),
        ("2e6", 2_000_000),
        ("10kibit", 10_240),
        ("25mbps", 200_000_000),  # tc's "bps" are bytes
        (" 1gbit ", 1_000_000_000),
        ("none", None),
        ("NONE", None),
        ("1kbit", rates.LOWEST),
        ("34gbit", rates.HIGHEST),
    ],
)
def test_as_tc_reads_them(text: str, bits: int | None) -> None:
    assert rates.parse(text, "n1") == bits


@pytest.mark.parametrize(
    "text", ["", "0", "0gbit", "-5mbit", "5 mbit", "mbit", "5m", "5ki", "1.2.3mbit", "nan", "inf", "5mbit/s", "١mbit"]
)
def test_what_is_no_rate_names_node_and_rate(text: str) -> None:
    with pytest.raises(LabError, match=r"^n7: ") as caught:
        rates.parse(text, "n7")
    assert text in caught.value.what
    assert caught.value.next_step


@pytest.mark.parametrize("text", ["999bit", "34.1gbit", "1e300", "1e999", "5tbit"])
def test_outside_the_limits_names_them(text: str) -> None:
    with pytest.raises(LabError, match=r"limits: 1kbit to 34gbit"):
        rates.parse(text, "n1")


@given(st.integers(rates.LOWEST, rates.HIGHEST))
def test_shown_and_read_again_it_is_the_same(bits: int) -> None:
    assert rates.parse(rates.show(bits), "n1") == bits


@pytest.mark.parametrize("bits, text", [(10**9, "1gbit"), (1_500_000, "1500kbit"), (12_345, "12345bit")])
def test_shown_in_the_largest_whole_unit(bits: int, text: str) -> None:
    assert rates.show(bits) == text
