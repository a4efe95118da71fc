"""A step is done again when what it depends on has changed, and only then."""

from __future__ import annotations

import os
from pathlib import Path

from provision.stamps import Stamps, digest


def test_contents_count_and_times_do_not(tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text("int a;")
    before = digest([tmp_path])
    os.utime(source, (1, 1))
    assert digest([tmp_path]) == before
    source.write_text("int b;")
    assert digest([tmp_path]) != before


def test_a_file_more_or_renamed_counts(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("")
    before = digest([tmp_path])
    (tmp_path / "a.cpp").rename(tmp_path / "b.cpp")
    renamed = digest([tmp_path])
    (tmp_path / "c.cpp").write_text("")
    assert len({before, renamed, digest([tmp_path])}) == 3


def test_words_do_not_run_together() -> None:
    assert digest(words=["ab", "c"]) != digest(words=["a", "bc"])


def test_a_stamp_is_fresh_with_its_key_and_its_outputs(tmp_path: Path) -> None:
    stamps, output = Stamps(tmp_path / "stamps"), tmp_path / "wulf-net"
    assert not stamps.fresh("native", "k1")
    stamps.set("native", "k1")
    assert stamps.fresh("native", "k1")
    assert not stamps.fresh("native", "k2")
    assert not stamps.fresh("native", "k1", output)
    output.touch()
    assert stamps.fresh("native", "k1", output)
