"""Figures for people."""

import pytest

from wulf.core.units import show, show_interval


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.85e-5, "s", "18.5 µs"),
        (0.0, "s", "0 ns"),
        (9.9999e-4, "s", "1 ms"),
        (2.5e7, "B/s", "200 Mbit/s"),
        (2.7e9, "B/s", "21.6 Gbit/s"),
        (65507.0, "B", "64 KiB"),
        (4194304.0, "B", "4 MiB"),
        (3.0, "1", "3"),
        (123456.0, "1", "123456"),
        (2.4e9, "Hz", "2.4 GHz"),
        (None, "s", "–"),
        (-1.5e-6, "s", "-1.5 µs"),
        (5.0, "W", "5 W"),
    ],
)
def test_show(value: float | None, unit: str, text: str) -> None:
    assert show(value, unit) == text


def test_interval_has_one_unit_for_both_ends() -> None:
    assert show_interval(9.5e-7, 1.05e-6, "s") == "0.95–1.05 µs"
    assert show_interval(None, 1.0, "s") == "–"


def test_rates_of_memory_are_shown_in_bytes_and_of_arithmetic_in_operations() -> None:
    assert show(2.05e10, "byte/s") == "20.5 GB/s"
    assert show(5.9e10, "flop/s") == "59 Gflop/s"
    assert show(2.5e9, "B/s") == "20 Gbit/s"
