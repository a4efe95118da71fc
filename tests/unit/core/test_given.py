"""Whatever a user names as a file is read, or refused with a reason: no traceback, and nobody waits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from wulf.core.given import Unreadable, contents, json_of, lines_of, text_of, toml, toml_of

DEEP = 100_000


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("\ufeffa = 1 # µ\n".encode())
    assert text_of(path) == "a = 1 # µ\n"
    assert toml_of(path) == {"a": 1}
    path.write_text('{"a": [1, 2.5, "x"]}')
    assert json_of(path) == {"a": [1, 2.5, "x"]}


@pytest.mark.parametrize(
    ("text", "read", "why"),
    [
        (b"\xff", text_of, "not UTF-8 text: invalid start byte at byte 0"),
        (b"a = ", toml_of, "no TOML"),
        (b"a = " + b"[" * DEEP, toml_of, "nested too deeply"),
        (b"a = nan", toml_of, "nan is no figure"),
        (b"a = {b = [inf]}", toml_of, "inf is no figure"),
        (b"a = " + b"9" * 5000, toml_of, "no TOML: .*digits"),
        (b"a = " + b"9" * 400, toml_of, "beyond all bounds"),
        (b"{", json_of, "no JSON"),
        (b"[" * DEEP, json_of, "nested too deeply"),
        (b"[NaN]", json_of, "nan is no figure"),
        (b"[1e999]", json_of, "inf is no figure"),
        (rb'[{"a": "\ud800"}]', json_of, "half of a character"),
        (rb'{"\udfff": 1}', json_of, "half of a character"),
    ],
)  # fmt: skip
def test_what_they_hold_is_refused_with_a_reason(
    tmp_path: Path, text: bytes, read: Callable[[Path], object], why: str
) -> None:
    (tmp_path / "a").write_bytes(text)
    with pytest.raises(Unreadable, match=why):
        read(tmp_path / "a")


def test_files_that_are_none_are_refused_with_a_reason(tmp_path: Path) -> None:
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "b", "No such file"), (Path("a\0b"), "null")):
        with pytest.raises(Unreadable, match=why):
            contents(path)
    (tmp_path / "large").write_bytes(bytes(11))
    with pytest.raises(Unreadable, match="11 bytes, more than 10"):
        contents(tmp_path / "large", 10)
    with pytest.raises(Unreadable, match="more than 1,000 bytes"):
        contents(Path("/dev/zero"), 1000)


def test_a_table_is_read_line_by_line(tmp_path: Path) -> None:
    table = tmp_path / "table"
    for text, lines in (("", []), ("a", ["a"]), ("\ufeffa\n", ["a"]), ("a\n\nµ\r\nb", ["a", "", "µ\r", "b"])):
        table.write_text(text)
        assert list(lines_of(table)) == lines
    long = ["x" * 50_000] * 100  # ends fall anywhere in the pieces in which it is read
    table.write_text("\n".join(long))
    assert list(lines_of(table)) == long


@pytest.mark.parametrize(
    ("text", "most", "before", "why"),
    [
        (b"a\nb\xff\n", 100, ["a"], "line 2 is not UTF-8 text: invalid start byte at byte 1"),
        (b"a\n" * 51, 100, [], "102 bytes, more than 100"),
        (b"a\n" + b"b" * 70_000, 1 << 20, ["a"], "line 2 has more than 65,536 bytes"),
        (b"b" * 70_000 + b"\na\n", 1 << 20, [], "line 1 has more than 65,536 bytes"),
    ],
    ids=["no text", "too long", "a long line at the end", "a long line"],
)
def test_a_tables_lines_are_those_before_what_is_wrong(
    tmp_path: Path, text: bytes, most: int, before: list[str], why: str
) -> None:
    (tmp_path / "table").write_bytes(text)
    lines = lines_of(tmp_path / "table", most)
    assert [next(lines) for _ in before] == before
    with pytest.raises(Unreadable, match=why):
        next(lines)


def test_zeros_without_end_are_no_table() -> None:
    with pytest.raises(Unreadable, match="line 1 has more than 65,536 bytes"):
        next(lines_of(Path("/dev/zero"), 1 << 40))


def test_a_pipe_is_read_to_its_end_and_one_without_a_writer_is_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "idle")
    assert contents(tmp_path / "idle") == b""
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer, "wb", buffering=0) as out:
        writing = threading.Thread(target=lambda: (out.write(b"n1\n" * 50_000), out.close()))
        writing.start()
        assert contents(Path(f"/dev/fd/{reader}")) == b"n1\n" * 50_000
        writing.join()


def test_a_pipe_into_which_nothing_is_written_is_given_up() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer), pytest.raises(Unreadable, match=r"nothing was written .* 0\.01 s"):
        contents(Path(f"/dev/fd/{reader}"), patience=0.01)


def test_text_in_toml() -> None:
    assert toml("a = 1") == {"a": 1}
