"""Runs on disk: exclusive, append-only, readable after kill -9 and on a full disk."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.wording import lacking
from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.store.reading import StoreError
from wulf.store.run import RunWriter, read_meta, read_run


def record(run: str, value: float = 1.0) -> Record:
    return Record(run=run, subject="n1>n2", probe="net", metric="rtt", unit="s", value=value, verdict="ok", at="now")  # type: ignore[arg-type]


def replicate(cell: int, **more: Any) -> dict[str, Any]:
    answer = {"metrics": {"rtt": {"value": 1e-5}}, "seconds": 0.1, "counters": {}, "during": None, "info": {}}
    return {"cell": cell, "block": 0, "at": "now", "ok": True, **answer, **more}


def write(path: Path, count: int = 2) -> RunWriter:
    with RunWriter(path, "survey", {"seed": 7, "nodes": ["n1", "n2"]}) as writer:
        for i in range(count):
            writer.append_replicate(replicate(i))
            writer.append(record(writer.id, float(i)))
        writer.write_json("fingerprint.json", {"n1": {"cpu.model": {"value": "x", "provenance": "reported"}}})
        writer.write_findings([Finding(kind="node", severity=Severity.BAD, subject="n2", text="slow")])
        writer.finish("complete", exit_code=1)
    return writer


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    writer = write(tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert run.id == writer.id
    assert run.meta["state"] == "complete"
    assert (run.meta["seed"], run.meta["exit_code"]) == (7, 1)
    assert [r.value for r in run.records] == [0.0, 1.0]
    assert [r["cell"] for r in run.replicates] == [0, 1]
    assert run.findings[0].subject == "n2"
    assert run.fingerprint["n1"]["cpu.model"]["value"] == "x"
    assert run.torn == 0


def test_a_torn_last_line_is_ignored_and_counted(tmp_path: Path) -> None:
    write(tmp_path / "run")
    with (tmp_path / "run" / "records.jsonl").open("a") as out:
        out.write('{"run": "x", "subj')
    run = read_run(tmp_path / "run")
    assert len(run.records) == 2
    assert run.torn == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("value", "NaN"), ("low", "Infinity"), ("high", "-Infinity"), ("value", "1e999"), ("low", "9" * 400)],
)
def test_a_record_without_a_finite_figure_is_as_good_as_torn(tmp_path: Path, field: str, value: str) -> None:
    """It was shown: `round trip nan ns (inf–1 s)`."""
    write(tmp_path / "run")
    path = tmp_path / "run" / "records.jsonl"
    first, second = path.read_text().splitlines()
    path.write_text(re.sub(rf'"{field}":[^,]*', f'"{field}":{value}', first) + f"\n{second}\n")
    run = read_run(tmp_path / "run")
    assert ([one.value for one in run.records], run.torn) == ([1.0], 1)


def test_a_record_drives_no_terminal(tmp_path: Path) -> None:
    write(tmp_path / "run")
    path = tmp_path / "run" / "records.jsonl"
    path.write_text(path.read_text().replace('"subject":"', '"subject":"\\u001b[31m'))
    assert {one.subject[0] for one in read_run(tmp_path / "run").records} == {"\ufffd"}


def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    write(tmp_path / "run")
    for name in ("records.jsonl", "replicates.jsonl"):
        (tmp_path / "run" / name).unlink()
        os.mkfifo(tmp_path / "run" / name)
        with pytest.raises(StoreError, match="no regular file"):
            read_run(tmp_path / "run")
        (tmp_path / "run" / name).unlink()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"aim": []},
        {"aim": "fame"},
        {"roles": {"n1": 3}},
        {"readings": {"n1": 3}},
        {"readings": {"n1": {"x": {"": {}}}}},
        {"readings": {"n1": {"x": {"": {"value": None, "reason": {}}}}}},
    ],
)
def test_settings_of_another_shape_are_named(tmp_path: Path, settings: dict[str, Any]) -> None:
    write(tmp_path / "run")
    sound = {"aim": "latency", "roles": {}, "interfaces": {}, "addresses": {}, "readings": {}}
    path = tmp_path / "run" / "settings.json"
    path.write_text(json.dumps(sound))
    assert read_run(tmp_path / "run").settings == sound
    path.write_text(json.dumps(sound | settings if settings else {}))
    with pytest.raises(StoreError, match=r"settings\.json"):
        read_run(tmp_path / "run")


def test_two_commands_never_write_into_one_directory(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", "survey"), pytest.raises(UsageError, match="another wulf is writing"):
        RunWriter(tmp_path / "run", "survey")


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    write(tmp_path / "run")
    with pytest.raises(UsageError, match="already holds a run"):
        RunWriter(tmp_path / "run", "survey")
    assert len(read_run(tmp_path / "run").records) == 2


def test_no_permission_is_said_with_the_path(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UsageError, match="can't write a run into") as caught:
        RunWriter(blocked / "run", "survey")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("kind", "state"), [(KeyboardInterrupt, "interrupted"), (RuntimeError, "failed")])
def test_leaving_by_an_exception_is_recorded(tmp_path: Path, kind: type[BaseException], state: str) -> None:
    with pytest.raises(kind), RunWriter(tmp_path / "run", "survey") as writer:
        writer.append(record(writer.id))
        raise kind
    run = read_run(tmp_path / "run")
    assert run.meta["state"] == state
    assert len(run.records) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_and_what_was_there_is_kept(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", "survey") as writer:
        writer.append(record(writer.id))
        kept, writer._records = writer._records, Path("/dev/full").open("ab", buffering=0)  # noqa: SIM115
        with pytest.raises(StoreError, match="No space left on device"):
            writer.append(record(writer.id))
        writer._records.close()
        writer._records = kept
    assert len(read_run(tmp_path / "run").records) == 1


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text("{broken")
    with pytest.raises(StoreError, match=r"run.json: not JSON: .* line 1"):
        read_run(tmp_path)


TORN = [
    (b"[]", "holds list where dict"),
    (b"{}", "id: Field required"),
    (b'{"state": "complete"}', "id: Field required"),
    (b'{"id": "a\\nrm -rf /", "state": "complete"}', "id: String should match"),
    (b'{"id": "a", "state": "complete", "nodes": ["../.."]}', "nodes.0: String should match"),
    (b'{"id": "a", "state": "complete", "nodes": "n1"}', "nodes: Input should be a valid list"),
    (b'{"id": "a", "state": "complete", "seed": NaN}', "NaN is no number"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"id": "\xff"}', "utf-8"),
]


@pytest.mark.parametrize(("text", "why"), TORN)
def test_a_run_that_is_none_of_ours_says_what_is_wrong(tmp_path: Path, text: bytes, why: str) -> None:
    (tmp_path / "run.json").write_bytes(text)
    for read in (read_run, read_meta):
        with pytest.raises(StoreError) as raised:
            read(tmp_path)
        assert lacking(raised.value.what, f"{tmp_path}/run.json", why) == []


@pytest.mark.parametrize("name", ["run.json", "records.jsonl", "replicates.jsonl", "findings.json", "plan.json"])
def test_a_pipe_in_a_runs_folder_makes_nobody_wait(tmp_path: Path, name: str) -> None:
    write(tmp_path / "run")
    (tmp_path / "run" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "run" / name)
    with pytest.raises(UsageError if name == "run.json" else StoreError):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("findings.json", '[{"kind": "node"}]', "a finding's severity"),
        ("findings.json", "{}", "holds dict"),
        ("plan.json", "[]", "holds list"),
        ("fingerprint.json", "1", "holds int"),
    ],
)
def test_files_of_the_wrong_shape_are_named(tmp_path: Path, name: str, text: str, why: str) -> None:
    write(tmp_path / "run")
    (tmp_path / "run" / name).write_text(text)
    with pytest.raises(StoreError) as raised:
        read_run(tmp_path / "run")
    assert lacking(raised.value.what, name, why) == []


def test_json_files_are_replaced_whole(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", "survey") as writer:
        writer.write_json("plan.json", {"a": 1})
        writer.write_json("plan.json", {"a": 2})
        writer.finish("complete")
    assert json.loads((tmp_path / "run" / "plan.json").read_text()) == {"a": 2}
    assert not list((tmp_path / "run").glob(".plan*")), "no temporary files stay"


CELL = {
    "id": 0, "client": "n1", "server": "n2", "transport": "tcp", "pattern": "pingpong", "params": {}, "metrics": [],
}  # fmt: skip


def test_a_line_that_is_no_replicate_is_as_good_as_torn(tmp_path: Path) -> None:
    failed = {"cell": 0, "block": 1, "at": "now", "ok": False, "error": {"code": "peer-lost", "message": "gone"}}
    sound = [
        replicate(0),
        replicate(0, block=2, start={"together": 2, "overlap": 1.0, "late": 0.0, "bound": 0.0}),
        failed,
    ]
    bad = [
        [], {"cell": 0}, replicate(-1), replicate(0, at=5), replicate(0, metrics=[]), replicate(0, metrics={"rtt": 1}),
        replicate(0, metrics={"rtt": {"value": "fast"}}),
        replicate(0, metrics={"rtt": {"value": 1, "quantiles": {"0.5": "x"}}}),
        replicate(0, seconds=None) | {"counters": 3}, replicate(0, start={}), failed | {"error": "gone"},
        replicate(0) | {"counters": {"client": {"cpu": 3}}}, replicate(0) | {"during": {"client": {"tcp": 3}}},
    ]  # fmt: skip
    with RunWriter(tmp_path / "run", "survey") as writer:
        for one in (*sound, *bad):
            writer.append_replicate(one)
        writer.finish("complete")
    run = read_run(tmp_path / "run")
    assert (run.replicates, run.torn) == (sound, len(bad))


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("fingerprint.json", {"n1": []}, "n1"),
        ("fingerprint.json", {"n1": {"cpu.model": "x"}}, "n1.cpu.model"),
        ("baseline.json", {"before": {"n1": {"seconds": "1", "counters": {}}}}, "before.n1.seconds"),
        ("baseline.json", {"before": 1}, "before"),
        ("plan.json", {"cells": [CELL]}, "cells.0.metrics"),
        ("baseline.json", {"before": {"n1": {"seconds": 1.0, "counters": {"cpu": 3}}}}, "before.n1.counters"),
    ],
)
def test_a_file_of_another_shape_is_named_with_the_field(tmp_path: Path, name: str, content: Any, why: str) -> None:
    write(tmp_path / "run")
    (tmp_path / "run" / name).write_text(json.dumps(content))
    with pytest.raises(StoreError) as raised:
        read_run(tmp_path / "run")
    assert lacking(raised.value.what, name, why) == []


def test_a_run_is_gone_on_with_in_its_own_words(tmp_path: Path) -> None:
    first = write(tmp_path / "run")
    with RunWriter(tmp_path / "run", "another", {"seed": 8}, resume=True) as writer:
        assert writer.earlier is not None
        assert [r["cell"] for r in writer.earlier.replicates] == [0, 1]
        assert [r.value for r in writer.earlier.records] == [0.0, 1.0]
        assert read_run(tmp_path / "run").meta["state"] == "running"
        writer.append_replicate(replicate(2))
        writer.append(record(writer.id, 5.0))
        writer.finish("complete")
    run = read_run(tmp_path / "run")
    assert (run.id, run.meta["command"], run.meta["seed"]) == (first.id, "survey", 7)
    assert [r["cell"] for r in run.replicates] == [0, 1, 2]
    assert [r.value for r in run.records] == [5.0], "records follow from the replicates, and are made anew"
    assert len(run.meta["resumed"]) == 1


def test_a_run_that_fails_before_it_goes_on_keeps_its_records(tmp_path: Path) -> None:
    write(tmp_path / "run")
    with pytest.raises(UsageError), RunWriter(tmp_path / "run", "survey", resume=True):
        raise UsageError("the probe has not been built")
    assert [r.value for r in read_run(tmp_path / "run").records] == [0.0, 1.0]


def test_a_torn_line_is_taken_off_before_more_is_appended(tmp_path: Path) -> None:
    write(tmp_path / "run")
    with (tmp_path / "run" / "replicates.jsonl").open("a") as out:
        out.write('{"cell": 2, "o')
    with RunWriter(tmp_path / "run", "survey", resume=True) as writer:
        writer.append_replicate(replicate(3))
        writer.finish("complete")
    run = read_run(tmp_path / "run")
    assert ([r["cell"] for r in run.replicates], run.torn) == ([0, 1, 3], 0)


def test_a_run_with_a_line_beyond_all_use_is_not_gone_on_with(tmp_path: Path) -> None:
    """Most of it a hole of a terabyte, that was once read whole."""
    write(tmp_path / "run")
    replicates = tmp_path / "run" / "replicates.jsonl"
    os.truncate(replicates, 1 << 40)
    with pytest.raises(StoreError, match="line 3 has more than"), RunWriter(tmp_path / "run", "survey", resume=True):
        pass
    assert replicates.stat().st_size == 1 << 40


@pytest.mark.parametrize("name", ["records.jsonl", "replicates.jsonl", ".lock"])
def test_no_link_in_a_run_of_somebody_else_is_written_through(tmp_path: Path, name: str) -> None:
    """Whoever owns the run puts it there: gone on with by root, /etc/passwd would be emptied."""
    write(tmp_path / "run")
    target, link = tmp_path / "passwd", tmp_path / "run" / name
    target.write_text(link.read_text())
    link.unlink()
    link.symlink_to(target)
    before = target.read_text()
    with (
        pytest.raises((StoreError, UsageError), match="symbolic links"),
        RunWriter(tmp_path / "run", "survey", resume=True) as writer,
    ):
        writer.append(record(writer.id))
    assert target.read_text() == before


def test_a_run_is_written_where_it_was_begun(tmp_path: Path) -> None:
    """Whoever owns the folder above puts another in its place."""
    with RunWriter(tmp_path / "run", "survey") as writer:
        (tmp_path / "run").rename(tmp_path / "moved")
        (tmp_path / "run").symlink_to("other")
        (tmp_path / "other").mkdir()
        writer.append(record(writer.id))
        writer.write_text("outputs/a.txt", "said")
        writer.make_folder("trace")
        writer.finish("complete")
    assert not list((tmp_path / "other").iterdir())
    assert read_run(tmp_path / "moved").meta["state"] == "complete"
    assert {path.name for path in (tmp_path / "moved").iterdir()} >= {"outputs", "trace"}


def test_a_pipe_in_place_of_the_lock_makes_nobody_wait(tmp_path: Path) -> None:
    write(tmp_path / "run")
    meta = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps({**meta, "state": "running"}))
    (tmp_path / "run" / ".lock").unlink()
    os.mkfifo(tmp_path / "run" / ".lock")
    assert read_meta(tmp_path / "run")["state"] == "cut short"


def test_only_a_run_can_be_gone_on_with_and_by_one_wulf_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        RunWriter(tmp_path / "absent", "survey", resume=True)
    write(tmp_path / "run")
    with (
        RunWriter(tmp_path / "run", "survey", resume=True),
        pytest.raises(UsageError, match="another wulf is writing"),
    ):
        RunWriter(tmp_path / "run", "survey", resume=True)
