"""The command line that goes on with a run."""

from pathlib import Path

import pytest

from wulf.cli.runs.resume import words_for

RUN = Path("/runs/r")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["survey", "--out", "/runs/r", "--quick"], ["survey", "--quick", "--resume", "/runs/r"]),
        (["survey", "--resume", "/runs/r"], ["survey", "--resume", "/runs/r"]),
        (
            ["app", "run", "n1", "--out=/runs/r", "--", "solve", "--out", "x", "--", "y"],
            ["app", "run", "n1", "--resume", "/runs/r", "--", "solve", "--out", "x", "--", "y"],
        ),
    ],
)
def test_a_program_keeps_its_own_words(argv: list[str], words: list[str]) -> None:
    assert words_for(argv, RUN) == words
