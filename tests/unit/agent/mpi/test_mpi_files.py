"""Files in parts, whole or not there; folders that can't hold programs."""

import base64
import hashlib
import os
import zlib

import pytest

from wulf.agent.mpi import files
from wulf.agent.mpi.files import mpi_look, mpi_read, mpi_write
from wulf.agent.mpi.places import trouble
from wulf.agent.mpi.processes import mpi_processes
from wulf.agent.session import Refused

CONTENT = os.urandom(5000)  # can't be compressed: several parts
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(files, "PART", 1000)


def write(path, parts, digest=DIGEST):
    for number, data in enumerate(parts):
        mpi_write(path, data, digest, number, len(parts))


def test_what_is_not_there(tmp_path):
    assert mpi_look(tmp_path / "x") == {"digest": None, "trouble": None}
    with pytest.raises(Refused, match="can't be read: No such file"):
        mpi_read(tmp_path / "x")


def test_a_damaged_or_torn_copy_is_no_copy(tmp_path):
    data = base64.b64encode(zlib.compress(b"other")).decode()
    with pytest.raises(Refused, match="arrived damaged"):
        write(tmp_path / "x", [data])
    with pytest.raises(Refused, match=r"part 1 of .* came where part 0 was due"):
        mpi_write(tmp_path / "x", data, DIGEST, 1, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match=r"written: (File exists|Not a directory)"):
        write(tmp_path / "file/x", [base64.b64encode(zlib.compress(CONTENT)).decode()])


def test_places(tmp_path):
    assert trouble(tmp_path / "wulf/mpi") is None
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert "belongs to somebody else" in str(trouble(tmp_path / "link"))
    (tmp_path / "file").write_text("")
    assert "Not a directory" in str(trouble(tmp_path / "file/mpi"))


def test_states_of_processes():
    states = mpi_processes([os.getpid(), 2**22 + 1])["states"]
    assert states[str(os.getpid())] in ("R", "S")
    assert states[str(2**22 + 1)] is None
