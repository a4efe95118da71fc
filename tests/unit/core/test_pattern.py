"""Regular expressions of users: what they find, and that none takes longer than its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.core.pattern import MOST_LETTERS, Pattern


def test_matches_are_whole_and_groups_and_lines_begin_anew() -> None:
    assert list(Pattern(r"^rate: (\S+) ?(x)?$").matches("rate: 1\nno rate: 2\nrate: 3 x\n")) == [
        ("rate: 1", "1", ""),
        ("rate: 3 x", "3", "x"),
    ]
    assert Pattern("(a)(b)").groups == 2
    assert Pattern("(?i)PASSED").found("…passed") and not Pattern("PASSED").found("passed")


@pytest.mark.parametrize("text", ["(", "[", "a)(b", "(?<=a)b", r"(a)\1", "(?:a{1000}){1000}", "\ud800"])
def test_what_is_no_expression_says_why_and_nothing_else(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        Pattern(text)
    assert capfd.readouterr() == ("", "")


def test_an_expression_has_a_length() -> None:
    assert Pattern("a" * MOST_LETTERS).found("a" * MOST_LETTERS)
    with pytest.raises(ValueError, match="it has 10,001 letters, and may have 10,000"):
        Pattern("a" * (MOST_LETTERS + 1))


@pytest.mark.timeout(60)
def test_none_goes_back_for_ever() -> None:
    """Python's would take longer than the age of the world."""
    assert not Pattern("(a+)+$").found("a" * 100_000 + "b")
    assert not Pattern("(a|aa)+c").found("a" * 100_000)


@given(st.text(alphabet=st.characters(codec=None), max_size=30))
def test_any_text_is_looked_at(text: str) -> None:
    """Halves of surrogate pairs too, which JSON can have and UTF-8 can't."""
    assert Pattern("(?s).*").found(text)
