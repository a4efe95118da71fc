"""The golden of what wulf says in words: tests/wording.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import wording
from tests.wording import Wording

SENTENCE = "n3 stands out: its links reach 0.19 Gbit/s where the others reach 21 Gbit/s."


def test_every_entry_has_its_test(pytestconfig: pytest.Config) -> None:
    tests = pytestconfig.stash[wording.COLLECTED]
    if wording.UPDATING:
        wording.drop_stale(tests)
    assert wording.stale(wording.read(wording.GOLDEN), tests) == {}, f"no test says it: {wording.UPDATE}"


def test_the_file_is_as_it_would_be_written() -> None:
    text = wording.GOLDEN.read_text(encoding="utf-8")
    assert text == wording.dumps(tomllib.loads(text)), wording.UPDATE


def test_a_text_is_held_and_compared(tmp_path: Path) -> None:
    golden = tmp_path / "wording.toml"
    writing = Wording("unit/a", "test_b", golden, updating=True)
    writing(SENTENCE)
    writing("two  \nlines")
    writing("a third", "third")
    writing.close(whole=True)
    assert wording.read(golden) == {
        "unit/a": {"test_b": SENTENCE, "test_b (2)": "two\nlines", "test_b: third": "a third"}
    }
    reading = Wording("unit/a", "test_b", golden, updating=False)
    reading(SENTENCE)
    reading("two\nlines")
    reading("a third", "third")
    reading.close(whole=True)
    with pytest.raises(pytest.fail.Exception, match=r"test_b \(3\).*WULF_UPDATE=1 and read the diff"):
        reading("a fourth")


def test_another_text_fails_with_a_diff(tmp_path: Path) -> None:
    golden = tmp_path / "wording.toml"
    wording.write(golden, {"unit/a": {"test_b": "one\ntwo"}})
    with pytest.raises(pytest.fail.Exception, match=r"read the diff\n  one\n- two\n\+ too"):
        Wording("unit/a", "test_b", golden, updating=False)("one\ntoo")


def test_what_a_test_no_longer_says_is_found_and_goes(tmp_path: Path) -> None:
    golden = tmp_path / "wording.toml"
    others = {"test_b2": "kept", "test_b[x]": "kept"}
    wording.write(golden, {"unit/a": {"test_b": "one", "test_b (2)": "two", "test_b: x": "three", **others}})
    short = Wording("unit/a", "test_b", golden, updating=False)
    short("one")
    short.close(whole=False)  # it failed, or was skipped: no more is known
    with pytest.raises(pytest.fail.Exception, match=r"no longer said: test_b \(2\), test_b: x: run"):
        short.close(whole=True)
    again = Wording("unit/a", "test_b", golden, updating=True)
    again("one")
    again.close(whole=False)
    assert len(wording.read(golden)["unit/a"]) == 5
    again.close(whole=True)
    assert wording.read(golden) == {"unit/a": {"test_b": "one", **others}}


def test_stale_entries_are_those_without_a_test_that_asks() -> None:
    here = "unit/test_wording"
    texts = {"TestAsking::test_asks[1]: a": "", "TestAsking::test_asks (2)": "", "test_a_text_is_held": "", "no": ""}
    entries = {here: texts, "unit/gone": {"test_x": ""}}
    gone = {here: {"test_a_text_is_held": "", "no": ""}, "unit/gone": {"test_x": ""}}
    assert wording.stale(entries, {}) == gone
    gone[here]["TestAsking::test_asks[1]: a"] = ""
    assert wording.stale(entries, {here: {"TestAsking::test_asks", "TestAsking::test_asks[2]"}}) == gone


class TestAsking:
    @pytest.mark.parametrize("number", [1, 2])
    def test_asks(self, wording: Wording, number: int, request: pytest.FixtureRequest) -> None:
        assert (wording.file, wording.test) == ("unit/test_wording", f"TestAsking::{request.node.name}")


TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("ab \"'\\\n\t\r", max_size=300)


@given(st.dictionaries(TEXTS, st.dictionaries(TEXTS, TEXTS, min_size=1), max_size=2))
def test_what_is_written_is_read_again(entries: wording.Entries) -> None:
    assert tomllib.loads(wording.dumps(entries)) == entries


def test_long_texts_are_wrapped_and_tables_are_not() -> None:
    text = f"{SENTENCE} {SENTENCE}\n  {'x' * 110}  {'y' * 110}"
    written = wording.dumps({"unit/a": {"test_b": text, "test_a": 'so "short"'}})
    expected = (
        f'{wording.HEAD}\n["unit/a"]\n"test_a" = \'so "short"\'\n"test_b" = """\n'
        f"{SENTENCE} n3 stands out: its links reach 0.19 \\\n"
        f'Gbit/s where the others reach 21 Gbit/s.\n  {"x" * 110}  {"y" * 110}"""\n'
    )
    assert written == expected
