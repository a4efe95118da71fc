"""What tools/docs.py does: build, refresh."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from handbook import shown, site
from handbook.pages import ROOT, PageError
from wulf.core.errors import WulfError


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 done, 1 something is wrong, which is said, 2 usage."""
    parser = argparse.ArgumentParser(prog="tools/docs.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="the site, its links checked")
    build.add_argument("--into", type=Path, default=ROOT / "build", help="the site is the folder `site` in this one")
    refresh = commands.add_parser("refresh", help="what pages show that commands print")
    refresh.add_argument("pages", nargs="*", type=Path, help="[README.md and all of docs]")
    refresh.add_argument("--exact", action="store_true", help="measure nothing")
    asked = parser.parse_args(arguments)
    if asked.command == "refresh":
        renew(asked.pages or showing(), (shown.EXACT,) if asked.exact else (shown.EXACT, shown.MEASURED))
        return 0
    try:
        wrong = site.build(asked.into.resolve())
    except (PageError, WulfError) as error:
        wrong = [str(error)]
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    if not wrong:
        sys.stdout.write(f"{asked.into / site.SITE / 'index.html'}\n")
    return 1 if wrong else 0


def showing() -> list[Path]:
    """The pages that show what commands print."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if shown.shown(page.read_text(encoding="utf-8"))]


def renew(pages: Sequence[Path], kinds: tuple[str, ...]) -> None:
    """Run what the pages show, each in a folder of its own, and write what it prints."""
    for page in pages:
        sys.stderr.write(f"{page}\n")
        with shown.reader() as run:
            page.write_text(shown.renewed(page.read_text(encoding="utf-8"), run, kinds), encoding="utf-8")
