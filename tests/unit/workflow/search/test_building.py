"""A program built with every MPI, compiler and BLAS of the nodes, and searched: nodes in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.workflow.search.standins import Apps, answer, xhpl_at
from wulf.cluster.applications import Executable
from wulf.cluster.mpi import Installed, WorldSpec
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError, UsageError
from wulf.report.search.found import search_view
from wulf.report.search.outcome import OUTCOME
from wulf.search.own import own_of
from wulf.search.recipe import BLAS, COMPILER, MPI, Recipe
from wulf.store.run import read_run
from wulf.workflow.search.building import build_all
from wulf.workflow.search.hpl import HplAsked, hpl_task
from wulf.workflow.search.own import Effort, own_task
from wulf.workflow.search.worth import machine_object

OPEN = Installed("openmpi", "4.1.4", "/usr", "/usr/bin/mpicxx.openmpi", "/usr/bin/mpirun.openmpi", "gcc", "system")
MPICH = Installed("mpich", "4.0.2", "/usr", "/usr/bin/mpicxx.mpich", "/usr/bin/mpirun.mpich", "gcc", "system")
ANOTHER = replace(OPEN, prefix="/opt/openmpi", mpicxx=None, mpirun="/opt/openmpi/bin/mpirun", where="module")
LIBRARIES = ("/usr/lib/atlas/libblas.so.3", "/usr/lib/openblas/libblas.so.3", "/w/libscipy_openblas.so")

Refusing = Callable[[dict[str, Any]], str]
"""Of a request to build the compiler's words; empty: it is built."""


