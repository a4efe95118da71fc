"""What docs/how-to/export.md shows is what is exported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.tune.make_exports import GOLDEN

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "export.md"
SHOWN = re.findall(r"^`([\w./-]+)`:\n\n```\w*\n(.*?)```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_shows_every_format():
    assert {path.partition("/")[0] for path, _ in SHOWN} == {"sysctl", "shell", "ansible", "tuned", "warewulf"}


@pytest.mark.parametrize(("path", "text"), SHOWN, ids=[path for path, _ in SHOWN])
def test_the_example_is_a_piece_of_the_file(path, text):
    assert text in (GOLDEN / path).read_text()
