"""Terms that no text of wulf has any more: a stranger did not understand them (docs/how-it-works/style.md)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import wulf

PACKAGE = Path(wulf.__file__).parent
REPOSITORY = PACKAGE.parents[1]
REFUSED = {
    r"so-manieth|how-manieth": "n-th; which, counted from 1",
    r"wished for|than wished": "requested, required",
    r"least visible": "minimum detectable",
    r"without proof": "inconclusive",
    r"in company": "with the others",
    r"wait by asking|waits by asking": "polling",
    r"has no vote|have no vote": "excluded",
    r"surely worth": "justified",
    r"stand on\b.*answers|answers stand on": "evidence",
    r"\w+ wants (\d|\{|…)": "advised for",
    r"hears of what": "progress callback",
    r"_perhaps\b": "_optional",
}
"""A pattern of the term, and what to say instead."""

READ = (*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.j2"), *PACKAGE.rglob("*.toml"))
DOCS = (*REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("*.md"))
TELLS_OF_THEM = {"style.md", "CHANGELOG.md"}
"""What quotes the terms, and what was said in its time."""


def refused(text: str) -> list[str]:
    return [
        f"line {number}: {found.group(0)!r}, say: {instead}"
        for number, line in enumerate(text.splitlines(), 1)
        for term, instead in REFUSED.items()
        if (found := re.search(term, line, re.IGNORECASE))
    ]


@pytest.mark.parametrize("room", sorted({path.relative_to(PACKAGE).parts[0] for path in READ}))
def test_no_source_has_a_refused_term(room: str) -> None:
    own = [path for path in READ if path.relative_to(PACKAGE).parts[0] == room]
    found = {str(path.relative_to(PACKAGE)): refused(path.read_text("utf-8")) for path in own}
    assert {path: terms for path, terms in found.items() if terms} == {}


def test_no_document_has_one() -> None:
    found = {path.name: refused(path.read_text("utf-8")) for path in DOCS if path.name not in TELLS_OF_THEM}
    assert {name: terms for name, terms in found.items() if terms} == {}


def test_a_term_is_found_wherever_it_stands() -> None:
    assert refused("fine\nlatency wants 3 µs; 2 Without Proof") == [
        "line 2: 'Without Proof', say: inconclusive",
        "line 2: 'latency wants 3', say: advised for",
    ]
