"""The user's own folders."""

from __future__ import annotations

import os
import pwd
import re
from pathlib import Path

import pytest

import wulf
from wulf.core.places import user_folder


def test_each_has_its_variable_and_its_place_below_home() -> None:
    home = {"HOME": "/home/a"}
    assert [user_folder(kind, home) for kind in ("cache", "config", "state")] == [
        Path("/home/a/.cache/wulf"), Path("/home/a/.config/wulf"), Path("/home/a/.local/state/wulf"),
    ]  # fmt: skip
    assert user_folder("cache", {**home, "XDG_CACHE_HOME": "/c"}) == Path("/c/wulf")
    assert user_folder("cache", {**home, "XDG_CACHE_HOME": "c"}) == Path("/home/a/.cache/wulf")


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_it_is_that_of_the_account(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_folder("state", environ) == Path(pwd.getpwuid(os.getuid()).pw_dir, ".local/state/wulf")

    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert user_folder("state", environ) == Path("/.local/state/wulf")


def test_nobody_else_reads_those_variables() -> None:
    """But the agent, which has none of wulf's core with it, what ssh runs, and the labs, which take them away."""
    folder = Path(wulf.__file__).parent
    allowed = {"core/places.py", "agent/files/state.py", "cluster/ssh/scripts.py", "lab/inside/enter.py"}
    reads = re.compile(r"""["'(]XDG_(CACHE|CONFIG|STATE)_HOME["')]|\$XDG_(CACHE|CONFIG|STATE)_HOME;|XDG_\{""")
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if reads.search(path.read_text())}
    assert found == allowed
