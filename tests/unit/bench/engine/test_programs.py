"""Files that name public programs, and what is picked of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.engine.errors import BenchError
from bench.engine.programs import listed, picked


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = 1", "no tables programs.NAME"),
        ("[programs.cg", "no tables programs.NAME"),
        ("[programs.cg]\ncwd = '/'", "cg: there is no argv"),
    ],
)
def test_a_file_that_names_none_says_why(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "programs.toml").write_text(text)
    with pytest.raises(BenchError, match=why):
        listed(tmp_path / "programs.toml")


def test_those_asked_for_are_picked_else_all(tmp_path: Path) -> None:
    (tmp_path / "programs.toml").write_text("[programs.cg]\nargv = ['cg']\n[programs.is]\nargv = ['is']\n")
    known = listed(tmp_path / "programs.toml")
    assert picked([], known) == ["cg", "is"] and picked(["is"], known) == ["is"]
    with pytest.raises(BenchError, match=r"no program ft: there are cg, is"):
        picked(["is", "ft"], known)
