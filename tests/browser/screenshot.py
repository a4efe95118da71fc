"""A picture of a report: `python -m tests.browser.screenshot REPORT.html OUT.png [WIDTH [HEIGHT]] [--dark]`.

Without a height the whole page is pictured. A width below 600 is a phone's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.browser.chromium import browser, missing


def picture(report: Path, out: Path, width: int = 1280, height: int = 0, *, dark: bool = False) -> None:
    """Write the report, as a reader of that width sees it, to a PNG file."""
    with browser() as page:
        page.window(width, height or 900, phone=width < 600)
        page.media("dark" if dark else "light")
        page.open(report)
        out.write_bytes(page.screenshot(full=not height))


def main(words: list[str]) -> int:
    """Read the command line."""
    plain = [word for word in words if word != "--dark"]
    if len(plain) not in (2, 3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    why = missing()
    if why:
        print(f"no picture: {why}", file=sys.stderr)
        return 2
    report, out, *size = plain
    picture(Path(report), Path(out), *(int(number) for number in size), dark="--dark" in words)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
