from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyClick(PythonPackage):
    """Python composable command line interface toolkit: newer than Spack's own recipe has it."""

    homepage = "https://click.palletsprojects.com"
    pypi = "click/click-8.5.1.tar.gz"

    license("BSD-3-Clause")

    version("8.5.1", sha256="9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-flit-core@3.11:", type="build")
