"""`wulf check` of other nodes: what their own check said, and why nothing could be said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wulf.core.errors import FOUND, INCOMPLETE, OK
from wulf.workflow.node.check import Result
from wulf.workflow.node.check_others import NOT_REACHED, exit_code_of, message, results_of


def ran(*lines: str, status: int | None = 0, stderr: str = "") -> dict[str, Any]:
    return {
        "status": status,
        "signal": None if status is not None else "SIGKILL",
        "stdout": "\n".join(lines),
        "stderr": stderr,
    }


ILL = json.dumps({"name": "fs", "state": "ill", "text": "/ is full"})


def test_what_a_node_s_check_said_is_taken_and_other_lines_are_not() -> None:
    assert results_of(ran(ILL, "a banner", '{"name": "x", "state": "odd", "text": ""}', status=1)) == [
        Result("fs", "ill", "/ is full")
    ]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"error": "wulf: No such file or directory"}, "--program says where"),
        (ran(status=2, stderr="error: no table\n"), "status 2: error: no table"),
        (ran(ILL, status=70, stderr="wulf itself failed\n"), "status 70"),
        (ran(status=None), "SIGKILL"),
        (ran(status=0), "status 0"),
    ],
)
def test_a_check_that_did_not_run_says_nothing_of_its_node(answer: dict[str, Any], why: str) -> None:
    (one,) = results_of(answer)
    assert one.state == NOT_REACHED
    assert why in one.text


def test_status_and_words() -> None:
    ill, well, lost = Result("fs", "ill", "full"), Result("fs", "well"), Result("", NOT_REACHED, "n3: no route")
    assert exit_code_of([("n1", well)]) == OK
    assert exit_code_of([("n1", well), ("n2", ill)]) == FOUND
    assert exit_code_of([("n2", ill), ("n3", lost)]) == INCOMPLETE
    assert message("n2", ill) == "n2: ERROR:  nhc:  Health check failed:  fs:  full"
    assert message("n3", lost) == "n3: no route"