class Builders(Apps):
    """Nodes with two MPIs, gcc and clang, and two libraries; a build's path says what it was made with.

    Attributes
    ----------
    asked
        Requests to build.
    """

    def __init__(
        self, program: Any, refusing: Refusing = lambda _: "", mpis: tuple[Installed, ...] = (OPEN, MPICH)
    ) -> None:
        super().__init__(program, ("n1", "n2"), 1 << 30)
        self._refusing, self._mpis = refusing, mpis
        self.asked: list[dict[str, Any]] = []
        self.brought: list[str] = []
        self.launched: list[tuple[str, str]] = []

    def mpis(self, _also: Any = ()) -> tuple[Installed, ...]:
        return self._mpis

    def ask(self, op: str, patience: float, nodes: Any = None, **fields: Any) -> Any:
        if op == "mpi_find":
            return {"n1": {"places": ["/cache"]}}
        if op == "compiler_find":
            every = fields["wrappers"]
            rows = [_compiler("clang", "14.0.6", every), _compiler("gcc", "12.2.0", every)]
            return {"n1": {"compilers": rows, "usual": dict.fromkeys(every, "gcc 12.2.0")}}
        if op == "blas_find":
            libraries = [{"path": path, "label": path.split("/")[-2], "choose": {}} for path in LIBRARIES]
            return {node: {"libraries": libraries, "also": []} for node in nodes or self.nodes}
        if op == "tree_build":
            return {"n1": self._build(fields)}
        return super().ask(op, patience)

    def _build(self, fields: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(fields)
        said = self._refusing(fields)
        if said:
            raise RequestError("n1", "tree_build", "compile", said)
        words = " ".join(word for command in fields["commands"] for word in command) + str(fields["files"])
        made = [name for name in ("openmpi", "mpich") if f"mpicc.{name}" in words]
        made += [fields["environment"].get("CC", "").rpartition("/")[2]]
        made += [name for name in ("atlas", "openblas") if f"/{name}/" in words]
        made += [word for word in words.split() if word.startswith("-DK=")]
        return {"path": f"/cache/{'+'.join(made)}/s", "digest": "d", "kept": False, "seconds": 2.0}

    def bring(self, _origin: str, path: str, _digest: str) -> None:
        self.brought.append(path)

    def find(self, names: Any, _nodes: Any = None) -> Any:
        rows = {name: [Executable(name, "given", "openmpi", LIBRARIES[0])] for name in names}
        return dict.fromkeys(self.nodes, rows)

    def ranks(self, job: Any, spec: Any, mpi: Installed) -> Any:
        self.launched.append((job.command[0], mpi.kind))
        return super().ranks(job, spec, mpi)


def _compiler(name: str, version: str, wrappers: list[str]) -> dict[str, Any]:
    cc = f"/usr/bin/{name}"
    return {
        "name": name, "version": version, "title": f"{name} {version}", "cc": cc, "cxx": None, "fc": None,
        "choose": {"CC": cc, "OMPI_CC": cc}, "wrappers": wrappers,
    }  # fmt: skip


def seconds_of(path: str) -> float:
    """clang is slower with Open MPI, and faster with MPICH; openblas wins, and so does K of 3."""
    seconds = 8.0 * (0.9 if "mpich" in path else 1.0) * (0.7 if "openblas" in path else 1.0)
    if "clang" in path:
        seconds *= 0.6 if "mpich" in path else 1.2
    return seconds * (0.9 if "-DK=3" in path else 1.0)


def solve(job: Any) -> Any:
    seconds = seconds_of(job.command[0])
    return answer(seconds, f"TIME: {seconds}\n")


OWN: dict[str, Any] = {
    "command": "{program}", "figure": "TIME: ([0-9.e-]+)", "better": "lower", "ranks": 2,
    "parameters": {"k": {"values": [1, 3]}},
    "build": {"source": "/home/me/solve", "commands": ["{mpicc} -O3 -DK={k} -o s s.c {blas}"], "product": "s"},
}  # fmt: skip
EFFORT = Effort(3, rungs=(12, 8, 4), repeats=0)


def test_every_combination_is_built_once_and_the_best_is_found(searched: Any, tmp_path: Any) -> None:
    apps = Builders(solve)
    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec(ranks=2)), apps)
    assert done.exit_code == 0
    assert done.result["winner"] == {"mpi": "mpich-4.0.2", "compiler": "clang-14.0.6", "blas": "openblas", "k": 3}
    assert done.result["baselines"]["default"] == {
        "mpi": "openmpi-4.1.4", "compiler": "gcc-12.2.0", "blas": "atlas", "k": 1
    }  # fmt: skip
    assert len(apps.asked) == len(apps.brought) == 16
    assert done.result["builds"][0]["values"] == done.result["baselines"]["default"]
    assert {mpi for path, mpi in apps.launched if "mpich" in path} == {"mpich"}
    assert {mpi for path, mpi in apps.launched if "openmpi" in path} == {"openmpi"}
    preloads = {(job.command[0].split("+")[2], job.environment["LD_PRELOAD"]) for job, _ in apps.jobs}
    assert preloads == {("atlas", LIBRARIES[0]), ("openblas", LIBRARIES[1])}
    pairs = {tuple(one["names"]): one["together"] for one in done.result["joint"]}
    assert {names for names, one in pairs.items() if one["proven"]} == {("mpi", "compiler")}
    assert pairs["mpi", "compiler"]["ratio"] == pytest.approx(0.5)
    view = search_view(json.loads(json.dumps(done.result)))
    lines = {section.heading: section.lines for section in view.sections}
    assert lines["Built"] == ["16 combinations."]
    assert lines["What it is built with, together"] == [
        "mpi and compiler depend on each other: what one of them is worth goes by the other.",
        "mpi and blas; compiler and blas do not depend on each other, to within 1 %.",
    ]
    assert (tmp_path / "run" / "report.html").read_text() == OUTCOME.render(done.result)


def test_a_request_names_compiler_variables_and_what_tells_a_later_version() -> None:
    apps = Builders(solve)
    build_all(apps, Recipe("/s", ("{mpicc} s.c",), "s", wanted={MPI: ("mpich",), COMPILER: ("clang",)}))
    (asked,) = apps.asked
    assert asked["commands"] == [["/usr/bin/mpicc.mpich", "s.c"]]
    assert asked["environment"] == {"CC": "/usr/bin/clang", "OMPI_CC": "/usr/bin/clang"}
    assert asked["uses"] == ["/usr/bin/mpicxx.mpich", "/usr/bin/mpirun.mpich", "/usr/bin/clang"]


