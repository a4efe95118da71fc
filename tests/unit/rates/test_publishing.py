"""What is published is merged with what holds still, and the file is whole at every moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import wulf.rates
from tests.machines import tree
from tests.unit.rates.making import AT, LATENCY, NOTHING, SIZE, rates, record, written
from wulf.agent.machine import Machine
from wulf.rates.machine import FACTS, differences, digest, identity, read_identity
from wulf.rates.publishing import PublishError, merged, publish, rates_of

LATER = "2026-02-01T12:00:00.000Z"


def test_a_rate_is_its_rows_record() -> None:
    found = rates_of({"mem.l2.latency": record(value=2e-9), "x": record(value=None, verdict="failed", reason="gone")})
    assert found["mem.l2.latency"].value == 2e-9
    assert (found["mem.l2.latency"].verdict, found["mem.l2.latency"].provenance) == ("ok", "measured")
    assert (found["x"].value, found["x"].reason) == (None, "gone")


def test_rates_that_were_not_measured_keep_their_older_time(tmp_path: Path) -> None:
    written(tmp_path / "rates.json")
    done = written(tmp_path / "rates.json", replace(LATENCY, value=4e-9, at=LATER))
    assert done.rates["mem.l2.latency"].at == LATER
    assert done.rates["mem.l2.size"] == SIZE
    assert (done.measured, done.notes) == (1, ())


@pytest.mark.parametrize(
    ("old", "new", "stays"),
    [
        (SIZE, replace(SIZE, value=2.0, at=LATER), False),
        (SIZE, replace(SIZE, value=None, reason="failed", at=LATER), True),
        (SIZE, replace(SIZE, provenance="reported", at=LATER), True),
        (replace(SIZE, provenance="reported"), replace(SIZE, provenance="reported", at=LATER), False),
        (NOTHING, replace(NOTHING, at=LATER), False),
        (replace(SIZE, value=None, reason="failed"), replace(SIZE, provenance="reported"), False),
    ],
)
def test_an_older_value_stays_where_there_is_nothing_better(
    old: wulf.rates.Rate, new: wulf.rates.Rate, stays: bool
) -> None:
    assert merged(rates(old), rates(new))[old.name] == (old if stays else new)


def test_the_rates_of_another_host_or_kernel_are_not_kept(tmp_path: Path) -> None:
    path, here = tmp_path / "rates.json", read_identity()
    written(path)
    done = publish(path, rates(LATENCY), here, AT, host="n2")
    assert list(done.rates) == ["mem.l2.latency"]
    assert "held the rates of n1" in done.notes[0]
    done = publish(path, rates(SIZE), here | {"kernel.release": "2.4.18"}, AT, host="n2")
    assert list(done.rates) == ["mem.l2.size"]
    assert "is 2.4.18" in done.notes[0]


def test_a_torn_file_is_begun_anew_and_said(tmp_path: Path) -> None:
    (tmp_path / "rates.json").write_text("{")
    assert "torn" in written(tmp_path / "rates.json", SIZE).notes[0]


def test_everybody_may_read_it_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    written(tmp_path / "a" / "b" / "rates.json")
    assert (tmp_path / "a/b/rates.json").stat().st_mode & 0o777 == 0o644
    assert sorted(file.name for file in (tmp_path / "a/b").iterdir()) == [".rates.json.lock", "rates.json"]


@pytest.fixture
def closed_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_the_machines_folder_is_open_to_all_whatever_the_umask(
    tmp_path: Path, closed_umask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wulf.rates.places.SYSTEM", tmp_path / "run" / "rates.json")
    for name in ("run", "mine"):
        written(tmp_path / name / "rates.json")
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "run" / "rates.json").stat().st_mode & 0o777 == 0o644


def test_the_lock_is_the_folders_owners_alone(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(tmp_path, 65534, 65534)
    written(tmp_path / "rates.json")
    lock, folder = (tmp_path / ".rates.json.lock").stat(), tmp_path.stat()
    assert lock.st_mode & 0o077 == 0, "who can open it can hold it"
    assert (lock.st_uid, lock.st_gid) == (folder.st_uid, folder.st_gid)


def test_what_can_not_be_written_is_said_with_the_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PublishError, match=r"rates\.json: (Not a directory|File exists)") as caught:
        written(tmp_path / "file" / "rates.json")
    assert caught.value.exit_code == 2


def test_the_lock_is_no_link_that_another_account_laid(tmp_path: Path) -> None:
    (tmp_path / ".rates.json.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(PublishError):
        written(tmp_path / "rates.json")
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("name", tree.names())
def test_recorded_machines_are_told_apart(name: str, tmp_path: Path) -> None:
    found = identity(tree.expected(name))
    assert found == read_identity(Machine(str(tree.unpack(name, tmp_path))))
    others = [identity(tree.expected(other)) for other in tree.names() if other != name]
    assert all(differences(found, other) and digest(found) != digest(other) for other in others)
    assert differences(found, found) == []


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    written(tmp_path / "rates.json")
    content = json.loads((tmp_path / "rates.json").read_text())
    assert content["fingerprint"] == digest(content["machine"])
    assert set(content["machine"]) <= set(FACTS)
