"""Links of a site that is built: each leads to a file and an anchor that are there, and nothing comes from outside."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = ("stylesheet", "preload", "preconnect", "icon", "modulepreload", "dns-prefetch")
"""Relations of a link that a browser follows by itself."""

FOLDED = "__"
"""Anchors that scripts make begin so."""


class Reader(HTMLParser):
    """What a page links to and loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort one element's attributes."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and set(given.get("rel", "").split()) & set(LOADED):
            self.loaded.append(given["href"])
        elif tag != "a" and "src" in given:
            self.loaded.append(given["src"])


def faults(site: Path) -> list[str]:
    """What is wrong with the links of a site's pages, a line each."""
    texts = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    files = {path.relative_to(site).as_posix() for path in site.rglob("*")} | {"."}
    return list(faults_of(texts, files))


def faults_of(texts: Mapping[str, str], files: set[str]) -> Iterator[str]:
    """Those of pages by path, where `files` are all paths of the site."""
    pages = {path: Reader(text) for path, text in texts.items()}
    for path, page in sorted(pages.items()):
        for link in sorted({*page.links, *page.loaded}):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{path} loads {link}, which an offline reader hasn't"
                continue
            to = (
                posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path))) if parts.path else path
            )
            if to not in files:
                yield f"{path} links to {link}: there is no {to}"
            elif parts.fragment and not _has(pages.get(to), unquote(parts.fragment)):
                yield f"{path} links to {link}: {to} has no such heading"


def _has(page: Reader | None, anchor: str) -> bool:
    return page is None or anchor in page.anchors or bool(re.match(FOLDED, anchor))
