"""Sources are compiled in batches, so a type in an anonymous namespace may not be called as another of its program.

Which sources share a batch changes with every file that comes or goes: a clash may lie dormant until then.
"""

import itertools
import re
from collections import defaultdict
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[3] / "native"

BATCHED = ("core", "net", "link", "node", "replay", "trace/format", "mpi")
"""Folders whose sources stand in batches together."""

TYPE = re.compile(
    r"^(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: : [^{;]+)? \{|^using (\w+) =", re.MULTILINE
)
SKIPPED = re.compile(
    r"set_source_files_properties\(([^)]*)PROPERTIES (?:SKIP_UNITY_BUILD_INCLUSION|COMPILE_OPTIONS)", re.DOTALL
)


def scopes(text):
    """(namespace, its text) of every namespace, in which a name must be one; an anonymous one counts as its parent."""
    for part in re.split(r"^(?=namespace wulf)", text, flags=re.MULTILINE)[1:]:
        yield part.split()[1], part


def types(folder, alone=()):
    """(namespace, name) → files that declare it."""
    found = defaultdict(set)
    for path in itertools.chain(folder.rglob("*.hpp"), folder.rglob("*.cpp")):
        if path in alone:
            continue
        for namespace, text in scopes(path.read_text()):
            for match in TYPE.finditer(text):
                found[namespace, match[1] or match[2]].add(path.relative_to(folder).as_posix())
    return found


def clashes(found):
    return {f"{namespace}::{name}": sorted(files) for (namespace, name), files in found.items() if len(files) > 1}


def alone():
    """What CMake compiles by itself: as it is told, or for options of its own."""
    cmake = (NATIVE / "CMakeLists.txt").read_text()
    return {NATIVE / name for listed in SKIPPED.findall(cmake) for name in listed.split()}


@pytest.mark.parametrize("folder", BATCHED)
def test_no_two_sources_of_a_batch_give_a_type_the_same_name(folder):
    assert clashes(types(NATIVE / folder, alone())) == {}


def test_a_type_called_as_one_of_a_header_is_found(tmp_path):
    (tmp_path / "work.hpp").write_text("namespace wulf::mpi {\nstruct Batch {\n};\n}  // namespace wulf::mpi\n")
    anonymous = "namespace {\nstruct Batch {\n};\nclass Own : public Base {\n};\n}  // namespace\n"
    (tmp_path / "calls.cpp").write_text(f"namespace wulf::mpi {{\n{anonymous}}}  // namespace wulf::mpi\n")
    assert clashes(types(tmp_path)) == {"wulf::mpi::Batch": ["calls.cpp", "work.hpp"]}
