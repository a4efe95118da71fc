"""The list of public traces, and the table of what came of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bench.engine.errors import BenchError
from bench.report.docs import BEGIN, END
from bench.trace import archives, wild
from bench.trace.archives import Entry, entries_of, given_files, printed
from bench.trace.wild import LIST, PAGE, Row, row_of, table, tried

from wulf.trace.errors import FormatError
from wulf.trace.imports import NAMES

ENTRY = Entry("halo", "somebody/traces", "0123456789abcdef", ("halo/*.goal",), "goal")

LISTED = """\
[[traces]]
name = "halo"
repository = "somebody/traces"
commit = "0123456789abcdef"
paths = ["halo/*.goal"]
format = "goal"
"""


def test_the_list_has_traces_of_every_format_in_full_commits() -> None:
    entries = entries_of(LIST.read_text(encoding="utf-8"))
    assert {one.format for one in entries} == set(NAMES)
    assert all(len(one.commit) == 40 and one.repository.count("/") == 1 for one in entries)


def test_the_page_has_a_row_for_every_trace_of_the_list() -> None:
    page = PAGE.read_text(encoding="utf-8")
    made = page[page.index(BEGIN) : page.index(END)]
    for entry in entries_of(LIST.read_text(encoding="utf-8")):
        assert f"| {entry.name} | {entry.format} |" in made, "run `python -m bench.trace.wild --docs`"
        assert f"- {entry.name}: {entry.source}" in made


def test_an_entry_is_read() -> None:
    assert entries_of(LISTED) == [ENTRY]
    assert ENTRY.source == "somebody/traces@0123456: halo/*.goal"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('format = "goal"', 'format = "paje"', "no format 'paje'"),
        ('format = "goal"', 'format = "goal"\nprinter = "lp"', "no printer 'lp'"),
        ('format = "goal"', 'format = "goal"\noptions = { flops = 1e9 }', "goal takes no option 'flops'"),
        ('format = "goal"', 'format = "goal"\ncolour = "red"', "can't be read"),
        ('commit = "0123456789abcdef"\n', "", "can't be read"),
        ('name = "halo"', "name = ", "can't be read"),
        (LISTED, LISTED + LISTED, "names 'halo' twice"),
    ],
)
def test_a_list_that_is_wrong_is_refused(old: str, new: str, why: str) -> None:
    assert LISTED.count(old) == 1
    with pytest.raises(BenchError, match=why):
        entries_of(LISTED.replace(old, new))


def test_files_are_what_the_patterns_fit(tmp_path: Path) -> None:
    (tmp_path / "halo").mkdir()
    for name in ("b.goal", "a.goal", "readme"):
        (tmp_path / "halo" / name).touch()
    assert [file.name for file in given_files(ENTRY, tmp_path)] == ["a.goal", "b.goal"]
    with pytest.raises(BenchError, match="nothing of halo/c was fetched"):
        given_files(Entry(*["x"] * 3, ("halo",), "goal", ("halo/c",)), tmp_path)


def test_a_binary_trace_needs_its_printer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives.shutil, "which", lambda _: None)
    assert printed(ENTRY, [tmp_path], tmp_path) == [tmp_path]
    with pytest.raises(BenchError, match="otf2-print is not installed"):
        printed(Entry("a", "b", "c", ("d",), "otf2", printer="otf2-print"), [tmp_path], tmp_path)


def test_a_printer_makes_a_text_of_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives.shutil, "which", lambda name: name)
    monkeypatch.setattr(archives, "ran", lambda words: " ".join(words).encode())
    entry = Entry("a", "b", "c", ("d",), "dumpi", printer="dumpi2ascii")
    (text,) = printed(entry, [Path("/traces/d-0003.bin")], tmp_path)
    assert (text.name, text.read_text()) == ("d-0003.txt", "dumpi2ascii -SX /traces/d-0003.bin")


def prediction(measured: float | None) -> Any:
    left = [SimpleNamespace(what="MPI_Put", calls=3)]
    return SimpleNamespace(
        program=SimpleNamespace(ranks=1024, ops=123_456, left_out=left),
        baseline=SimpleNamespace(replayed=2.5),
        candidates=[SimpleNamespace(forecast=SimpleNamespace(replayed=1.25e-3))],
        traced=SimpleNamespace(seconds=measured),
    )


def test_a_row_has_the_replays_times_and_all_that_is_left_out() -> None:
    row = row_of(ENTRY, ["left open: 2 × a receive"], prediction(2.0))
    assert table([row]).splitlines()[2] == (
        "| halo | goal | 1,024 | 123,456 | 2 s | 2.5 s | 1.25 ms | left open: 2 × a receive; 3 × MPI_Put not modelled |"
    )
    assert "| – | 2.5 s |" in table([row_of(ENTRY, [], prediction(None))])


def test_a_refusal_is_a_row_in_one_line() -> None:
    line = table([Row(ENTRY, error="a | b " + "x" * 500)]).splitlines()[2]
    assert line.startswith(r"| halo | goal | – | – | – | – | – | **a \| b xxx") and line.endswith("x…** |")
    assert len(line) < 300


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (FormatError("{0}/source/x.goal:3: 'y'\nis none", "do this"), "x.goal:3: 'y' is none"),
        (BenchError("git: no such commit"), "git: no such commit"),
        (KeyError("x"), "DEFECT: KeyError: 'x'"),
    ],
)
def test_what_fails_at_one_trace_is_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    folder = tmp_path / "00"
    if isinstance(error, FormatError):
        error.what = error.what.format(folder)

    def fetched(*_: object) -> None:
        raise error

    monkeypatch.setattr(wild, "fetched", fetched)
    assert tried(ENTRY, folder, None) == Row(ENTRY, error=told)


def test_a_mirror_that_is_not_there_is_a_row_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "list.toml"
    listed.write_text(LISTED + LISTED.replace("halo", "ring"))
    assert wild.main(["--list", str(listed), "--mirrors", str(tmp_path), "--keep", str(tmp_path / "kept")]) == 0
    out = capsys.readouterr().out
    assert out.count("**no mirror is there: somebody+traces**") == 2
    assert wild.main(["--list", str(listed), "tree"]) == 2
    assert "no trace 'tree'" in capsys.readouterr().err
