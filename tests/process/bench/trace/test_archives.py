"""Files of one state of a repository, by git: of a mirror, and of a server that sends what is asked for alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from bench.engine.errors import BenchError
from bench.trace.archives import from_mirror, from_remote, ran


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str]:
    """One with a state whose files are gone in the next; its path, and that state."""
    place = tmp_path / "origin"
    git = ["git", "-C", str(place), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    (place / "runs" / "a").mkdir(parents=True)
    for name in ("runs/a/0.txt", "runs/a/1.txt", "runs/large.bin", "readme"):
        (place / name).write_text(name)
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    commit = ran([*git, "rev-parse", "HEAD"]).decode().strip()
    for words in (["rm", "--quiet", "-r", "runs"], ["commit", "--quiet", "-m", "y"],
                  ["config", "uploadpack.allowFilter", "true"],
                  ["config", "uploadpack.allowAnySHA1InWant", "true"]):  # fmt: skip
        subprocess.run([*git, *words], check=True)
    return place, commit


def fetched(folder: Path) -> set[str]:
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in files if path.parts[0] != ".git"}


def test_of_a_mirror_and_of_a_server_come_the_named_files_alone(tmp_path: Path, repository: tuple[Path, str]) -> None:
    place, commit = repository
    for number, paths in enumerate((["runs/a"], ["runs/a/*.txt"], ["runs/a/0.txt", "runs/a/1.txt"])):
        mirrored, sent = tmp_path / f"mirrored{number}", tmp_path / f"sent{number}"
        mirrored.mkdir()
        from_mirror(place, commit, paths, mirrored)
        from_remote(place.as_uri(), commit, paths, sent)
        assert fetched(mirrored) == fetched(sent) == {"runs/a/0.txt", "runs/a/1.txt"}
        assert (sent / "runs/a/0.txt").read_text() == "runs/a/0.txt"


def test_what_git_can_not_give_is_an_error_in_its_words(tmp_path: Path, repository: tuple[Path, str]) -> None:
    place, commit = repository
    with pytest.raises(BenchError, match=r"git: .*nowhere"):
        from_mirror(place, commit, ["nowhere"], tmp_path)
    with pytest.raises(BenchError, match="git: "):
        from_mirror(place, "0" * 40, ["readme"], tmp_path)
    with pytest.raises(BenchError, match="git: "):
        from_remote((tmp_path / "none").as_uri(), commit, ["readme"], tmp_path / "into")
    with pytest.raises(BenchError, match="no-such-printer did not run"):
        ran(["no-such-printer"])
