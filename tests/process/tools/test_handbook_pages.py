"""The documentation as it is: every page is listed, every link leads somewhere, exact output is what is printed."""

from __future__ import annotations

import pytest
from handbook import shown
from handbook.main import showing
from handbook.pages import Page, contents, flat, linked, written
from handbook.reference import described, made
from handbook.site import gathered

from tests.unit.tools.conftest import REPO
from wulf.cli.commands import listings

EXACT = [page for page in showing() if any(one.kind == shown.EXACT for one in shown.shown(page.read_text("utf-8")))]


def test_every_page_is_listed_and_links_lead_somewhere() -> None:
    listed = {item.path for item in flat(contents(gathered([*written(), *made(described())])))}
    assert {"tutorials/first-survey.md", "reference/probes.md", "how-it-works/architecture.md"} <= listed
    assert {f"reference/commands/{name}.md" for name in listings()} <= listed


@pytest.mark.parametrize("file", ["README.md", "examples/blocked_matmul/README.md"])
def test_links_of_what_is_no_page_lead_somewhere(file: str) -> None:
    linked([Page(file, (REPO / file).read_text("utf-8"), file)])


def test_a_command_has_its_options_and_those_below_it() -> None:
    pages = {page.path: page.text for page in made([])}
    net = pages["reference/commands/net.md"]
    assert "## wulf net pingpong\n" in net and "`--nodelay BOOLEAN`\n:   " in net
    assert net.count("`--seed INTEGER RANGE`") <= 2, "what all of them take stands once, unless it differs"
    assert "[wulf survey](survey.md): Facts, all pairs" in pages["reference/commands/index.md"]


@pytest.mark.parametrize("page", EXACT, ids=lambda page: str(page.relative_to(REPO)))
def test_exact_output_is_what_is_printed_now(page) -> None:
    text = page.read_text("utf-8")
    with shown.reader() as run:
        assert shown.renewed(text, run, (shown.EXACT,)) == text, "write it with `python tools/docs.py refresh --exact`"
