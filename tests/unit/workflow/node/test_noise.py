"""Which CPUs `wulf node --noise --why` watches."""

from __future__ import annotations

import pytest

from wulf.core.errors import UsageError
from wulf.workflow.node.noise import chosen_cpus


def test_cpus_as_the_kernel_writes_them() -> None:
    assert chosen_cpus("0,2-4") == (0, 2, 3, 4)
    assert chosen_cpus("all") == ()
    assert chosen_cpus(None) is None


@pytest.mark.parametrize("text", ["", "a", "3-1", "-1", "1-"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no list of CPUs"):
        chosen_cpus(text)
