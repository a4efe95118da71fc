"""What a recipe makes of the nodes' tools: combinations, commands, what can't be begun, and knobs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wulf.core.errors import UsageError
from wulf.search.own import own_of
from wulf.search.recipe import (
    BLAS,
    COMPILER,
    MPI,
    Recipe,
    Tool,
    combinations,
    excluding,
    lacking,
    request_of,
    running,
    tool_knobs,
)
from wulf.search.space import Knob, Space

OPEN = Tool("openmpi-4", words={"mpicc": "/o/mpicc", "mpicxx": "/o/mpicxx"}, files=("/o/mpirun",))
MPICH = Tool("mpich-4", words={"mpicc": "/m/mpicc"}, files=("/m/mpirun",))
GCC = Tool(
    "gcc-12", words={"cc": "/b/gcc", "cxx": "/b/g++"}, building={"CC": "/b/gcc", "OMPI_CC": "/b/gcc"},
    files=("/b/gcc",), takes=frozenset({"/o/mpicc", "/m/mpicc"}),
)  # fmt: skip
CLANG = replace(
    GCC, name="clang-14", words={"cc": "/b/clang"}, building={"CC": "/b/clang"}, files=("/b/clang",),
    takes=frozenset({"/o/mpicc"}),
)  # fmt: skip
ATLAS = Tool("atlas", words={"blas": "/l/libblas.so.3"}, running={"LD_PRELOAD": "/l/libblas.so.3"})
BOX = {
    MPI: {one.name: one for one in (OPEN, MPICH)}, COMPILER: {one.name: one for one in (GCC, CLANG)},
    BLAS: {"atlas": ATLAS},
}  # fmt: skip
SOLVE = Recipe("/s", ("{mpicc} {flags} -DN={n} -o 'a b' s.c {blas}",), "a b", {"Make.x": "CC = {mpicc}\n"})
VALUES = {"mpi": "openmpi-4", "compiler": "clang-14", "blas": "atlas", "flags": "-O3 -g", "n": 8}


def test_tools_are_those_that_the_commands_have_places_for() -> None:
    assert SOLVE.tools == (MPI, COMPILER, BLAS)
    assert Recipe("/s", ("make CC={cc}",), "a").tools == (COMPILER,)
    assert Recipe("/s", ("make",), "a").tools == ()
    assert SOLVE.only("mpich").wanted == {MPI: ("mpich",)}
    assert Recipe("/s", ("make",), "a").only("mpich").wanted == {}


def test_every_combination_is_there_once_and_the_defaults_are_first() -> None:
    flags = Knob("flags", ("-O2", "-O3"), "-O3")
    found = list(combinations(SOLVE, BOX, [flags, Knob("block", (1, 2), 1)]))
    assert len(found) == 2 * 2 * 1 * 2
    assert found[0] == {"mpi": "openmpi-4", "compiler": "gcc-12", "blas": "atlas", "flags": "-O3"}
    assert len({tuple(one.values()) for one in found}) == 8


def test_a_build_is_asked_for_with_everything_in_its_place() -> None:
    asked = request_of(SOLVE, BOX, VALUES)
    assert asked.commands == (("/o/mpicc", "-O3", "-g", "-DN=8", "-o", "a b", "s.c", "/l/libblas.so.3"),)
    assert asked.files == {"Make.x": "CC = /o/mpicc\n"}
    assert asked.environment == {"CC": "/b/clang"}
    assert asked.uses == ("/o/mpirun", "/b/clang")
    assert running(BOX, VALUES) == {"LD_PRELOAD": "/l/libblas.so.3"}


@pytest.mark.parametrize(
    ("command", "values", "said"),
    [
        ("{mpicc}", {"mpi": "openmpi-4", "compiler": "clang-14"}, ""),
        ("{mpicc}", {"mpi": "mpich-4", "compiler": "gcc-12"}, ""),
        ("{mpicc}", {"mpi": "mpich-4", "compiler": "clang-14"}, "/m/mpicc can't be made to call clang-14"),
        ("{mpicxx}", {"mpi": "openmpi-4", "compiler": "clang-14"}, "clang-14 has no compiler of C++"),
        ("{mpicxx}", {"mpi": "mpich-4", "compiler": "gcc-12"}, "mpich-4 has no mpicxx"),
        ("{fc}", {"compiler": "gcc-12"}, "gcc-12 has no compiler of Fortran"),
    ],
)
def test_what_can_not_even_be_begun_says_why(command: str, values: dict[str, str], said: str) -> None:
    found = lacking(Recipe("/s", (command,), "a"), BOX, values)
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_knobs_are_of_what_was_built_and_conditions_of_what_was_not() -> None:
    recipe = Recipe("/s", ("{mpicc}",), "a")
    every = list(combinations(recipe, BOX, ()))
    assert [tuple(one.values()) for one in every][2:] == [("mpich-4", "gcc-12"), ("mpich-4", "clang-14")]
    built, failed = every[:3], every[3:]
    knobs = tool_knobs(BOX, recipe, built)
    assert knobs == (
        Knob("mpi", ("openmpi-4", "mpich-4"), "openmpi-4"), Knob("compiler", ("gcc-12", "clang-14"), "gcc-12"),
    )  # fmt: skip
    space = Space(knobs, excluding(failed, built))
    assert set(space.all()) == {("openmpi-4", "gcc-12"), ("openmpi-4", "clang-14"), ("mpich-4", "gcc-12")}


def test_a_tool_with_which_nothing_was_built_is_no_value_and_needs_no_condition() -> None:
    recipe = Recipe("/s", ("{mpicc}",), "a")
    every = list(combinations(recipe, BOX, ()))
    built = [one for one in every if one["compiler"] == "clang-14"]
    failed = [one for one in every if one["compiler"] == "gcc-12"]
    assert tool_knobs(BOX, recipe, built)[1] == Knob("compiler", ("clang-14",), "clang-14")
    assert excluding(failed, built) == ()


BUILD = {"source": "/s", "commands": ["{mpicc} -DK={k} s.c"], "product": "s"}
OWN = {"command": "{program} {b}", "ranks": 2, "parameters": {"b": {"values": [1, 2]}, "k": {"values": [1, 2]}}}


def test_a_recipe_of_a_programs_own_file() -> None:
    own = own_of({**OWN, "build": {**BUILD, "compiler": ["gcc"]}, "conditions": ["mpi != 'x' or k == 1"]}, {})
    assert own.recipe is not None
    assert (own.recipe.source, own.recipe.product, own.recipe.wanted) == ("/s", "s", {COMPILER: ("gcc",)})
    assert own.filled({"program": "/c/s", "b": 1})[0] == ("/c/s", "1")
    assert own.space([Knob("mpi", ("x", "y"), "x")]).given == {"ranks": 2}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"build": {"source": "/s", "product": "s"}}, "build.commands is missing"),
        ({"build": {**BUILD, "compilers": ["gcc"]}}, "build.compilers is no field"),
        ({"build": {**BUILD, "blas": ["atlas"]}}, "build.blas has no place"),
        ({"build": {**BUILD, "commands": ["{mpicc} {kk}"]}}, "{kk} is neither a tool nor a parameter"),
        ({"build": {**BUILD, "commands": ["'{mpicc}"]}}, "No closing quotation"),
        ({"build": BUILD, "command": "./s {b}"}, "what is built has no place"),
        (
            {"build": BUILD, "ranks": 2, "parameters": {**OWN["parameters"], "mpi": {"values": [1]}}},
            "parameters.mpi is",
        ),
        ({"build": BUILD, "conditions": ["q == 1"]}, "speaks of 'q'"),
        ({}, "{program} is no parameter"),
    ],
)
def test_recipes_that_are_wrong_name_field_and_value(change: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as error:
        own_of({**OWN, **change}, {})
    assert said in error.value.what


def test_an_mpi_programs_recipe_needs_ranks() -> None:
    with pytest.raises(UsageError, match="ranks is missing"):
        own_of({name: value for name, value in {**OWN, "build": BUILD}.items() if name != "ranks"}, {})
