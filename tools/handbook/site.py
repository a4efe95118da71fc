"""The site: its pages put together, built by Zensical, its links checked, and its contents for language models."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from handbook.links import faults
from handbook.pages import MADE, ROOT, Item, Page, PageError, assets, contents, flat, linked, written
from handbook.reference import LISTED, described, made
from wulf.core.programs import unpacked

CONFIG = "mkdocs.yml"
SHIM = "shim/index.js"
"""What lets a page that was opened from a file search: a worker that is a frame (iframe-worker, of npm)."""
WORKER = "javascripts/iframe-worker.js"


PAGES, SITE = "docs", "site"
"""Below the folder that is built in: what Zensical reads, and what it writes."""


def build(folder: Path, root: Path = ROOT) -> list[str]:
    """Build the site into `folder`/site; what is wrong with it, a line each.

    Raises
    ------
    PageError
        A page, or what builds the site, is not there.
    UsageError
        The probes have not been built.
    """
    pages = gathered([*written(root), *made(described())], root)
    tree = contents(pages)
    for old in (PAGES, SITE):
        shutil.rmtree(folder / old, ignore_errors=True)
    _stage(folder / PAGES, pages, root)
    config = configuration((root / CONFIG).read_text(encoding="utf-8"), tree)
    (folder / CONFIG).write_text(config, encoding="utf-8")
    if said := _zensical(folder / CONFIG):
        return said
    (folder / SITE / "404.html").unlink()  # a server's answer: its links begin at a server's root
    for name, text in for_models(pages, tree).items():
        path = folder / SITE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return faults(folder / SITE)


def gathered(pages: list[Page], root: Path = ROOT) -> list[Page]:
    """All pages, the made ones listed where the reference's index has a place for them, links followed."""
    return [
        page if MADE not in page.text else Page(page.path, page.text.replace(MADE, LISTED), page.source)
        for page in linked(pages, root)
    ]


def _stage(folder: Path, pages: list[Page], root: Path) -> None:
    files = {page.path: page.text.encode() for page in pages}
    files |= {name: (root / "docs" / name).read_bytes() for name in assets(root)}
    shim = unpacked(root, SHIM)
    if shim is None:
        raise PageError("iframe-worker is missing, by which the site searches offline: `make docs` fetches it")
    files[WORKER] = shim.read_bytes()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def configuration(text: str, tree: tuple[Item, ...]) -> str:
    """mkdocs.yml with the contents, and where pages are and go."""
    places = [f"docs_dir: {PAGES}", f"site_dir: {SITE}"]
    return "\n".join([text.rstrip(), *places, "nav:", '  - "Start": index.md', *_nav(tree, 1)]) + "\n"


def _nav(items: tuple[Item, ...], depth: int) -> Iterator[str]:
    for group, some in groupby(items, lambda item: item.group):
        inset = "  " * depth
        if group:
            yield f"{inset}- {json.dumps(group)}:"
        for item in some:
            own = "  " * (depth + bool(group))
            if not item.items:
                yield f"{own}- {json.dumps(item.title)}: {item.path}"
                continue
            yield f"{own}- {json.dumps(item.title)}:"
            yield f"{own}  - {item.path}"
            yield from _nav(item.items, depth + bool(group) + 1)


def _zensical(config: Path) -> list[str]:
    """Run it; its words where it finds something wrong."""
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", config],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    if "No module named zensical" in done.stderr:
        raise PageError("Zensical is missing, which builds the site: `make docs` installs it")
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def for_models(pages: list[Page], tree: tuple[Item, ...]) -> dict[str, str]:
    """File → text: llms.txt, the contents in the form of llmstxt.org; llms-full.txt, all pages; each page's source."""
    by_path = {page.path: page for page in pages}
    start = by_path["index.md"].text
    first = next(line for line in start.splitlines() if line and not line.startswith(("#", "<", "!", "-")))
    listing = ["# wulf", "", f"> {first}", ""]
    full = [start]
    for part in tree:
        listing += [f"## {part.title}", "", *_told(part), ""]
        full += [by_path[item.path].text for item in flat((part,))]
    return {
        "llms.txt": "\n".join(listing),
        "llms-full.txt": "\n\n".join(text.strip() for text in full) + "\n",
        **{page.path: page.text for page in pages},
    }


def _told(part: Item) -> Iterator[str]:
    for item in flat(part.items):
        yield f"- [{item.title}]({item.path}): {item.about}" if item.about else f"- [{item.title}]({item.path})"