def test_what_can_not_be_built_fails_with_its_words_and_is_never_run(searched: Any) -> None:
    def refusing(fields: dict[str, Any]) -> str:
        words = fields["commands"][0]
        return "s.c:3: error: no" if "clang" in fields["environment"]["CC"] and "mpicc.mpich" in words[0] else ""

    apps = Builders(solve, refusing)
    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec(ranks=2)), apps)
    assert done.exit_code == 0
    assert (done.result["winner"]["mpi"], done.result["winner"]["compiler"]) == ("mpich-4.0.2", "gcc-12.2.0")
    assert not any("mpich+clang" in path for path, _ in apps.launched)
    assert done.result["failed"] == []
    (told,) = [one for one in done.result["joint"] if one["names"] == ["mpi", "compiler"]]
    assert told["together"] is None
    view = search_view(done.result)
    (failed,) = [section.table for section in view.sections if section.heading == "Failed"]
    assert failed is not None and len(failed.rows) == 4
    assert failed.rows[0] == ["mpi=mpich-4.0.2 compiler=clang-14.0.6 blas=atlas k=1", "not built", "s.c:3: error: no"]
    lines = [line for section in view.sections for line in section.lines]
    assert "Of mpi and compiler not all combinations can be had: nothing is known of them together." in lines


def test_where_a_compiler_builds_nothing_it_is_no_value_and_another_is_the_default(searched: Any) -> None:
    apps = Builders(solve, lambda fields: "error" if fields["environment"]["CC"].endswith("gcc") else "")
    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec(ranks=2)), apps)
    assert done.result["baselines"]["default"]["compiler"] == "clang-14.0.6"
    assert done.result["configurations"] == 2 * 2 * 2
    assert done.result["winner"]["mpi"] == "mpich-4.0.2"


def test_the_default_is_a_combination_that_can_be_built_also_of_parameters(searched: Any) -> None:
    def refusing(fields: dict[str, Any]) -> str:
        words = fields["commands"][0]
        first = words[0].endswith("openmpi") and fields["environment"]["CC"].endswith("gcc")
        return "k of 1 is not for these" if first and "-DK=1" in words else ""

    done = searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec(ranks=2)), Builders(solve, refusing))
    assert done.result["baselines"]["default"] == {
        "mpi": "openmpi-4.1.4", "compiler": "gcc-12.2.0", "blas": "atlas", "k": 3
    }  # fmt: skip


def test_a_value_that_makes_no_words_is_a_build_that_failed() -> None:
    own = own_of({**OWN, "parameters": {"k": {"values": ["1", "it's"]}}}, {})
    found = build_all(Builders(solve), own.recipe, own.knobs)  # type: ignore[arg-type]
    assert {one.values["k"] for one in found.made} == {"1"}
    assert all("No closing quotation" in one.reason for one in found.builds if one.values["k"] != "1")


def test_where_nothing_can_be_built_that_is_said_with_the_first_ones_words(searched: Any) -> None:
    with pytest.raises(
        UsageError, match=r"s can't be built with mpi=openmpi-4.1.4 .*, nor with any other of 16: no mpi\.h"
    ):
        searched(own_task(own_of(OWN, {}), EFFORT, WorldSpec(ranks=2)), Builders(solve, lambda _: "no mpi.h"))


