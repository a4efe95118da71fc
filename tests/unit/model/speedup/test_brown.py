"""Brown's figures: what his text says of them."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.speedup.brown import FIGURES, WORK

N = np.arange(1.0, 2001.0)


def test_without_communication_it_is_amdahls_law() -> None:
    assert FIGURES[0].speedup(100, [1e9])[0] == pytest.approx(110 / 11)
    assert FIGURES[0].peak(100) == (np.inf, 110 / 11)


@pytest.mark.parametrize("figure", FIGURES[1:], ids=lambda figure: f"{figure.form.name}-{figure.communication:g}")
@pytest.mark.parametrize("work", WORK)
def test_the_peak_is_the_greatest_speedup(figure, work) -> None:  # type: ignore[no-untyped-def]
    place, gain = figure.peak(work)
    assert gain >= figure.speedup(work, N).max() * (1 - 1e-9)
    assert abs(place - N[figure.speedup(work, N).argmax()]) <= 1


def test_his_formula_by_hand() -> None:
    # S = (10 + 1000) / (10 + 10·1 + 1000/10 + 1)
    assert FIGURES[1].speedup(1000, [10])[0] == pytest.approx(1010 / 121)
    place, gain = FIGURES[1].peak(10000)
    assert place == pytest.approx(100)
    assert gain == pytest.approx(10010 / (11 + 200))


def test_more_communication_is_slower_and_more_work_scales_farther() -> None:
    for work in WORK:
        one, two, three = (figure.speedup(work, N) for figure in FIGURES[:3])
        assert (one >= two).all()
        assert (two >= three).all()
    gains = [FIGURES[1].peak(work) for work in WORK]
    assert gains == sorted(gains)


def test_the_papers_figure_4_is_drawn_by_its_caption_and_by_its_text() -> None:
    found = {figure.source: figure for figure in FIGURES if figure.number == 4}
    assert {source: figure.communication for source, figure in found.items()} == {"caption": 10, "text": 1}
    # N* = (Tp/2Tis)^⅓, and there S = (10 + 2000)/(11 + 100·10 + 2000/10)
    assert found["caption"].peak(1000)[0] == pytest.approx(50 ** (1 / 3))
    assert found["text"].peak(100000)[0] == pytest.approx(50000 ** (1 / 3))
    assert found["caption"].speedup(2000, [10])[0] == pytest.approx(2010 / 1211)
