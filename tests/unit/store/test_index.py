"""Which runs there are, and which one a name means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.store.test_run import replicate, write
from wulf.core.errors import INCOMPLETE, UsageError
from wulf.core.findings import Finding, Severity
from wulf.store.index import find_run, headline_of, list_runs, read_metas
from wulf.store.run import RunWriter, read_meta


def test_runs_are_listed_oldest_first_and_found_by_name(tmp_path: Path) -> None:
    """A folder may have any name: `last` went by it, and a run was not found by the identifier that was shown."""
    started = {"20260102T000000-survey-aa": "2026-01-02", "20260101T000000-survey-bb": "2026-01-01", "a": "2026-01-03"}
    ids = {}
    for name, when in started.items():
        ids[name] = write(tmp_path / name).id
        meta = json.loads((tmp_path / name / "run.json").read_text())
        (tmp_path / name / "run.json").write_text(json.dumps(meta | {"started": f"{when}T00:00:00Z"}))
    assert [path.name for path in list_runs(tmp_path)] == sorted(started)
    assert [path.name for path in read_metas(tmp_path)[0]] == sorted(started, key=started.__getitem__)
    assert find_run("last", tmp_path).name == "a"
    assert find_run("20260101", tmp_path).name.endswith("bb")
    assert find_run("a", tmp_path).name == "a"
    assert find_run(ids["a"], tmp_path).name == "a"
    assert find_run(str(tmp_path / "20260101T000000-survey-bb")).exists()
    with pytest.raises(UsageError, match="3 runs named '2026'"):
        find_run("2026", tmp_path)
    with pytest.raises(UsageError, match="no run named 'x'"):
        find_run("x", tmp_path)


def test_a_run_that_stands_in_the_current_directory_is_one_of_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`wulf survey --out monday` left a run that `wulf runs` did not list, and `last` was another one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WULF_RUNS", raising=False)
    write(Path("runs") / "first")
    write(Path("monday"))
    assert list(list_runs()) == [Path("runs/first"), Path("monday")]
    assert find_run("last") == Path("monday")
    assert list(list_runs(Path("runs"))) == [Path("runs/first")], "--in means that directory alone"
    monkeypatch.setenv("WULF_RUNS", ".")
    assert list(list_runs()) == [Path("monday")]


def test_last_passes_over_what_failed_before_anything_was_measured(tmp_path: Path) -> None:
    """A node whose name can't be resolved leaves a run, too."""
    write(tmp_path / "a-good")
    for number, (state, code) in enumerate([("complete", INCOMPLETE), ("failed", None)]):
        with RunWriter(tmp_path / f"b-empty-{number}", "net-pingpong") as writer:
            writer.finish(state, exit_code=code)
    assert find_run("last", tmp_path).name == "a-good"
    assert find_run("last", tmp_path, empty=True).name == "b-empty-1"
    with RunWriter(tmp_path / "c-failed-later", "survey") as writer:
        writer.append_replicate(replicate(0))
        writer.finish("failed")
    assert find_run("last", tmp_path).name == "c-failed-later"


def test_last_is_what_failed_where_nothing_else_is_there(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "only", "survey") as writer:
        writer.finish("failed")
    assert find_run("last", tmp_path).name == "only"


def test_what_a_run_came_to(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", "survey") as writer:
        grave = Finding(kind="node", severity=Severity.BAD, subject="n3", text="n3 is slow")
        writer.write_findings([Finding(kind="note", severity=Severity.WARN, subject="n1", text="look"), grave])
        writer.finish("complete")
        assert headline_of(writer.path, read_meta(writer.path)) == "n3 is slow"
        writer.note(headline="n3 stands out.")
    assert headline_of(tmp_path / "run", read_meta(tmp_path / "run")) == "n3 stands out."
    assert read_meta(tmp_path / "run")["state"] == "complete"
