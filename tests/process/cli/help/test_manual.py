"""Manual pages: every command has one, and groff finds nothing wrong with it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from wulf.cli.commands import listings
from wulf.cli.help import manual
from wulf.cli.main import cli


def test_every_command_has_a_page_with_all_its_options(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["manual", str(tmp_path / "man1")])
    assert done.exit_code == 0, done.output
    written = {path.name for path in (tmp_path / "man1").iterdir()}
    assert {"wulf.1", "wulf-net-pingpong.1", "wulf-lab-up.1"} | {f"wulf-{name}.1" for name in listings()} <= written
    text = (tmp_path / "man1" / "wulf-survey.1").read_text()
    for words in (".SH EXAMPLES", ".SH NODES", ".SH MEASURING", "\\-\\-sbatch", "\\-\\-margin", ".BR wulf (1)"):
        assert words in text


def test_text_of_a_command_is_no_request_and_no_escape() -> None:
    odd = click.Command("odd", help=".so /etc/passwd\n\n'quoted \\n and --this", epilog="Example: wulf odd 'a b'")
    page = manual.page(manual.entry(odd, click.Context(odd, info_name="odd")))
    assert "\\&.so /etc/passwd" in page and "\\&'quoted \\en and \\-\\-this" in page
    assert [line for line in page.splitlines() if line.startswith((".so", "'"))] == []


def test_a_paragraph_that_must_not_be_wrapped_is_not() -> None:
    """As it stands in a docstring, which click cleans when it shows it."""
    lab = click.Command("lab", help="Labs.\n\n    \b\n    Example:\n      wulf lab up\n      wulf lab down\n    ")
    page = manual.page(manual.entry(lab, click.Context(lab, info_name="lab")))
    assert ".nf\nExample:\n  wulf lab up\n  wulf lab down\n.fi\n" in page


@pytest.mark.parametrize("epilog", ["Examples: wulf two a; wulf two b", "\b\nExamples:\n  wulf two a\n  wulf two b"])
def test_an_example_each_on_a_line_of_its_own(epilog: str) -> None:
    two = click.Command("two", help="Two.", epilog=epilog)
    page = manual.page(manual.entry(two, click.Context(two, info_name="two")))
    assert ".SH EXAMPLES\n.PP\n.B wulf two a\n.PP\n.B wulf two b\n" in page


def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(cli, ["manual", str(tmp_path / "file" / "man1")])
    assert done.exit_code != 0
    assert "can't be written" in str(done.exception) or "is a file" in done.output


# what a page holds is stated above; groff is no need of wulf's, and reads it as man(1) does where it is
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed: it gives the second opinion")
def test_groff_finds_nothing_wrong(tmp_path: Path) -> None:
    texts = dict(manual.pages(manual.everything()))
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-K", "utf8"], input="".join(texts.values()), capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "wulf-survey" in done.stdout
