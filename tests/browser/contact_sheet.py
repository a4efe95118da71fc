"""A contact sheet of pages: `python -m tests.browser.contact_sheet docs/how-it-works/pages.md NAME=PAGE.html …`.

Writes a page with each one's first lines, and into a folder of its name small pictures as a desktop and a phone show
it: what a person sees before they scroll. Pages that are on it already and not named stay as they are. Whoever changes
how pages look makes them anew, and looks.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

from tests.browser.chromium import Page, browser, missing

WIDTHS = {"desktop": (1280, 1600, 0.28), "phone": (390, 1100, 0.4)}
"""Name → width and height of the window, and the scale of its picture."""

QUALITY = 55
"""Of a JPEG: letters of headings can be read, and a picture takes some 20 kB."""

FIRST = """return [...document.querySelectorAll("h1, .figures")].map((e) => e.textContent.trim()).join(" ")"""

ABOUT = """# What pages show first

Each page as a desktop of 1,280 pixels and a phone of 390 show it before anybody scrolls: the answer, its figures, a
picture. Made of real runs, most of them in a lab of four nodes on one machine, and for `wulf report --site` of a
state that tests fill (tests/unit/sentry/making.py), by `python -m tests.browser.contact_sheet`.
"""


def picture(page: Page, path: Path, out: Path, width: int, height: int, scale: float) -> None:
    """The first window of a page as a small JPEG."""
    page.window(width, height, phone=width < 600)
    page.open(path)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
    taken = page.command("Page.captureScreenshot", format="jpeg", quality=QUALITY, clip=clip)
    out.write_bytes(base64.b64decode(taken["data"]))


def entry(page: Page, folder: Path, name: str, path: Path) -> str:
    """Write a page's pictures into the folder, and return what stands of it on the sheet."""
    shown = []
    for kind, (width, height, scale) in WIDTHS.items():
        own = folder / f"{re.sub('[^a-z0-9]+', '-', name)}-{kind}.jpg"
        picture(page, path, own, width, height, scale)
        shown.append(f"![{name}, {kind}]({folder.name}/{own.name})")
    return f"## wulf {name}\n\n> {page.js(FIRST)}\n\n{' '.join(shown)}\n"


def entries(text: str) -> dict[str, str]:
    """Name → what stands of it on a sheet."""
    parts = re.split(r"^(?=## wulf )", text, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0].removeprefix("## wulf "): part.rstrip("\n") + "\n" for part in parts}


def main(words: list[str]) -> int:
    """Read the command line."""
    if len(words) < 2 or not all("=" in word for word in words[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    if why := missing():
        print(why, file=sys.stderr)
        return 2
    text = Path(words[0])
    folder = text.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    pages = {name: Path(path).resolve() for name, _, path in (word.partition("=") for word in words[1:])}
    known = entries(text.read_text(encoding="utf-8")) if text.exists() else {}
    with browser() as page:
        made = {name: entry(page, folder, name, path) for name, path in pages.items()}
    text.write_text("\n".join([ABOUT, *(known | made).values()]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
