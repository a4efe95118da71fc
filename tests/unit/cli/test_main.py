"""What comes out of the command line where nothing else catches it: a defect of wulf's own is never an answer."""

from __future__ import annotations

import errno
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.wording import lacking
from wulf.cli import main
from wulf.cli.commands import Shared, grouped, listings
from wulf.cli.failure import places
from wulf.core.errors import INTERNAL, INTERRUPTED, USAGE, UsageError


@pytest.fixture
def ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str]]:
    """Exit code and stderr of a command that raises."""

    def run(error: BaseException, *arguments: str) -> tuple[object, str]:
        def raising(**_: object) -> None:
            raise error

        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setattr(main.cli, "main", raising)
        monkeypatch.setattr(sys, "argv", ["wulf", *arguments])
        with pytest.raises(SystemExit) as raised:
            main.main()
        return raised.value.code, capsys.readouterr().err

    return run


def reports(folder: Path) -> Sequence[Path]:
    return list((folder / "wulf").iterdir())


def test_a_defect_has_an_exit_code_of_its_own_and_a_report(
    ended: Callable[..., tuple[object, str]], tmp_path: Path
) -> None:
    code, told = ended(KeyError("facts"), "survey", "--nodes", "a b")
    assert code == INTERNAL
    (report,) = reports(tmp_path)
    assert lacking(told, "wulf itself failed", "KeyError", "'facts'", str(report)) == []
    assert "Traceback" not in told
    text = report.read_text()
    assert lacking(text, "command: wulf survey --nodes 'a b'", "Traceback (most recent call last)", "raising") == []
    assert report.stat().st_mode & 0o777 == 0o600


def test_the_same_defect_leaves_one_report_whatever_it_was_of(
    ended: Callable[..., tuple[object, str]], tmp_path: Path
) -> None:
    for node in ("n1", "n2"):
        ended(KeyError(node))
    ended(ValueError("n1"))
    assert len(reports(tmp_path)) == 2


def test_a_defect_is_told_to_programs_too(ended: Callable[..., tuple[object, str]]) -> None:
    code, told = ended(ValueError("x\n" * 1000), "check", "--json")
    assert code == INTERNAL
    (line,) = told.splitlines()
    assert json.loads(line)["exit_code"] == INTERNAL
    assert len(json.loads(line)["error"]) < 500


