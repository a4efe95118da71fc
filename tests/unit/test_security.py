"""docs/explanation/security.md says how much others may say at most, and the code says the same."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

UNITS = {"MiB": 1 << 20, "GiB": 1 << 30, "": 1}

ROWS = re.findall(
    r"(?m)^\| (.+) \| (.+) \| `(\S+)` (\w+) \|$", (ROOT / "docs" / "explanation" / "security.md").read_text()
)


def said(text: str) -> float:
    """`64 MiB`, `2^60`, `1e308`, `512`."""
    number, _, unit = text.partition(" ")
    base, power, exponent = number.partition("^")
    return (float(base) ** float(exponent) if power else float(base)) * UNITS[unit]


def in_python(path: str, name: str) -> float:
    module = "wulf." + path.removesuffix(".py").replace("/", ".")
    return float(getattr(importlib.import_module(module), name))


def in_native(path: str, name: str) -> float:
    found = re.search(rf"constexpr [\w:]+ {name} = ([^;]+);", (ROOT / path).read_text())
    assert found, f"{name} is not in {path}"
    first, shift, by = re.sub(r"(?<=\d)[UL]+\b|'", "", found[1]).partition(" << ")
    return float(first) * (1 << int(by) if shift else 1)


@pytest.mark.parametrize(("what", "most", "path", "name"), ROWS, ids=[what for what, *_ in ROWS])
def test_a_limit_is_the_constant(what: str, most: str, path: str, name: str) -> None:
    assert said(most) == (in_native if path.startswith("native/") else in_python)(path, name), what


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 30
