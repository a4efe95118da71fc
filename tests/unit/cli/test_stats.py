"""`wulf stats selftest`: areas by name."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from wulf.cli.stats import selftest
from wulf.core.errors import UsageError
from wulf.selftest import run
from wulf.selftest.run import AREAS, areas, steps
from wulf.stats.claims import Claim


def test_every_step_is_of_an_area() -> None:
    assert len(areas()) == len(steps())
    assert list(dict.fromkeys(areas())) == list(AREAS)


def test_a_part_of_the_areas_is_simulated_with_the_noise_that_it_has_in_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def simulated(numbers: list[int], *_: object) -> list[tuple[int, list[Claim]]]:
        asked.extend(numbers)
        return [(number, [Claim("", "", 0.04, 300, 0.05)]) for number in numbers]

    monkeypatch.setattr(run, "simulated", simulated)
    monkeypatch.setattr(run, "speeds", list)
    assert CliRunner().invoke(selftest, ["--only", "blame, tune"], standalone_mode=False).return_value == 0
    assert [areas()[number] for number in asked] == [area for area in areas() if area in ("blame", "tune")]


def test_what_is_no_area_is_refused_with_those_that_there_are() -> None:
    result = CliRunner().invoke(selftest, ["--only", "blame,tuna"])
    assert isinstance(result.exception, UsageError)
    assert "'tuna'" in result.exception.what
    assert "blame" in result.exception.next_step
