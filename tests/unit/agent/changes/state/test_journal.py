"""The journal: what is torn is told from what is damaged, and nothing is guessed."""

from __future__ import annotations

import json
import os
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.processes import PATIENCE
from tests.unit.agent.changes.machine import START, FakeNode, setting
from wulf.agent.changes.apply import Request, apply
from wulf.agent.changes.keep import end
from wulf.agent.changes.operations import take_back
from wulf.agent.changes.state.journal import ARCHIVED, FORMAT, NAME, Journal
from wulf.agent.changes.state.lines import Damaged, line_of
from wulf.agent.changes.status import status
from wulf.agent.files.disk import Disk
from wulf.agent.session import Refused

ME = Request("c1", "me@head")


@pytest.fixture
def written(node: FakeNode) -> FakeNode:
    """A node with two open changes: five lines."""
    apply(node.host, ME, [setting("mtu", 9000), setting("rings", 4096)])
    return node


def data(node: FakeNode) -> bytes:
    return (node.folder / NAME).read_bytes()


def test_a_line_is_json_with_its_checksum_and_number(written: FakeNode) -> None:
    lines = [json.loads(line) for line in data(written).splitlines()]
    assert [(line[2]["number"], line[2]["kind"]) for line in lines] == [
        (1, "change"), (2, "write"), (3, "wrote"), (4, "write"), (5, "wrote"),
    ]  # fmt: skip
    assert (written.folder / NAME).stat().st_mode & 0o777 == 0o600
    assert written.folder.stat().st_mode & 0o777 == 0o700


def test_torn_anywhere_in_its_last_line_it_is_as_if_that_had_not_begun(written: FakeNode) -> None:
    (written.run / NAME).unlink()  # the power was cut
    whole = data(written)
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for length in range(last, len(whole)):
        for tail in (b"", b"\0" * 7):
            (written.folder / NAME).write_bytes(whole[:length] + tail)
            assert len(Journal(written.host)._lines) == 4
    (written.folder / NAME).write_bytes(whole[: last + 20])
    Journal(written.host).append("keep", of=[], campaign="c1")
    assert [line["kind"] for line in Journal(written.host)._lines][-2:] == ["write", "keep"]


def test_any_bit_that_turns_is_seen(written: FakeNode) -> None:
    """And the copy in memory has what was there; without it, after a boot, nothing is guessed."""
    whole = data(written)
    (written.run / NAME).rename(written.run / "copy")
    for position in range(len(whole)):
        bad = bytearray(whole)
        bad[position] ^= 1 << position % 8
        (written.folder / NAME).write_bytes(bytes(bad))
        with pytest.raises(Damaged) as seen:
            Journal(written.host)
        (written.run / "copy").rename(written.run / NAME)
        journal = Journal(written.host)
        assert (len(journal), bytes(journal._whole)) == (5, whole)
        assert str(journal.damage) == str(seen.value)
        (written.run / NAME).rename(written.run / "copy")


@pytest.mark.parametrize(
    ("change", "line", "why"),
    [
        (lambda lines: [lines[0], *lines[2:]], 2, "number 3: lines are missing"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], 2, "number 3"),
        (lambda lines: [lines[0], b"# a note\n", *lines[1:]], 2, "no line of a journal"),
        (lambda lines: [*lines, lines[-1]], 6, "number 5"),
        (lambda lines: [lines[0].replace(b'"me@head"', b'"you@dsk"'), *lines[1:]], 1, "its checksum is wrong"),
        (lambda lines: [lines[0][:30] + b"\n", *lines[1:]], 1, "no line of a journal"),
    ],
)
def test_damage_is_named_and_nothing_is_written(written: FakeNode, change, line: int, why: str) -> None:
    changed = {**START["eth0"], "mtu": 9000, "rings": 4096}
    (written.folder / NAME).write_bytes(b"".join(change(data(written).splitlines(keepends=True))))
    (written.run / NAME).unlink()
    for act in (lambda: take_back(written.host), lambda: apply(written.host, ME, [setting("gro", False)])):
        with pytest.raises(Damaged) as caught:
            act()
        assert caught.value.told["line"] == line
        assert why in caught.value.told["why"]
        assert written.settings.load()["eth0"] == changed
    found = status(written.host)
    assert found["journal"]["damaged"]["line"] == line
    assert f"line {line}, is damaged" in found["problems"][0]
    assert [each["line"] for each in found["journal"]["lines"] if not each["sound"]][:1] == [line]
    before = [json.loads(each["text"])[2].get("before") for each in found["journal"]["lines"] if each["sound"]]
    assert 1500 in before or line == 2  # a person sees what to put back


