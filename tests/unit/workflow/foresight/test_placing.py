"""Where hosts stand, and ranks on them, as it is written on the command line."""

from __future__ import annotations

import pytest

from wulf.core.errors import UsageError
from wulf.model.foresight.prediction import Traced
from wulf.workflow.foresight.placing import placed, positions


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("random:7", {"random": 7}), ("every:4", {"every": 4}), ("0,8, 16", [0, 8, 16]), ("3", [3])],
)
def test_a_placement_is_a_rule_or_a_list(text: str, wanted: dict[str, int] | list[int]) -> None:
    assert positions(text) == wanted


@pytest.mark.parametrize("text", ["random", "random:", "random:-1", "every:x", "nearby:3", "1,,2", "", "0;1", "²"])
def test_what_is_neither_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="no placement") as error:
        positions(text)
    assert "random:1" in str(error.value.next_step)


IMPORTED = Traced("imported", "", "", 5, (), None)


@pytest.mark.parametrize(
    ("text", "hosts"), [("block:2", "00112"), ("cyclic:2", "01010"), ("cyclic:9", "01234"), ("3,3,1,1,0", "33110")]
)
def test_ranks_of_an_imported_trace_are_placed(text: str, hosts: str) -> None:
    assert placed(IMPORTED, text).hosts == tuple(hosts)


@pytest.mark.parametrize("text", ["block", "block:0", "cyclic:0", "block:x", "nearby:2", "", "0,1,x,1,0", "0,1"])
def test_what_places_no_ranks_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="places") as error:
        placed(IMPORTED, text)
    assert "block:8" in str(error.value.next_step)


def test_a_trace_that_says_its_hosts_is_believed() -> None:
    with pytest.raises(UsageError, match="says on which hosts"):
        placed(Traced("t", "", "", 2, ("a", "b"), None), "block:2")
