"""What tests of several programs share."""

from collections.abc import Iterator

import pytest

from tests.process.native.session import Session


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """wulf-replay, once a file; files about other programs have a session of their own."""
    with Session(program="wulf-replay") as opened:
        yield opened