class Silent:
    """A disk whose fsync, or another call, waits until it is to `speak`."""

    def __init__(self, node: FakeNode, patch: pytest.MonkeyPatch, call: str) -> None:
        self.speak = threading.Event()
        self.node, node.disk = node, Disk(patience=0.05)
        real = getattr(os, call)

        def waits(*arguments: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                self.speak.wait(PATIENCE)
            return real(*arguments)

        patch.setattr(os, call, waits)

    def speaks(self) -> None:
        self.speak.set()
        for thread in threading.enumerate():
            if thread.name == "wulf-disk":
                thread.join(PATIENCE)
        self.node.disk = Disk()  # which has the time that one has under load


class TestASilentDisk:
    """A file system whose server is gone: what asks it waits for ever."""

    @pytest.mark.parametrize("call", ["open", "fstat", "pwrite", "fsync"])
    def test_keeps_nobody_from_the_way_back(
        self, written: FakeNode, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        silent = Silent(written, monkeypatch, call)
        found = take_back(written.host)["results"]
        assert [one["outcome"] for one in found] == ["reverted", "reverted"]
        assert "could not take this (Connection timed out" in found[0]["reason"]
        assert written.settings.load() == START
        assert status(written.host)["open"] == []
        silent.speaks()
        assert status(written.host)["open"] == []
        assert Journal(written.host).damage is None
        end(written.host, "c1")
        assert not (written.folder / NAME).exists(), "archived, with every line"
        assert (written.folder / "ended-1.jsonl").read_bytes().count(b"\n") == 9

    def test_gets_no_change(self, node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
        silent = Silent(node, monkeypatch, "fsync")
        with pytest.raises(Refused, match="nothing was written"):
            apply(node.host, ME, [setting("mtu", 9000)])
        assert node.settings.load() == START
        silent.speaks()
        apply(node.host, ME, [setting("mtu", 9000)])
        assert [one["outcome"] for one in take_back(node.host)["results"]] == ["reverted"]

    def test_that_speaks_again_does_no_more_of_what_was_given_up(
        self, written: FakeNode, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It would write over what another has written since."""
        before = data(written)
        silent = Silent(written, monkeypatch, "open")
        with pytest.raises(OSError, match="silent"):
            Journal(written.host).append("keep", of=[2], campaign="c1")
        silent.speaks()
        assert data(written) == before


class TestItsCopy:
    """In memory, for a disk that can't be had."""

    def test_has_what_the_disk_has(self, written: FakeNode) -> None:
        assert (written.run / NAME).read_bytes() == data(written)

    @pytest.mark.parametrize("lost", ["gone", "unreadable"])
    def test_stands_for_a_disk_that_is_lost(self, written: FakeNode, lost: str) -> None:
        (written.folder / NAME).unlink()
        if lost == "unreadable":
            (written.folder / NAME).mkdir()
        journal = Journal(written.host)
        assert [entry.name for entry in journal.open_entries()] == ["nic.mtu", "nic.rings"]
        with pytest.raises(OSError, match="is gone" if lost == "gone" else "can't be read"):
            journal.append("keep", of=[2], campaign="c1")
        assert [one["outcome"] for one in take_back(written.host)["results"]] == ["reverted", "reverted"]
        assert written.settings.load() == START
        assert status(written.host)["open"] == []
        with pytest.raises(Refused, match="nothing was written"):
            apply(written.host, ME, [setting("mtu", 9000)])

    @pytest.mark.parametrize("state", ["shorter", "torn", "another", "damaged", "gone"])
    def test_of_less_than_the_disk_has_is_made_anew(self, written: FakeNode, state: str) -> None:
        copy, whole = written.run / NAME, data(written)
        shorter = whole[: whole.rindex(b"\n", 0, -1) + 1]
        another = [whole.splitlines(keepends=True)[0], b"of another journal\n"]
        contents = {"shorter": shorter, "torn": whole[:-9], "another": b"".join(another), "damaged": b"\xff\n" + whole}
        copy.unlink()
        if state in contents:
            copy.write_bytes(contents[state])
        assert len(Journal(written.host)) == 5
        Journal(written.host).append("keep", of=[2], campaign="c1")
        assert copy.read_bytes() == data(written)
        assert len(Journal(written.host)) == 6

    @pytest.mark.parametrize("torn", [b"", b'["0123abcd", 12'])
    def test_stands_for_a_disk_that_is_damaged(self, written: FakeNode, torn: bytes) -> None:
        """For the way back, which mends it; but nothing new is begun."""
        (written.folder / NAME).write_bytes(data(written).replace(b"9000", b"8000", 1) + torn)
        with pytest.raises(Damaged):
            apply(written.host, ME, [setting("gro", False)])
        found = status(written.host)
        assert [one["name"] for one in found["open"]] == ["nic.mtu", "nic.rings"]
        assert "line 2, is damaged: its checksum is wrong. Its copy in memory" in found["problems"][0]
        assert [one["outcome"] for one in take_back(written.host)["results"]] == ["reverted", "reverted"]
        assert written.settings.load() == START
        assert data(written) == (written.run / NAME).read_bytes()
        assert Journal(written.host).damage is None

    def test_of_fewer_lines_than_a_damaged_disk_proves_nothing(self, written: FakeNode) -> None:
        whole = data(written)
        (written.run / NAME).write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
        (written.folder / NAME).write_bytes(whole.replace(b"9000", b"8000", 1))
        with pytest.raises(Damaged):
            take_back(written.host)

    @pytest.mark.parametrize("lines", [None, 0, 3])
    def test_that_is_damaged_and_had_more_lines_hides_nothing(self, written: FakeNode, lines: int | None) -> None:
        path, copy = written.folder / NAME, written.run / NAME
        whole = data(written)
        copy.write_bytes(whole.replace(b"9000", b"8000", 1))
        path.unlink() if lines is None else path.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
        with pytest.raises(Damaged):
            take_back(written.host)
        found = status(written.host)
        assert f"{copy}, line 2, is damaged" in found["problems"][0]
        assert [each["line"] for each in found["journal"]["lines"] if each["sound"]] == [1, 3, 4, 5]

    @pytest.mark.parametrize("place", ["disk", "copy"])
    @pytest.mark.parametrize("line", range(5))
    def test_one_line_that_became_two_hides_no_sound_ones(self, written: FakeNode, place: str, line: int) -> None:
        whole = data(written)
        at = sum(map(len, whole.splitlines(keepends=True)[:line])) + 20
        path = (written.folder if place == "disk" else written.run) / NAME
        path.write_bytes(whole[:at] + b"\n" + whole[at + 1 :])
        assert [one["outcome"] for one in take_back(written.host)["results"]] == ["reverted", "reverted"]
        assert written.settings.load() == START

    def test_that_can_not_be_written_stops_nothing(self, written: FakeNode) -> None:
        (written.run / NAME).unlink()
        (written.run / NAME).mkdir()
        assert [one["outcome"] for one in take_back(written.host)["results"]] == ["reverted", "reverted"]

    def test_ends_before_its_journal(self, written: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
        """Left behind, it would stand for a disk that is gone."""

        def ends(*_: Any) -> None:
            raise KeyboardInterrupt

        take_back(written.host)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(Path, "rename", ends)
            end(written.host, "c1")
        assert ((written.run / NAME).exists(), (written.folder / NAME).exists()) == (False, True)
        end(written.host, "c1")
        assert not (written.folder / NAME).exists()


def test_it_begins_anew_when_a_campaign_left_nothing(written: FakeNode) -> None:
    take_back(written.host)
    end(written.host, "c1")
    assert not (written.folder / NAME).exists()
    for number in range(ARCHIVED + 2):
        apply(written.host, ME, [setting("mtu", 9000 - number)])
        take_back(written.host)
        end(written.host, "c1")
    kept = {path.name for path in written.folder.glob("ended-*")}
    assert kept == {f"ended-{number}.jsonl" for number in range(4, ARCHIVED + 4)}


def test_lines_of_another_wulf_are_kept_and_hide_nothing(written: FakeNode) -> None:
    journal = Journal(written.host)
    journal.append("moved", of=[2], campaign="c1", to="somewhere")
    journal.append("wrote", of=2, outcome="applied")  # it lacks what ours have
    again = Journal(written.host)
    assert [line["kind"] for line in again.foreign] == ["moved", "wrote"]
    assert [entry.name for entry in again.open_entries()] == ["nic.mtu", "nic.rings"]
    found = status(written.host)
    assert [line["number"] for line in found["foreign"]] == [6, 7]
    assert any("2 lines of the journal are of another wulf" in problem for problem in found["problems"])
    assert [one["outcome"] for one in take_back(written.host)["results"]] == ["reverted", "reverted"]
    assert written.settings.load() == START
    end(written.host, "c1")
    assert (written.folder / NAME).exists(), "what may be open for another wulf is not put aside"


@pytest.mark.parametrize("newer", [FORMAT + 1, "2.0", None, [1]])
def test_a_format_that_is_not_ours_is_newer(written: FakeNode, newer: Any) -> None:
    journal = Journal(written.host)
    line = {"kind": "change", "number": 6, "campaign": "c2", "change": 2, "format": newer, "boot": "boot-1"}
    (written.folder / NAME).write_bytes(data(written) + line_of(line))
    assert Journal(written.host).newer == {2}
    assert journal.newer == set()


@pytest.mark.parametrize("body", [b"{]}", b'{"kind": "keep"}', b'{"number": "six"}'])
def test_a_line_that_says_nothing_is_damage(written: FakeNode, body: bytes) -> None:
    line = b'["%08x", %d, %s]\n' % (zlib.crc32(body), len(body), body)
    (written.folder / NAME).write_bytes(data(written) + line)
    (written.run / NAME).unlink()
    with pytest.raises(Damaged):
        Journal(written.host)


def test_a_change_says_in_which_format_it_is(written: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Journal(written.host).changes[1]["format"] == FORMAT
    assert Journal(written.host).foreign == []
    monkeypatch.setattr("wulf.agent.changes.state.journal.FORMAT", FORMAT - 1)
    assert [line["kind"] for line in Journal(written.host).foreign] == ["change"]
    found = take_back(written.host)["results"]
    assert {one["outcome"] for one in found} == {"unconfirmed"}
    assert "a newer wulf wrote it" in found[0]["reason"]
    assert written.value("mtu") == 9000
    assert [one["outcome"] for one in take_back(written.host, force=True)["results"]] == ["reverted", "reverted"]
    assert written.settings.load() == START
