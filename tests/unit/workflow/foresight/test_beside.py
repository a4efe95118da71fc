"""Where hosts stand, as it is written on the command line."""

from __future__ import annotations

import pytest

from wulf.core.errors import UsageError
from wulf.workflow.foresight.beside import placement


@pytest.mark.parametrize(
    ("text", "positions"),
    [("random:7", {"random": 7}), ("every:4", {"every": 4}), ("0,8, 16", [0, 8, 16]), ("3", [3])],
)
def test_a_placement_is_a_rule_or_a_list(text: str, positions: dict[str, int] | list[int]) -> None:
    assert placement(text) == positions


@pytest.mark.parametrize("text", ["random", "random:", "random:-1", "every:x", "nearby:3", "1,,2", "", "0;1", "²"])
def test_what_is_neither_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="no placement") as error:
        placement(text)
    assert "random:1" in str(error.value.next_step)
