from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyDuckdb(PythonPackage):
    """DuckDB in a process of Python's. Its sources are DuckDB's own besides: it builds for a while."""

    homepage = "https://duckdb.org"
    pypi = "duckdb/duckdb-1.4.4.tar.gz"

    license("MIT")

    # the last whose build needs nothing that Spack has no recipe of
    version("1.4.4", sha256="8bba52fd2acb67668a4615ee17ee51814124223de836d9e2fdcbc4c9021b3d3c")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("cmake@3.29:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@0.11.4:", type="build")
    depends_on("py-pybind11@2.6:", type="build")
    depends_on("py-setuptools-scm@8:", type="build")
