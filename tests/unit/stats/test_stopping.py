"""Stopping looks only where it declared to."""

import pytest

from wulf.stats.stopping import WidthRule


def test_stops_at_a_look_when_narrow_enough() -> None:
    rule = WidthRule(wish=0.05)
    narrow = [1.0, 1.001, 1.002, 1.003, 1.004, 1.005]
    assert not rule.decide(narrow[:5]).stop
    assert rule.decide(narrow).stop
    assert not rule.decide([*narrow, 1.0]).stop, "seven is not a look"


def test_wide_goes_on_until_the_last_look() -> None:
    rule = WidthRule(wish=0.01, looks=(6, 10))
    wide = [1.0, 2.0] * 5
    assert not rule.decide(wide[:6]).stop
    assert rule.decide(wide).stop
    assert "wished" in rule.decide(wide).reason
    assert (rule.least, rule.most) == (6, 10)


def test_constant_samples_stop_at_the_first_look() -> None:
    assert WidthRule().decide([0.0] * 6).stop


@pytest.mark.parametrize("arguments", [{"wish": 0.0}, {"looks": ()}, {"looks": (10, 6)}, {"looks": (3,)}])
def test_nonsense_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"wish|looks|replicates"):
        WidthRule(**arguments)  # type: ignore[arg-type]
