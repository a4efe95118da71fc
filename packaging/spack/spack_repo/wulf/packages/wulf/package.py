"""wulf from its sources: `make source`, then `spack install --no-checksum wulf` (docs/how-to/install.md)."""

from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *

CLONE = Path(__file__).parents[6]


class Wulf(PythonPackage):
    """Measures, explains, tunes and predicts the performance of commodity Linux clusters.

    What runs on the nodes is static and needs nothing of them. wulf-mpi is built there by wulf itself, with whichever
    MPI is measured: no MPI is a dependency.
    """

    # Whose digest is nobody's to know before the tar is made: hence --no-checksum.
    url = f"file://{CLONE}/dist/wulf-0.1.0.tar.gz"

    license("Apache-2.0")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")

    with default_args(type="build"):
        depends_on("cmake@3.22:")
        depends_on("ninja")
        depends_on("nlohmann-json@3.10:")
        depends_on("py-hatchling@1.18:")
        depends_on("py-editables")

    with default_args(type=("build", "run")):
        depends_on("python@3.11:")
        depends_on("py-click@8.5:")
        depends_on("py-rich@13:")
        depends_on("py-pydantic@2.7:")
        depends_on("py-typing-extensions@4.12:")
        depends_on("py-clustershell@1.9.2:")
        depends_on("py-pyroute2@0.9:")
        depends_on("py-numpy@1.26:")
        depends_on("py-scipy@1.12:")
        depends_on("py-duckdb@1:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-google-re2@1.1:")

    conflicts("platform=darwin", msg="wulf measures Linux")
    conflicts("platform=windows", msg="wulf measures Linux")
    conflicts("%gcc@:11", msg="the programs are C++20")

    @run_before("install")
    def build_programs(self):
        """Build the programs that run on nodes, and put them where the wheel takes them from."""
        Executable("packaging/build-programs")(self.spec["nlohmann-json"].prefix.include)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_that_it_is_whole(self):
        """Status 1 where a program of wulf's is missing or of another version."""
        Executable(self.prefix.bin.wulf)("doctor")