def test_a_node_that_is_lost_while_it_builds_ends_the_search() -> None:
    class Lost(Builders):
        def _build(self, fields: dict[str, Any]) -> dict[str, Any]:
            raise RequestError("n1", "tree_build", "limit", "no space left")

    with pytest.raises(NodeError, match="no space left"):
        build_all(Lost(solve), Recipe("/s", ("{mpicc} s.c",), "s"))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({MPI: ("intel",)}, "no mpi intel is there on all nodes"),
        ({COMPILER: ("gcc", "icx")}, "no compiler icx is there on the node that builds"),
        ({BLAS: ("mkl",)}, "no blas mkl is there on all nodes"),
    ],
)
def test_a_tool_that_is_not_there_is_said_with_those_that_are(wanted: dict[str, tuple[str, ...]], said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        build_all(Builders(solve), Recipe("/s", ("{mpicc} {blas}",), "s", wanted=wanted))
    assert "there is: " in error.value.next_step


def test_two_of_one_name_are_told_apart_by_where_they_are_and_one_without_a_compiler_fails() -> None:
    found = build_all(Builders(solve, mpis=(OPEN, ANOTHER)), Recipe("/s", ("{mpicc} s.c",), "s"))
    assert [one.values["mpi"] for one in found.builds] == [
        "openmpi-4.1.4 /usr", "openmpi-4.1.4 /usr", "openmpi-4.1.4 /opt/openmpi", "openmpi-4.1.4 /opt/openmpi"
    ]  # fmt: skip
    assert found.knobs[0].values == ("openmpi-4.1.4 /usr",)
    assert {one.reason for one in found.builds[2:]} == {
        "openmpi-4.1.4 /opt/openmpi has no mpicc on the node that builds"
    }  # fmt: skip


def test_too_many_combinations_are_refused() -> None:
    own = own_of({**OWN, "parameters": {"k": {"from": 1, "to": 100, "step": 1}}}, {})
    with pytest.raises(UsageError, match="800 combinations"):
        build_all(Builders(solve), own.recipe, own.knobs)  # type: ignore[arg-type]


def test_a_program_without_parameters_is_searched_over_its_tools_alone(searched: Any) -> None:
    own = own_of({**OWN, "parameters": {}, "build": {**OWN["build"], "commands": ["{mpicc} s.c"]}}, {})
    done = searched(own_task(own, EFFORT, WorldSpec(ranks=2)), Builders(solve))
    assert done.result["winner"] == {"mpi": "mpich-4.0.2", "compiler": "clang-14.0.6"}


def test_killed_it_goes_on_with_the_same_builds(searched: Any, tmp_path: Any) -> None:
    prepare, count = own_task(own_of(OWN, {}), EFFORT, WorldSpec(ranks=2)), iter(range(1000))

    def mortal(job: Any) -> Any:
        if next(count) == 20:
            raise KeyboardInterrupt
        return solve(job)

    with pytest.raises(KeyboardInterrupt):
        searched(prepare, Builders(mortal))
    done = searched(prepare, Builders(solve), resume=True)
    (tmp_path / "run").rename(tmp_path / "first")
    assert done.result == searched(prepare, Builders(solve)).result


def test_hpl_is_built_from_its_source_with_each_mpi_and_compiler(searched: Any, tmp_path: Any) -> None:
    def xhpl(job: Any) -> Any:
        return xhpl_at(job, 1.3 if "clang" in job.command[0] else 1.0)

    asked = HplAsked(
        WorldSpec(ranks=4, per_node=2), replace(EFFORT, rungs=(8, 6, 3)), n=4000, nbs=(128,), blas=("own",),
        source="/home/me/hpl",
    )  # fmt: skip
    apps = Builders(xhpl)
    machine = machine_object("flop/s", 2490.0, "$", [("peak", 200.0)], places=True)
    done = searched(hpl_task(asked), apps, machine=machine)
    assert len(apps.asked) == 4
    assert all(one["needs"] and one["commands"] == [["make", "arch=wulf"]] for one in apps.asked)
    assert "CC           = /usr/bin/mpicc.mpich" in apps.asked[2]["files"]["Make.wulf"]
    assert LIBRARIES[0] in apps.asked[0]["files"]["Make.wulf"]
    assert done.result["winner"]["compiler"] == "clang-14.0.6"
    assert [one["names"] for one in done.result["joint"]] == [["mpi", "compiler"]]
    assert {mpi for path, mpi in apps.launched if "mpich" in path} == {"mpich"}
    assert read_run(tmp_path / "run").meta["state"] == "complete"
    last = done.result["path"][-1]
    assert last["worth"]["peaks"]["peak"]["share"]["value"] == pytest.approx(last["figure"]["value"] / 200e9)
    assert last["worth"]["price_per_flops"]["value"] == pytest.approx(2490 / last["figure"]["value"])
    assert last["worth"]["first"]["list"] == "199306"


def test_hpl_is_searched_over_those_tools_that_are_named(searched: Any) -> None:
    asked = HplAsked(
        WorldSpec(ranks=2, per_node=1), replace(EFFORT, rungs=(4, 2, 1)), n=2000, nbs=(64, 128), blas=("own",),
        source="/home/me/hpl", tools={MPI: ("mpich",), COMPILER: ("gcc",)},
    )  # fmt: skip
    apps = Builders(lambda job: xhpl_at(job, 1.0))
    done = searched(hpl_task(asked), apps)
    assert (len(apps.asked), done.result["joint"], {mpi for _, mpi in apps.launched}) == (1, [], {"mpich"})
