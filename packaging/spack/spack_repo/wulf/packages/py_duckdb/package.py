from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyDuckdb(PythonPackage):
    """DuckDB in a process of Python's. Its sources are DuckDB's own besides: it builds for a while."""

    homepage = "https://duckdb.org"
    pypi = "duckdb/duckdb-2.0.1.tar.gz"

    license("MIT")

    version("2.0.1", sha256="5b3f493140e35b75298ee0fc606d98e3065e8601e64fe81b09326de7a6fd68e0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("cmake@3.29:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@0.11.4:", type="build")
    depends_on("py-pybind11", type="build")
    depends_on("py-setuptools-scm@8:", type="build")
