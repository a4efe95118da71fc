"""docs/how-to/models.md holds Brown's figures as they are drawn now, and claims that hold."""

from __future__ import annotations

import re

from bench.selftest.models import PAGE, brown_text, made

from wulf.stats.claims import Claim


def test_the_page_shows_browns_figures_as_they_are_drawn() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert brown_text() in text
    assert max(map(len, brown_text().splitlines())) <= 80


def test_every_claim_of_the_page_holds_over_a_thousand_campaigns() -> None:
    rows = re.findall(
        r"^\| .*intervals of .* \| .* \| ([\d.]+)% \| [\d.–]+ \| ≥ 93% \| (\d+) \| (\w+) \|$", PAGE.read_text(), re.M
    )
    assert len(rows) >= 8
    assert all(campaigns == "1000" and met == "yes" for _, campaigns, met in rows)
    assert " NO |" not in PAGE.read_text()


def test_what_is_made() -> None:
    text = made([Claim("a claim", "noise", 0.95, 1000, 0.93, at_most=False)])
    table = [line.strip("| ").split(" | ") for line in text.splitlines()]
    assert ["a claim", "noise", "95.0%", "93.5–96.3", "≥ 93%", "1000", "yes"] in table
    assert text.startswith("### Brown's figures")
