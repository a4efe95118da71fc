"""Inventories: from node sets, labs, this machine; picking nodes; what is refused."""

import pytest

from wulf.cluster.inventory import expand
from wulf.core.errors import UsageError


@pytest.mark.parametrize("pattern", ["n[1-", "n[4-1]", "", "@no-such-group", "n1!n1"])
def test_node_sets_that_are_none(pattern):
    with pytest.raises(UsageError) as caught:
        expand(pattern)
    assert repr(pattern) in caught.value.what
    assert "n[1-4]" in caught.value.next_step
