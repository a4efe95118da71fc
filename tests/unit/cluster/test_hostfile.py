"""MPI hostfiles in their dialects."""

import pytest

from wulf.cluster.hostfile import read
from wulf.cluster.inventory import Node
from wulf.core.errors import UsageError


def nodes(tmp_path, text):
    path = tmp_path / "hosts"
    path.write_text(text)
    return read(path).nodes


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1 slots=4\nn2 slots = 4 max_slots=8\nn3 max-slots=2\n", ["n1", "n2", "n3"]),  # Open MPI
        ("n1:4\nn2:2\n", ["n1", "n2"]),  # MPICH, Intel MPI
        ("n1\nn1\nn1\nn2\nn2\n", ["n1", "n2"]),  # PBS: a line a slot
        ("# the rack\n\n  n1   # the first\nn2:8 # the second\n", ["n1", "n2"]),
        ("node[01-03] slots=4\n", ["node01", "node02", "node03"]),
        ("n1.example.org\n10.0.0.2\n10.0.0.3:4\n", ["n1.example.org", "10.0.0.2", "10.0.0.3"]),
        ("[fd00::1]:4\nfd00::2\n", ["fd00::1", "fd00::2"]),
        ("n1 slots\r\nn2\r\n", ["n1", "n2"]),
    ],
)
def test_dialects(tmp_path, text, names):
    assert [node.name for node in nodes(tmp_path, text)] == names


def test_a_user_is_for_ssh(tmp_path):
    assert nodes(tmp_path, "bob@n1 slots=2\n") == (Node("n1", ssh="bob@n1"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n1\nn2 n3\n", "hosts:2: 'n3' is not understood"),
        ("n1:four\n", "hosts:1: 'n1:four' is not understood"),
        ("n1\n\nn[1-\n", r"hosts:3: 'n\[1-' is not"),
        ("n1\n+n0\n", "hosts:2: '\\+n0' is not a node name"),
        ("# nothing\n", "names no host"),
        ("", "names no host"),
    ],
)
def test_what_is_not_understood_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(UsageError, match=message):
        nodes(tmp_path, text)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match=r"absent: .* hostfile: No such file"):
        read(tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="binary: can't read the hostfile: it is not UTF-8 text"):
        read(tmp_path / "binary")
