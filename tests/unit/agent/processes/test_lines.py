"""Lines of a stream that comes in pieces."""

from __future__ import annotations

import pytest

from wulf.agent.processes.lines import Lines


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_are_the_same_however_they_are_cut(size: int) -> None:
    text = b"one\n\ntwo, longer\nthe rest"
    lines = Lines(100)
    taken = [line for begin in range(0, len(text), size) for line in lines.take(text[begin : begin + size])]
    assert taken == [b"one", b"", b"two, longer"]
    assert lines.rest() == b"the rest"
    assert lines.rest() == b""


def test_a_line_of_the_limit_is_taken_and_a_longer_one_given_up() -> None:
    lines = Lines(4)
    assert lines.take(b"1234") == []
    assert lines.take(b"\n12345") == [b"1234"]
    assert lines.endless
    assert lines.take(b"6\nafter\n") == []
    assert lines.rest() == b""


def test_a_long_line_in_small_pieces_is_joined_once() -> None:
    """The square of it would take minutes: 16 MiB, by 16 bytes."""
    lines = Lines(1 << 25)
    for _ in range(1 << 20):
        assert lines.take(b"0123456789abcdef") == []
    assert lines.take(b"\n") == [b"0123456789abcdef" * (1 << 20)]
