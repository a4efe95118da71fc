"""The documentation's parts: contents from lists, links, pages from the code, output that is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from handbook import links, shown
from handbook.pages import MADE, Item, Page, PageError, contents, flat, linked
from handbook.reference import LISTED, probes, records
from handbook.site import configuration, for_models, gathered

from tests.unit.tools.conftest import REPO
from wulf.core.records import Record
from wulf.measure.mpi.probes import described

LISTS = [
    Page("index.md", "# wulf\n\nIt measures.\n\n- [How-to](how-to/index.md): do a job.\n", "docs/index.md"),
    Page("how-to/index.md", "# How-to\n\n## Begin\n\n- [Install](install.md): by\n  hand.\n- [More](more.md)\n"),
    Page("how-to/install.md", "# Install it\n"),
    Page("how-to/more.md", "# More\n"),
]


def test_contents_are_what_index_pages_list() -> None:
    (part,) = contents(LISTS)
    assert part == Item(
        "how-to/index.md", "How-to", "do a job.", "",
        (Item("how-to/install.md", "Install", "by hand.", "Begin"), Item("how-to/more.md", "More", "", "Begin")),
    )  # fmt: skip
    assert [item.path for item in flat((part,))] == ["how-to/index.md", "how-to/install.md", "how-to/more.md"]


def test_a_page_in_no_list_is_an_error_that_names_the_list() -> None:
    with pytest.raises(PageError, match=r"how-to/lost\.md is in no list: add it to docs/how-to/index\.md"):
        contents([*LISTS, Page("how-to/lost.md", "# Lost\n")])


def test_contents_become_the_site_and_a_text_for_models() -> None:
    tree = contents(LISTS)
    nav = configuration("site_name: x\n", tree).partition("nav:\n")[2].splitlines()
    assert nav == [
        '  - "Start": index.md', '  - "How-to":', "    - how-to/index.md", '    - "Begin":',
        '      - "Install": how-to/install.md', '      - "More": how-to/more.md',
    ]  # fmt: skip
    told = for_models(LISTS, tree)
    assert told["llms.txt"].splitlines() == [
        "# wulf", "", "> It measures.", "", "## How-to", "", "- [Install](how-to/install.md): by hand.",
        "- [More](how-to/more.md)",
    ]  # fmt: skip
    assert "# Install it" in told["llms-full.txt"] and told["how-to/more.md"] == "# More\n"


def test_links_lead_to_pages_of_the_site_wherever_both_stand(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "open.toml").write_text("")
    text = (
        "[a](../../ARCHITECTURE.md#why), `[b](c.md)`, [open.toml](../../bench/open.toml): docs/how-to/page.md.\n\n"
        "    [d](e.md), docs/e.md\n\n[w](http://x)\n"
    )
    pages = [
        Page("how-to/page.md", text, "docs/how-to/page.md"), Page("how-it-works/architecture.md", "", "ARCHITECTURE.md")
    ]  # fmt: skip
    assert linked(pages, tmp_path)[0].text == (
        "[a](../how-it-works/architecture.md#why), `[b](c.md)`, open.toml (`bench/open.toml`): "
        "[how-to/page.md](page.md).\n\n    [d](e.md), docs/e.md\n\n[w](http://x)\n"
    )


@pytest.mark.parametrize(("text", "named"), [("[x](gone.md)", "gone.md"), ("see docs/gone.md", "docs/gone.md")])
def test_a_link_or_mention_that_leads_nowhere_is_an_error_that_names_it(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(PageError, match=f"docs/a.md links to {named}, which is not there"):
        linked([Page("a.md", text, "docs/a.md")], tmp_path)


def test_pages_from_the_code_are_listed_where_the_reference_has_a_place_for_them() -> None:
    (page,) = gathered([Page("reference/index.md", f"{MADE}\n", "docs/reference/index.md")], REPO)
    assert page.text == f"{LISTED}\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<a href="b.html#here">', ""),
        ('<a href="b.html#there">', "a.html links to b.html#there: b.html has no such heading"),
        ('<a href="c.html">', "a.html links to c.html: there is no c.html"),
        ('<a href="https://example.org">', ""),
        (
            '<script src="https://example.org/x.js">',
            "a.html loads https://example.org/x.js, which an offline reader hasn't",
        ),
        ('<link rel="stylesheet" href="x.css">', "a.html links to x.css: there is no x.css"),
        ('<img src="data:image/png;base64,x">', ""),
    ],
)
def test_what_is_wrong_with_a_link_of_a_built_page(text: str, fault: str) -> None:
    found = list(links.faults_of({"a.html": text, "b.html": '<h2 id="here">'}, {"a.html", "b.html"}))
    assert found == ([fault] if fault else [])


def test_probes_have_all_that_they_say_of_themselves() -> None:
    page = probes([described()])
    for probe in described()["probes"]:
        assert f"### wulf-mpi {probe['name']}\n" in page
        section = page.partition(f"### wulf-mpi {probe['name']}\n")[2].partition("\n### ")[0]
        assert all(f"`{one['name']}`" in section for one in (*probe["metrics"], *probe["params"])), probe["name"]


def test_records_have_every_field_of_the_model() -> None:
    assert re.findall(r"(?m)^\| `(\w+)` \|", records()) == list(Record.model_fields)


PAGE = """\
Text.

<!-- shown: exact -->
```console
$ wulf one
old
$ wulf two \\
    --long
1
2
…
```

<!-- shown: measured -->
```console
$ wulf three
5 s
```
"""


def test_commands_that_a_page_shows() -> None:
    assert [(one.kind, one.command, one.output) for one in shown.shown(PAGE)] == [
        ("exact", "wulf one", "old\n"), ("exact", "wulf two \\\n    --long", "1\n2\n…\n"),
        ("measured", "wulf three", "5 s\n"),
    ]  # fmt: skip


def test_output_is_renewed_as_long_as_it_was() -> None:
    said = {"wulf one": "new  \n", "wulf two \\\n    --long": "3\n4\n5\n"}
    renewed = shown.renewed(PAGE, said.__getitem__, (shown.EXACT,))
    assert renewed == PAGE.replace("old\n", "new\n").replace("1\n2\n…", "3\n4\n…"), "what is measured is left alone"


def test_measurements_of_a_kind_have_one_shape() -> None:
    assert (
        shown.shape("\nn3: 0.19 Gbit/s, 8.9\nmore\n")
        == shown.shape("n3: 1,290.5 Gbit/s, 12\nless\n")
        == "n#: # Gbit/s, #"
    )


DOCS = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]


def test_every_block_with_a_prompt_says_how_its_output_is_checked() -> None:
    kinds = {one.kind for page in DOCS for one in shown.shown(page.read_text("utf-8"))}
    assert kinds == {shown.EXACT, shown.MEASURED}
    for page in DOCS:
        text = page.read_text("utf-8")
        prompts = re.findall(r"(?m)^ *[$#] (?:wulf|make|ssh|printf) .*", text)
        assert len(prompts) == len(shown.shown(text)), f"{page}: a block of output without <!-- shown: … -->"


def test_readme_stays_short() -> None:
    text = re.sub(r"(?s)```.*?```|\(.*?\)|[|`-]", " ", (REPO / "README.md").read_text("utf-8"))
    assert len(text.split()) < 650
