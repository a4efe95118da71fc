"""The recipes of others' package managers: of this version, and they ask for what wulf itself asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
SPACK = REPO / "packaging/spack/spack_repo/wulf/packages"
CONDA = (REPO / "packaging/conda/recipe.yaml").read_text()
ELSEWHERE = {"clustershell": "pyyaml", "duckdb": "python-duckdb"}
"""wulf's dependency → what conda's package asks for in its place: ClusterShell's wheel is within it."""
TRAILING_ZEROS = re.compile(r"(\.0)+$")


def dependencies() -> dict[str, str]:
    """Name → the oldest version that wulf takes."""
    pairs = (text.partition(">=") for text in PROJECT["dependencies"])
    return {name.lower(): TRAILING_ZEROS.sub("", oldest) for name, _, oldest in pairs}


@pytest.mark.parametrize(
    "file", ["conda/recipe.yaml", "apptainer/wulf.def", "spack/spack_repo/wulf/packages/wulf/package.py"]
)
def test_a_recipe_is_of_this_version(file: str) -> None:
    assert PROJECT["version"] in (REPO / "packaging" / file).read_text()


def test_spack_asks_for_the_same() -> None:
    asked = re.findall(r'depends_on\("py-([\w-]+)@([\d.]+):"\)', (SPACK / "wulf/package.py").read_text())
    runtime = {name: TRAILING_ZEROS.sub("", oldest) for name, oldest in asked if name != "hatchling"}
    assert runtime == dependencies()


def test_conda_asks_for_the_same() -> None:
    run = CONDA.partition("  run:\n")[2].partition("\n\n")[0]
    asked = dict(re.findall(r"- ([\w-]+)(?: >=([\d.]+))?$", run, re.MULTILINE))
    expected = {ELSEWHERE.get(name, name): oldest for name, oldest in dependencies().items()}
    assert {name: TRAILING_ZEROS.sub("", oldest) for name, oldest in asked.items()} == expected | {"pyyaml": ""}


def test_spack_has_a_recipe_of_what_it_lacks_itself() -> None:
    for name in ("py_click", "py_duckdb", "py_google_re2", "py_pyroute2"):
        assert re.search(r'version\("[\d.]+", sha256="[0-9a-f]{64}"\)', (SPACK / name / "package.py").read_text())


def test_apptainer_builds_from_a_bundle_that_is_made() -> None:
    (named,) = re.findall(r"dist/(\S+)", (REPO / "packaging/apptainer/wulf.def").read_text())
    assert re.fullmatch(rf"wulf-{PROJECT['version']}-offline-py3\.\d+-x86_64\.tar", named)
