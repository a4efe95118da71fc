"""Where the bench has its loops and data, what it builds and measures, and the pages with its tables."""

from __future__ import annotations

from pathlib import Path

BENCH = Path(__file__).parent.parent
ROOT = BENCH.parent
DATA, LOOPS, RESULTS = BENCH / "data", BENCH / "loops", BENCH / "results"
BUILT = ROOT / "build" / "loops"
DOCS = ROOT / "docs"
