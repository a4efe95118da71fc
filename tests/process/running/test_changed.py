"""What changed, as git says it, and the map of this project as it is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.running import changed, reach

Git = Callable[..., None]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """git in a project of four files."""
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    who = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")

    def run(*words: str) -> None:
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    for name in ("same.py", "edited.py", "moved.py", "deleted.py"):
        (tmp_path / name).write_text(name)
    (tmp_path / ".gitignore").write_text("ignored\n")
    run("init", "-b", "main")
    run("add", ".")
    run("commit", "-m", "one")
    return run


def test_nothing_changed(git: Git, capsys: pytest.CaptureFixture[str]) -> None:
    assert changed.main([]) == 0
    assert capsys.readouterr().out == "nothing changed: no test to run\n"


def test_edited_moved_deleted_and_new_files_are_changed(git: Git, tmp_path: Path) -> None:
    (tmp_path / "edited.py").write_text("other")
    (tmp_path / "new with blank.py").write_text("new")
    (tmp_path / "ignored").write_text("")
    git("mv", "moved.py", "gone there.py")
    git("rm", "deleted.py")
    files = ["deleted.py", "edited.py", "gone there.py", "moved.py", "new with blank.py"]
    assert changed.changed_files("HEAD") == files


def test_a_branch_is_compared_with_where_it_began(git: Git, tmp_path: Path) -> None:
    git("checkout", "-b", "mine")
    (tmp_path / "edited.py").write_text("other")
    git("commit", "-am", "two")
    assert changed.changed_files(changed.base()) == ["edited.py"]
    assert changed.changed_files("HEAD") == []


def test_an_unknown_commit(git: Git) -> None:
    with pytest.raises(SystemExit, match="no commit elsewhere"):
        changed.main(["--since", "elsewhere"])


def test_every_module_is_reached_by_a_test() -> None:
    imports, packages = changed.modules()
    texts = changed.texts_of(imports, packages)
    edges = changed.whole_map(imports, texts, packages, {})
    reached = {
        module: min((d for name, d in reach.distances(edges, {module: 0}).items() if reach.is_test(name)), default=None)
        for module in texts
        if module.startswith("wulf.") and module not in packages
    }
    assert [module for module, distance in reached.items() if distance is None] == []
    assert reached[str(reach.module_of("src/wulf/agent/settings/qdisc.py"))] == reach.FAR + 1
    assert reached[str(reach.module_of("src/wulf/cli/mpi/whole.py"))] == 1
