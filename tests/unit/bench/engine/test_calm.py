"""Measurements made again while the hypervisor gives the CPUs to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from bench.engine.calm import ATTEMPTS, Calm, stolen_share

from tests.wording import lacking


def counted(*stolen: float) -> Iterator[dict[str, Any]]:
    """Snapshots in pairs, a second of two CPUs apart, of which so much was stolen."""
    user = steal = 0.0
    for share in stolen:
        yield {"cpu": {"all": {"user": user, "steal": steal}}}
        user, steal = user + 2 * (1 - share), steal + 2 * share
        yield {"cpu": {"all": {"user": user, "steal": steal}}}


def test_the_share_is_of_all_cpus_time() -> None:
    before, after = counted(0.25)
    assert stolen_share(before, after) == pytest.approx(0.25)


def test_a_calm_measurement_is_made_once() -> None:
    calm = Calm(counted=counted(0.005).__next__)
    assert calm.measure(iter("ab").__next__) == "a"
    assert calm.words.startswith("Of 1 measurements 0 were made again,")
    assert calm.words.endswith("meanwhile.")


def test_a_disturbed_one_is_made_again() -> None:
    calm = Calm(counted=counted(0.2, 0.3, 0.0).__next__)
    assert calm.measure(iter("abc").__next__) == "c"
    assert (calm.repeated, calm.kept) == (2, [0.0])


def test_the_calmest_is_kept_where_none_is_calm_and_that_is_said() -> None:
    shares = [0.5, 0.2, 0.4, 0.3, 0.6]
    calm = Calm(counted=counted(*shares).__next__)
    assert len(shares) == ATTEMPTS
    assert calm.measure(iter("abcdef").__next__) == "b"
    assert lacking(calm.words, "; 1 never", "worst with 20.0%") == []
