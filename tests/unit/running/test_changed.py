"""Which tests a change reaches, how far each is, and which of them fit into the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import durations, reach
from tests.running.changed import LIMITS, PER_FILE, Choice, Piece, choose, command_edges, guessed, pieces_of, reworded
from tests.running.durations import Counting, Taken, defines, merged, place
from tests.running.native_reach import built, programs_of, runs, users

KNOWN = {"net": ("wulf.cli.net.command", {}), "mpi": ("wulf.cli.mpi.command", {"sweep": "wulf.cli.mpi.whole"})}

TEXTS = {
    "wulf.model": "",
    "wulf.model.top500": 'FILE = "top500.csv"',
    "wulf.model.network": "",
    "wulf.model.network.file": 'FOLDER = "known"',
    "wulf.report.kit": "",
    "wulf.report.kit.html": 'page("report.html.j2")',
    "wulf.cli": 'NAME = "known"',
    "tests.unit.test_mtu": 'SETTING = "nic.mtu"',
}
NINJA = (
    "build a.o: CXX_COMPILER__core_Release a.cxx\n"
    "build wulf-net: CXX_EXECUTABLE_LINKER__wulf-net_Release a.o b.o | lib || core\n"
    "build wulf-node: CXX_EXECUTABLE_LINKER__wulf-node_Release a.o\n"
)
DEPS = (
    "a.o: #deps 3, deps mtime 1 (VALID)\n"
    "    /w/build/a.cxx\n    /w/native/core/json/a.cpp\n    /w/native/core/json/a.hpp\n\n"
    "b.o: #deps 2, deps mtime 1 (VALID)\n    /w/native/net/b.cpp\n    /usr/include/span\n\n"
)
FOUND = {
    "tests.unit.test_a": 2,
    "tests.lab.test_b": 4,
    "tests.lab.test_b::test_x": 1,
    "tests.lab.test_b::test_y": 4,
}
FILES = {
    "tests/unit/test_a.py": "def test_a(): ...\n",
    "tests/lab/test_b.py": "def test_x(): ...\ndef test_y(): ...\n",
    "tests/unit/test_beyond.py": "",
}
KEPT = {
    "tests/unit/test_a.py": {"test_a": Taken(0.5, 3), "test_gone": Taken(9.0)},
    "tests/lab/test_b.py": {"test_x": Taken(8.0, 4, ("net burst",)), "test_y": Taken(3.0)},
}


class TestTheMap:
    @pytest.mark.parametrize(
        ("path", "module"),
        [
            ("src/wulf/lab/__init__.py", "wulf.lab"),
            ("src/wulf/lab/state.py", "wulf.lab.state"),
            ("tests/unit/test_changed.py", "tests.unit.test_changed"),
            ("tools/provision/elf.py", "provision.elf"),
            ("tools/setup.py", None),
            ("src/wulf/model/top500.csv", None),
        ],
    )
    def test_a_file_is_a_module_or_data(self, path: str, module: str | None) -> None:
        assert reach.module_of(path) == module

    def test_the_distance_is_the_fewest_imports(self) -> None:
        edges = reach.turned({"b": ["a"], "c": ["b"], "d": ["c", "a"], "e": ["x"]})
        assert reach.distances(edges, {"a": 0}) == {"a": 0, "b": 1, "c": 2, "d": 1}

    def test_a_change_in_two_places_is_as_far_as_the_nearer(self) -> None:
        edges = reach.turned({"b": ["a"], "c": ["b"]})
        assert reach.distances(edges, {"a": 0, "b": 0}) == {"a": 0, "b": 0, "c": 1}

    def test_of_two_edges_the_shorter_counts(self) -> None:
        assert reach.joined({"a": {"b": 3}}, {"a": {"b": 1, "c": 2}}, {"a": {"c": 5}}) == {"a": {"b": 1, "c": 2}}

    def test_docstrings_are_no_strings(self) -> None:
        source = '"""of wulf-net"""\nX = "wulf-node"\nY = f"{X}/wulf-mpi"\ndef f():\n    """net"""\n'
        assert reach.strings(source) == ("wulf-node", "/wulf-mpi")

    def test_a_name_is_a_word_of_its_own(self) -> None:
        texts = {"a": 'X = "wulf-net"', "b": 'X = "wulf-nets"', "c": 'X = "in wulf-net, too"', "d": '"""wulf-net"""'}
        assert reach.naming(texts, "wulf-net") == {"a", "c"}


class TestWhatNoImportShows:
    def test_modules_named_in_strings(self) -> None:
        texts = {
            "wulf.cli.net.command": 'C = {"cell": "wulf.cli.net.pairs:cell"}',
            "wulf.cli.net.pairs": "",
            "tests.a": '"wulf.cli.net.pairs"',
        }
        assert reach.named(texts, [])["wulf.cli.net.pairs"] == {"wulf.cli.net.command": reach.FAR, "tests.a": 1}

    def test_commands(self) -> None:
        texts = {"wulf.cli.toy": 'LISTED = ("toy", "Measure", 90, "A toy.")\n', "wulf.cli.options": ""}
        assert reach.named(texts, []) == {"wulf.cli.toy": {"wulf.cli.main": reach.FAR}}

    def test_a_package_that_is_run_is_its_main(self) -> None:
        texts = {"wulf.agent": "", "wulf.agent.__main__": "", "tests.a": 'command = ["-m", "wulf.agent"]'}
        assert reach.named(texts, ["wulf.agent"])["wulf.agent.__main__"] == {"tests.a": 1}

    def test_plugins_of_a_folder(self) -> None:
        texts = {
            "wulf.apps": 'import_module(f"{__name__}.{name}")',
            "wulf.apps.osu": "",
            "wulf.apps.osu.x": "",
            "wulf.b": "",
        }
        assert reach.named(texts, ["wulf.apps"]) == {"wulf.apps.osu": {"wulf.apps": reach.FAR}}

    def test_a_module_of_one_name_in_every_room(self) -> None:
        parts = 'of_rooms("part")'
        texts = {"wulf.report.kit.parts": parts, "wulf.report.net.part": "", "wulf.report.net.x": "", "wulf.b.part": ""}
        assert reach.named(texts, []) == {"wulf.report.net.part": {"wulf.report.kit.parts": reach.FAR}}

    def test_fixtures_of_the_folders_above(self) -> None:
        texts = {"tests.conftest": "", "tests.unit.conftest": "", "tests.unit.test_a": "", "wulf.b": ""}
        assert reach.named(texts, []) == {
            "tests.conftest": {"tests.unit.conftest": 1, "tests.unit.test_a": 1},
            "tests.unit.conftest": {"tests.unit.test_a": 1},
        }

    def test_subcommands_with_modules_of_their_own(self) -> None:
        texts = {"wulf.cli.mpi.command": 'COMMANDS = {\n    "sweep": "wulf.cli.mpi.whole:sweep",\n}\n'}
        assert reach.commands({"mpi": "wulf.cli.mpi.command", "net": "wulf.cli.net.command"}, texts) == KNOWN

    @pytest.mark.parametrize(
        ("words", "modules"),
        [
            (["net pingpong"], {"wulf.cli.net.command": 1}),
            (["wulf net", "n1"], {"wulf.cli.net.command": 1}),
            (["mpi sweep"], {"wulf.cli.mpi.command": reach.FAR, "wulf.cli.mpi.whole": 1}),
            (["mpi", "sweep"], {"wulf.cli.mpi.command": reach.FAR, "wulf.cli.mpi.whole": 1}),
            (["mpi", "ring"], {"wulf.cli.mpi.command": 1}),
            (["networks", "sweep", ""], {}),
        ],
    )
    def test_commands_are_known_by_their_words(self, words: list[str], modules: dict[str, int]) -> None:
        assert reach.commands_in(words, KNOWN) == modules

    def test_tests_start_commands(self) -> None:
        kept = {"tests/lab/test_a.py": {"test_pair": Taken(1.0, 9, ("net burst",)), "test_other": Taken(2.0)}}
        texts = {"tests.lab.test_a": '"mpi"', "tests.lab.test_b": 'wulf("mpi", "ring")', "wulf.x": '"net"'}
        assert command_edges(texts, kept, KNOWN, texts) == {
            "tests.lab.test_a": {"tests.lab.test_a::test_pair": 0, "tests.lab.test_a::test_other": 0},
            "wulf.cli.net.command": {"tests.lab.test_a::test_pair": 1},
            "wulf.cli.mpi.command": {"tests.lab.test_b": 1},
        }


class TestData:
    @pytest.mark.parametrize(
        ("path", "modules"),
        [
            ("src/wulf/model/top500.csv", {"wulf.model.top500"}),
            ("src/wulf/model/network/known/gbe.toml", {"wulf.model.network.file"}),
            ("src/wulf/model/network/other.toml", {"wulf.model.network.file"}),
            ("src/wulf/model/other.toml", {"wulf.model.top500", "wulf.model.network"}),
            ("src/wulf/report/kit/report.css", {"wulf.report.kit.html"}),
            ("src/wulf/elsewhere/nic.mtu.toml", {"tests.unit.test_mtu"}),
            ("pyproject.toml", {"tests.conftest"}),
            ("LICENSE", set()),
            ("native/known/a.cpp", set()),
        ],
    )
    def test_who_reads_it(self, path: str, modules: set[str]) -> None:
        beside = {"report.html.j2": "{% include 'report.css' %}"} if path.endswith("css") else {}
        assert reach.readers(path, TEXTS, beside) == modules

    def test_sentences_count_for_the_tests_that_say_them(self) -> None:
        before = {"unit/test_a": {"test_x": "one"}, "unit/test_b": {"test_y": "two"}, "unit/test_c": {"test_z": "3"}}
        after = {"unit/test_a": {"test_x": "one"}, "unit/test_b": {"test_y": "2"}}
        assert reworded(before, after) == {"tests/unit/test_b.py", "tests/unit/test_c.py"}


class TestNative:
    def test_sources_of_programs_as_the_build_has_them(self) -> None:
        assert built(NINJA, DEPS, Path("/w/native")) == {
            "wulf-net": {"core/json/a.cpp", "core/json/a.hpp", "net/b.cpp"},
            "wulf-node": {"core/json/a.cpp", "core/json/a.hpp"},
        }

    @pytest.mark.parametrize(
        ("path", "programs"),
        [
            ("net/b.cpp", {"wulf-net"}),
            ("core/json/a.hpp", {"wulf-net", "wulf-node", "wulf-mpi"}),
            ("mpi/probes/ring.cpp", {"wulf-mpi"}),
            ("profile/calls.txt", {"wulf-profile"}),
            ("trace/trace.cpp", {"wulf-trace"}),
            ("interpose/own.hpp", {"wulf-profile", "wulf-trace"}),
            ("tests/test_a.cpp", {"wulf-native-tests"}),
            ("fuzz/corpus/proc/1", {"wulf-native-tests"}),
            ("CMakeLists.txt", {"wulf-net", "wulf-node", "wulf-native-tests"}),
            (".clang-tidy", set()),
        ],
    )
    def test_programs_of_a_source(self, path: str, programs: set[str]) -> None:
        assert programs_of(path, built(NINJA, DEPS, Path("/w/native"))) == programs

    def test_programs_are_used_by_name_and_not_by_unit_tests(self) -> None:
        texts = {
            "tests.process.native.session": 'PROGRAM = "wulf-net"',
            "tests.process.native.test_wulf_net_runs": "",
            "tests.process.native.test_wulf_network": "",
            "tests.unit.test_a": 'X = "wulf-net"',
            "wulf.agent.profile": 'X = "libwulf-profile.so"',
        }
        found = users(["wulf-net", "wulf-profile"], texts)
        assert set(found["wulf-net"]) == {"tests.process.native.session", "tests.process.native.test_wulf_net_runs"}
        assert set(found["wulf-profile"]) == {"wulf.agent.profile"}
        assert [runs(module) for module in ("tests.lab.test_a", "wulf.cli", "tests.unit.a")] == [True, True, False]


def piece(file: str, distance: int, seconds: float, longest: float = 0.0) -> Piece:
    return Piece(f"tests/{file}.py", distance, seconds, longest)


class TestTheChoice:
    def test_the_nearest_and_of_those_the_quickest_come_first(self) -> None:
        pieces = [piece("far", 3, 1), piece("slow", 1, 9), piece("own", 0, 50), piece("quick", 1, 2)]
        assert [each.file for each in choose(pieces, 100, 1).run] == [
            "tests/own.py", "tests/quick.py", "tests/slow.py", "tests/far.py"
        ]  # fmt: skip

    def test_what_no_longer_fits_is_left_and_what_is_shorter_takes_its_place(self) -> None:
        choice = choose([piece("a", 1, 10), piece("b", 2, 30), piece("c", 3, 5)], 10, 2)
        assert [each.file for each in choice.run] == ["tests/a.py", "tests/c.py"]
        assert [each.file for each in choice.left] == ["tests/b.py"]

    def test_what_is_changed_runs_however_long_it_takes(self) -> None:
        choice = choose([piece("own", 0, 300), piece("next", 1, 1)], 60, 2)
        assert ([each.file for each in choice.run], len(choice.left)) == (["tests/own.py"], 1)

    def test_no_part_is_longer_than_the_time(self) -> None:
        assert choose([piece("a", 1, 60, longest=60)], 40, 4).run == ()

    def test_collecting_a_file_costs_time_once(self) -> None:
        pieces = [Piece("tests/a.py", 1, 0, 0, function=name) for name in ("test_x", "test_y")]
        assert len(choose(pieces, PER_FILE, 1).run) == 2
        assert len(choose([piece("a", 1, 0), piece("b", 1, 0)], PER_FILE, 1).run) == 1

    def test_it_is_said_in_a_line(self) -> None:
        run, left = (piece("own", 0, 1), piece("a", 1, 2)), (piece("b", 2, 3), piece("c", 4, 5))
        assert "2 tests of 2 files" in Choice(run).text()
        said = Choice(run, left).text()
        assert "2 of 4 files" in said and "2 imports away" in said


class TestThePieces:
    def test_tests_of_commands_are_pieces_of_their_own(self) -> None:
        assert pieces_of(FILES, FOUND, [], KEPT) == [
            Piece("tests/unit/test_a.py", 2, 0.5, 0.5, 3),
            Piece("tests/lab/test_b.py", 1, 8.0, 2.0, 4, "test_x"),
            Piece("tests/lab/test_b.py", 4, 3.0, 3.0, 1, "test_y"),
        ]

    def test_a_changed_file_is_whole_and_nearest(self) -> None:
        pieces = pieces_of(FILES, FOUND, ["tests/lab/test_b.py"], KEPT)
        assert pieces[1] == Piece("tests/lab/test_b.py", 0, 11.0, 2.2, 5)

    def test_pytest_takes_it_by_its_name(self) -> None:
        assert [each.name for each in pieces_of(FILES, FOUND, [], KEPT)] == [
            "tests/unit/test_a.py", "tests/lab/test_b.py::test_x", "tests/lab/test_b.py::test_y"
        ]  # fmt: skip

    def test_without_a_record_it_is_guessed_from_the_limits(self) -> None:
        source = "def test_a(): ...\n\n@pytest.mark.parametrize('x', X)\ndef test_b(x): ...\n"
        unit, lab = guessed("tests/unit/test_a.py", source), guessed("tests/lab/test_a.py", source)
        assert (unit.tests, lab.tests) == (4, 4)
        assert (unit.seconds, lab.seconds) == pytest.approx((4 * 0.2 * LIMITS["unit"], 4 * 0.5 * LIMITS["lab"]))


class Report:
    def __init__(
        self, nodeid: str, duration: float, *, failed: bool = False, skipped: bool = False, **given: object
    ) -> None:
        self.nodeid, self.duration, self.failed, self.skipped = nodeid, duration, failed, skipped
        self.user_properties = given.get("user_properties", [])
        self.keywords = given.get("keywords", {})


class TestDurations:
    @pytest.mark.parametrize(
        "test", ["a.py::test_x", "a.py::test_x[1::2]", "a.py::test_x@group", "a.py::test_x[1]@group"]
    )
    def test_a_function_is_known_by_its_place(self, test: str) -> None:
        assert place(test) == ("a.py", "test_x")

    def test_reports_add_up(self) -> None:
        counting = Counting()
        words = [(durations.COMMANDS, "net burst")]
        for report in (
            Report("a.py::test_x[1]", 1.0, user_properties=words),
            Report("a.py::test_x[1]", 0.5, user_properties=words),
            Report("a.py::test_x[2]", 2.0),
            Report("a.py::test_x[3]", 99.0, keywords={"full": 1}),
            Report("a.py::test_skipped", 0.0, skipped=True),
            Report("a.py::test_fails[1]", 300.0, failed=True),
            Report("a.py::test_fails[2]", 1.0),
        ):
            counting.add(report)  # type: ignore[arg-type]  # a report, as far as it is read
        assert counting.durations() == {"a.py": {"test_x": Taken(3.5, 2, ("net burst",))}}

    def test_the_last_five_runs_are_kept_and_their_median_counts(self) -> None:
        kept: durations.Durations = {}
        for seconds in (99.0, 1.0, 2.0, 3.0, 50.0, 1.0):
            kept = merged(kept, {"a.py": {"test_x": Taken(seconds)}}, {"a.py": "def test_x(): ..."})
        assert kept["a.py"]["test_x"] == Taken(2.0, 1, (), (1.0, 2.0, 3.0, 50.0, 1.0))

    def test_what_is_gone_is_dropped_and_what_did_not_run_stays(self) -> None:
        old = {name: {"test_x": Taken(1.0), "test_gone": Taken(1.0)} for name in ("a.py", "b.py", "gone.py")}
        found = merged(
            old, {"a.py": {"test_y": Taken(2.0)}}, {"a.py": "def test_x(): ...\ndef test_y(): ...", "b.py": ""}
        )
        assert {file: sorted(functions) for file, functions in found.items()} == {
            "a.py": ["test_x", "test_y"],
            "b.py": ["test_gone", "test_x"],
        }

    def test_methods_are_defined_too(self) -> None:
        source = "class TestA:\n    def test_x(self): ...\nasync def test_y(): ...\n"
        assert [defines(source, name) for name in ("TestA::test_x", "test_y", "test_")] == [True, True, False]

    def test_it_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("def test_x(): ...")
        durations.keep({"a.py": {"test_x": Taken(1.25, 3, ("net burst",))}}, tmp_path, tmp_path / "kept.json")
        assert durations.read(tmp_path / "kept.json") == {"a.py": {"test_x": Taken(1.25, 3, ("net burst",), (1.25,))}}

    @pytest.mark.parametrize("text", ["", "[]", '{"a.py": []}', '{"a.py": {"test_x": [[], 1, []]}}'])
    def test_what_cannot_be_read_is_nothing(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "kept.json").write_text(text)
        assert durations.read(tmp_path / "kept.json") == {}
