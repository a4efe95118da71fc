"""The contact sheet keeps what is on it, whatever is made anew."""

from __future__ import annotations

from pathlib import Path

from tests.browser.contact_sheet import ABOUT, entries

SHEET = Path(__file__).parents[3] / "docs" / "how-it-works" / "pages.md"


def test_a_sheet_is_read_as_it_was_written() -> None:
    text = SHEET.read_text(encoding="utf-8")
    found = entries(text)
    assert "\n".join([ABOUT, *found.values()]) == text
    assert {"survey", "watch", "trace", "search", "report --site"} <= set(found)
    for name, part in found.items():
        assert part.startswith(f"## wulf {name}\n\n> ")


def test_each_page_of_it_has_its_pictures() -> None:
    folder = SHEET.with_suffix("")
    named = {word.rpartition("/")[2] for word in SHEET.read_text().replace(")", " ").split() if word.endswith(".jpg")}
    assert named == {path.name for path in folder.iterdir()}
