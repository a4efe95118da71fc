"""A program of the bench ends with a line and a status, whatever it meets; a defect of its own is not hidden."""

from __future__ import annotations

import pytest
from bench.engine.errors import BenchError, told

from wulf.core.errors import USAGE, UsageError


@pytest.mark.parametrize("error", [BenchError("no peer"), UsageError("no peer", "install it"), OSError("no peer")])
def test_an_error_is_a_line_and_a_status(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    @told
    def main() -> int:
        raise error

    assert main() == USAGE
    assert capsys.readouterr().err.startswith("bench: no peer")


def test_a_defect_is_told_as_one() -> None:
    @told
    def main(names: list[str]) -> int:
        return len(names[3])

    with pytest.raises(IndexError):
        main([])
