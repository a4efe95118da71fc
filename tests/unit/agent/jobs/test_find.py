"""Where programs are found: trees made for the test."""

from __future__ import annotations

import pytest

from wulf.agent.jobs import find as finding
from wulf.agent.jobs.find import app_find
from wulf.agent.session import Refused


@pytest.fixture
def node(tmp_path, monkeypatch):
    """No folder but those of the test."""
    monkeypatch.setattr(finding, "PACKAGED", ())
    monkeypatch.setattr(finding, "SPACK_ROOTS", (str(tmp_path / "spack"),))
    monkeypatch.setattr(finding, "MODULE_PATHS", (str(tmp_path / "modulefiles"),))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("MODULEPATH", raising=False)
    monkeypatch.delenv("SPACK_ROOT", raising=False)
    return tmp_path


def test_what_was_looked_into_is_told(node):
    (node / "bin").mkdir()
    assert app_find(["xhpl"]) == {"programs": {"xhpl": []}, "looked": {"PATH": 1}}


@pytest.mark.parametrize(
    ("libraries", "mpi", "blas"),
    [
        ("libmpi.so.40 => /usr/lib/libmpi.so.40 (0x0)", "openmpi", None),
        ("libmpich.so.12 => /usr/lib/libmpich.so.12 (0x0)", "mpich", None),
        ("libmpi.so.12 => /opt/intel/libmpi.so.12 (0x0)\n\tlibblas.so.3 => /R/libblas.so.3 (0x0)", "mpich", "real"),
        ("libopenblas.so.0 => /R/libopenblas.so.0 (0x0)", None, "libopenblas.so.0"),
        ("libm.so.6 => /lib/libm.so.6", None, None),
        ("\tnot a dynamic executable", None, None),
    ],
)
def test_what_a_program_is_linked_with(tmp_path, libraries, mpi, blas):
    (tmp_path / "real").touch()
    (tmp_path / "libblas.so.3").symlink_to("real")
    said = finding.linked(libraries.replace("/R", str(tmp_path)))
    assert said == {"mpi": mpi, "blas": blas and str(tmp_path / blas)}


@pytest.mark.parametrize("names", ["xhpl", ["./xhpl"], [""]])
def test_what_is_no_name_is_refused(names):
    with pytest.raises(Refused):
        app_find(names)
