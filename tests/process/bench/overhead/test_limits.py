""""""

import pytest
from bench.engine.errors import BenchError
from bench.overhead import limits


def test_a_command_that_fails_is_an_error_with_its_words():
    with pytest.raises(BenchError, match=r"ended with 2: (.|\n)*No such command"):
        limits._timed(["no-such-command"])
