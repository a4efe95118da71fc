"""Peaks of processors whose figures are published, and what is said where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.apps.linpack import peaks
from wulf.apps.linpack.peaks import Peak


def facts(**values: Any) -> dict[str, dict[str, Any]]:
    return {f"cpu.{name}": {"value": value} for name, value in values.items()}


@pytest.mark.parametrize(
    ("vendor", "stepping", "model", "flop"),
    [
        ("GenuineIntel", "6-26-5", "Intel(R) Xeon(R) CPU X5550 @ 2.67GHz", 4),
        ("GenuineIntel", "6-45-7", "Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz", 8),
        ("GenuineIntel", "6-63-2", "Intel(R) Xeon(R) CPU E5-2690 v3 @ 2.60GHz", 16),
        ("GenuineIntel", "6-158-10", "Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", 16),
        ("GenuineIntel", "6-85-4", "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", 32),
        ("GenuineIntel", "6-85-4", "Intel(R) Xeon(R) Gold 5122 CPU @ 3.60GHz", 32),
        ("GenuineIntel", "6-85-4", "Intel(R) Xeon(R) Gold 5118 CPU @ 2.30GHz", 16),
        ("GenuineIntel", "6-85-4", "Intel(R) Xeon(R) Silver 4114 CPU @ 2.20GHz", 16),
        ("GenuineIntel", "6-143-8", "Intel(R) Xeon(R) Platinum 8480+", 32),
        ("AuthenticAMD", "23-1-2", "AMD EPYC 7601 32-Core Processor", 8),
        ("AuthenticAMD", "23-49-0", "AMD EPYC 7742 64-Core Processor", 16),
        ("AuthenticAMD", "25-1-1", "AMD EPYC 7763 64-Core Processor", 16),
        ("AuthenticAMD", "25-17-1", "AMD EPYC 9654 96-Core Processor", 16),
        ("AuthenticAMD", "26-2-1", "AMD EPYC 9755 128-Core Processor", 32),
        ("ARM", "r0p3", "ARM Cortex-A72", 4),
        ("ARM", "r3p1", "ARM Neoverse-N1", 8),
    ],
)
def test_operations_a_cycle_are_those_of_the_microarchitecture(
    vendor: str, stepping: str, model: str, flop: int
) -> None:
    assert peaks.core_of(facts(vendor=vendor, stepping=stepping, model=model)).flop == flop


@pytest.mark.parametrize(
    ("model", "stepping", "said"),
    [
        ("Intel(R) Xeon(R) Processor", "6-85-4", "one unit for AVX-512 or two"),
        ("12th Gen Intel(R) Core(TM) i9-12900K", "6-151-2", "cores of two kinds"),
        ("Some CPU", "6-999-1", "in no table"),
    ],
)
def test_what_cannot_be_known_has_a_reason(model: str, stepping: str, said: str) -> None:
    found = peaks.computed(facts(vendor="GenuineIntel", stepping=stepping, model=model, cores=8, frequency_base=2e9))
    assert found["base"].value is None
    assert said in found["base"].reason


def test_base_and_turbo_are_cores_by_clock_by_operations() -> None:
    found = peaks.computed(
        facts(
            vendor="AuthenticAMD", stepping="25-17-1", model="AMD EPYC 9654", cores=96, frequency_base=2.4e9,
            frequency_max=3.7e9,
        )
    )  # fmt: skip
    assert found["base"].value == 96 * 2.4e9 * 16
    assert found["turbo"].value == 96 * 3.7e9 * 16
    assert found["base"].how == "96 cores x 2.4 GHz x 16 (Zen 4)"


def test_intels_name_has_the_base_clock_where_the_kernel_says_none() -> None:
    own = facts(vendor="GenuineIntel", stepping="6-63-2", model="Intel(R) Xeon(R) CPU E5-2690 v3 @ 2.60GHz", cores=24)
    found = peaks.computed(own | {"cpu.frequency_max": {"value": None, "reason": "no cpufreq in /sys"}})
    assert found["base"].value == pytest.approx(998.4e9)
    assert "no cpufreq in /sys" in found["turbo"].reason


def test_nodes_add_up_and_one_that_is_not_known_is_named() -> None:
    assert peaks.of_all({"n1": Peak(1e9, "a"), "n2": Peak(2e9, "a")}) == Peak(3e9, "2 nodes: a")
    lost = peaks.of_all({"n1": Peak(1e9, "a"), "n2": Peak(None, reason="no clock")})
    assert (lost.value, lost.reason) == (None, "n2: no clock")


def test_every_row_of_the_table_has_a_source_and_either_a_figure_or_a_reason() -> None:
    for row in peaks.table():
        assert row["source"], row["name"]
        assert ("flop" in row) != ("reason" in row), row["name"]
        assert ("parts" in row) != ("models" in row), row["name"]
        assert all(low <= high for low, high in row.get("models", ())), row["name"]