def test_where_no_report_can_be_written_it_is_on_stderr(
    ended: Callable[..., tuple[object, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wulf").write_text("no folder")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "wulf" / "gone"))
    code, told = ended(RecursionError("\ud800"))
    assert code == INTERNAL
    assert lacking(told, "Traceback (most recent call last)", "RecursionError") == []


def test_no_report_is_written_where_a_link_leads(
    ended: Callable[..., tuple[object, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root with the folders of another account, `sudo -E` for one, it once lay in /etc."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "temporary").mkdir()
    (tmp_path / "wulf").symlink_to("etc")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    assert ended(KeyError("n1"))[0] == INTERNAL
    assert not list((tmp_path / "etc").iterdir())
    assert len(list((tmp_path / "temporary").iterdir())) == 1


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ELOOP])
def test_a_place_that_is_not_ours_is_no_defect(ended: Callable[..., tuple[object, str]], number: int) -> None:
    code, told = ended(OSError(number, "not for you", "/root/runs"))
    assert code == USAGE
    assert "/root/runs: not for you" in told


@pytest.mark.parametrize(("error", "code"), [(UsageError("no"), USAGE), (KeyboardInterrupt(), INTERRUPTED)])
def test_what_is_no_defect_leaves_no_report(
    ended: Callable[..., tuple[object, str]], tmp_path: Path, error: BaseException, code: int
) -> None:
    assert ended(error)[0] == code
    assert not (tmp_path / "wulf").exists()


def test_a_home_that_is_none_is_no_place() -> None:
    assert all(place.is_absolute() for place in places({"HOME": "relative", "XDG_STATE_HOME": "relative"}))
    assert places({"HOME": "/home/a"})[0] == Path("/home/a/.local/state/wulf")
    assert places({"HOME": "/home/a", "XDG_STATE_HOME": "/s"})[0] == Path("/s/wulf")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["survey", "--nodes", ""], "the value of --nodes is empty"),
        (["survey", "--out="], "the value of --out is empty"),
        (["runs", ""], "what follows runs is empty"),
        ([""], "what follows the command is empty"),
    ],
)
def test_an_empty_word_is_a_variable_that_is_not_set(arguments: list[str], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        main.refuse_unusable(arguments)


def test_words_of_another_program_may_be_empty() -> None:
    main.refuse_unusable(["app", "run", "--nodes", "n1", "--", "program", "", "--flag="])
    main.refuse_unusable(["tune", "--set", "net.rmem_max=", "-q"])
    main.refuse_unusable([])


def test_a_word_that_is_no_text_is_refused_by_the_option_that_it_follows() -> None:
    for words in (["--out", "runs\udcff"], ["--out=runs\udcff"]):
        with pytest.raises(UsageError, match="the value of --out is no UTF-8 text"):
            main.refuse_unusable(["survey", *words])
    main.refuse_unusable(["app", "run", "--", "program", "\udcff"])


def test_an_error_repeats_no_value_that_nobody_could_read(ended: Callable[..., tuple[object, str]]) -> None:
    for error in (UsageError("9" * 5000), click.UsageError(f"'{'9' * 5000}' is no number")):
        code, told = ended(error)
        assert code == 2
        assert 1000 < len(told) < 1500


def test_a_name_that_no_file_can_have_is_no_defect(ended: Callable[..., tuple[object, str]], tmp_path: Path) -> None:
    code, told = ended(OSError(errno.ENAMETOOLONG, "File name too long", "a" * 5000))
    assert code == 2
    assert lacking(told, "no file has so long a name") == []
    assert not (tmp_path / "wulf").exists()


def test_commands_are_told_in_groups_a_line_each() -> None:
    """On a terminal of 80 columns: what wraps is not read."""
    context = click.Context(main.cli, info_name="wulf", terminal_width=80, max_content_width=80)
    told = context.get_help()
    for title, group in grouped().items():
        assert f"\n{title}:\n" in told
        for one in group:
            assert f"  {one.name.ljust(max(map(len, listings())))}  {one.help}\n" in told + "\n"
    assert sum(map(len, grouped().values())) == len(listings())


def survey_context() -> click.Context:
    """Of `wulf survey`, on a terminal of 80 columns."""
    survey = main.cli.get_command(click.Context(main.cli), "survey")
    assert survey is not None
    return click.Context(survey, info_name="survey", terminal_width=80, max_content_width=80)


def test_help_has_examples_first_then_own_options_then_those_of_many() -> None:
    """What a command has in common with others stands behind, under titles."""
    told = survey_context().get_help()
    example, own, where, how = (told.index(f"\n{title}") for title in ("  Example", "Options:", "Nodes:", "Measuring:"))
    assert example < own < where < how
    margin, nodes, quick = (told.index(f"\n  {option} ") for option in ("--margin", "--nodes", "--quick"))
    assert own < margin < where < nodes < how < quick


def test_what_is_rarely_needed_is_told_by_help_all() -> None:
    survey = survey_context().command
    runner = CliRunner()
    short, whole = (runner.invoke(main.cli, ["survey", option]).output for option in ("--help", "--help-all"))
    rare = [one.opts[0] for one in survey.params if isinstance(one, Shared) and one.rare]
    assert len(rare) >= 8
    assert [option for option in rare if f"  {option} " in short] == []
    assert [option for option in rare if f"  {option} " not in whole] == []
    assert set(lines_of_options(short)) < set(lines_of_options(whole))


def lines_of_options(told: str) -> list[str]:
    return re.findall(r"^  (--[a-z-]+)", told, re.MULTILINE)
