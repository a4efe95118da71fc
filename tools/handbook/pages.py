"""Pages of the site: where each stands, what it links to, and the contents, which are what index pages list."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ALSO = {
    "ARCHITECTURE.md": "how-it-works/architecture.md",
    "CONTRIBUTING.md": "how-it-works/contributing.md",
    "CHANGELOG.md": "reference/changelog.md",
}
"""Pages that stand elsewhere in the repository → where they stand in the site."""

INDEX = "index.md"
MADE = "<!-- made from the code -->"
"""Where the reference's index lists the pages that the build makes."""

_CODE = r"(?P<code>^```.*?^```|(?:^ {4}[^\n]*\n)+|`(?:[^`\n]|\n(?!\n))*`)"
_LINK = r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^()\s]+)\)"
_MENTION = r"(?<![\w/])(?P<mention>docs/[\w/.-]+\.(?:md|json))"
_ANY = re.compile(f"{_CODE}|{_LINK}|{_MENTION}", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^(?:## (?P<group>.+)|- \[(?P<title>[^\]]+)\]\((?P<to>[^)]+)\):? *(?P<about>.*(?:\n  .+)*))$", re.M)


class PageError(Exception):
    """A page is missing, or links to what is not there; its text says which."""


@dataclass(frozen=True)
class Page:
    """A page of the site.

    Attributes
    ----------
    path
        In the site, as "how-to/audit.md".
    source
        In the repository; empty for one that the build makes.
    """

    path: str
    text: str
    source: str = ""


@dataclass(frozen=True)
class Item:
    """An entry of the contents: a page with its title and a sentence, in a group of its index or none."""

    path: str
    title: str
    about: str
    group: str
    items: tuple[Item, ...] = ()


def written(root: Path = ROOT) -> list[Page]:
    """The pages that people write, links not yet followed."""
    own = {path.relative_to(root).as_posix(): path.relative_to(root / "docs").as_posix()
           for path in sorted((root / "docs").rglob("*.md"))}  # fmt: skip
    return [Page(path, (root / source).read_text(encoding="utf-8"), source) for source, path in {**own, **ALSO}.items()]


def linked(pages: list[Page], root: Path = ROOT) -> list[Page]:
    """Pages whose links, and mentions of files of docs/, lead to pages of the site; what is no page stays as its name.

    Raises
    ------
    PageError
        Names every link that leads nowhere.
    """
    places = {page.source or f"docs/{page.path}": page.path for page in pages}
    wrong: list[str] = []
    done = [replace(page, text=_followed(page, places, root, wrong)) for page in pages]
    if wrong:
        raise PageError("\n".join(wrong))
    return done


def _followed(page: Page, places: Mapping[str, str], root: Path, wrong: list[str]) -> str:
    here = posixpath.dirname(page.source or f"docs/{page.path}")

    def led(found: re.Match[str]) -> str:
        if found["code"] is not None or re.match(r"[a-z]+:|#", found["to"] or ""):
            return found[0]
        to, mark, anchor = (found["to"] or "").partition("#")
        target = found["mention"] or posixpath.normpath(posixpath.join(here, to))
        text = found["text"] or target.removeprefix("docs/")
        if not (target in places or (root / target).exists()):
            wrong.append(f"{page.source or page.path} links to {to or target}, which is not there")
        if target not in places and not target.startswith("docs/"):
            return f"`{target}`" if text.strip("`") in (target, to) else f"{text} (`{target}`)"
        stands = places.get(target, target.removeprefix("docs/"))
        path = posixpath.relpath(stands, posixpath.dirname(page.path) or ".")
        return f"{found['image'] or ''}[{text}]({path}{mark}{anchor})"

    return _ANY.sub(led, page.text)


def contents(pages: list[Page]) -> tuple[Item, ...]:
    """The site's contents: what index.md lists, and of what it lists as an index, what that lists.

    Raises
    ------
    PageError
        Names pages that no index lists, or that one lists and nobody wrote.
    """
    by_path = {page.path: page for page in pages}
    found = tuple(_listed(by_path, INDEX))
    lost = sorted(set(by_path) - {INDEX} - {item.path for item in flat(found)})
    if lost:
        raise PageError("\n".join(
            f"{by_path[path].source or path} is in no list: add it to {_index_of(path)}" for path in lost
        ))  # fmt: skip
    return found


def _index_of(path: str) -> str:
    part = posixpath.dirname(path)
    return f"docs/{part}/{INDEX}" if part else "a part of docs/, and to that part's index.md"


def _listed(pages: Mapping[str, Page], index: str) -> Iterator[Item]:
    folder, group = posixpath.dirname(index), ""
    for found in _ITEM.finditer(pages[index].text):
        if found["group"]:
            group = found["group"]
            continue
        path = posixpath.normpath(posixpath.join(folder, found["to"]))
        if path not in pages:
            continue
        own = tuple(_listed(pages, path)) if posixpath.basename(path) == INDEX else ()
        yield Item(path, found["title"], " ".join(found["about"].split()), group, own)


def flat(items: tuple[Item, ...]) -> Iterator[Item]:
    """Items and all below them."""
    for item in items:
        yield item
        yield from flat(item.items)


def assets(root: Path = ROOT) -> list[str]:
    """What pages show or name besides: files of docs/ that are no pages."""
    files = (Path(folder) / name for folder, _, names in os.walk(root / "docs") for name in names)
    return sorted(path.relative_to(root / "docs").as_posix() for path in files if path.suffix != ".md")
