"""Programs as files with a digest."""

import functools
import gc
import hashlib
import platform
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from wulf.cluster import programs
from wulf.cluster.programs import Program, agent_program, find_program
from wulf.core.errors import UsageError


@pytest.fixture
def built(tmp_path, monkeypatch):
    monkeypatch.setenv("WULF_PROGRAMS", str(tmp_path))
    for arch in (platform.machine(), "pdp11"):
        (tmp_path / arch).mkdir()
        (tmp_path / arch / "wulf-net").write_text(f"for {arch}")
    return tmp_path


def test_a_built_program(built):
    program = find_program("wulf-net")
    path = built / platform.machine() / "wulf-net"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert program == Program("wulf-net", path, digest, platform.machine())
    assert find_program("wulf-net", "pdp11").path == built / "pdp11" / "wulf-net"


def test_the_same_program_for_another_machine(built):
    assert find_program("wulf-net").for_arch("pdp11") == find_program("wulf-net", "pdp11")
    assert find_program("wulf-net").for_arch("vax") is None
    anywhere = Program.of(built / "pdp11" / "wulf-net", python=True)
    assert anywhere.for_arch(platform.machine()) is None


def test_a_program_that_has_not_been_built(built):
    with pytest.raises(UsageError, match=r"vax/wulf-net .* not been built for vax") as caught:
        find_program("wulf-net", "vax")
    assert "make build" in caught.value.next_step


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match="can't read the program: No such file"):
        Program.of(tmp_path / "absent")


def test_the_agent_is_packed_once_and_the_same_each_time():
    pytest.importorskip("wulf.agent.bundle")
    first = agent_program()
    assert (first.name, first.python, first.arch) == ("wulf-agent", True, None)
    assert first.path.is_file()
    assert agent_program() == first


def test_threads_that_need_the_agent_at_one_moment_have_one_that_stays(monkeypatch):
    """Each would make a folder of its own, and what is forgotten of two is removed."""
    for name in ("_agent_file", "_temporary_directory"):
        monkeypatch.setattr(programs, name, functools.cache(getattr(programs, name).__wrapped__))
    ready = Barrier(4)

    def one(_):
        ready.wait(60)
        return agent_program().path

    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(one, range(4)))
    gc.collect()
    assert len(paths) == 1
    assert paths.pop().is_file()
