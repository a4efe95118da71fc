"""What commands say goes one way, and drives no terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.live import Live
from rich.table import Table
from rich.text import Text

import wulf.cli
from wulf.cli.showing import echo
from wulf.report.kit.console import CleanConsole

ESCAPE = "\x1b]0;owned\x07\u202egnp\r"
ANOTHER_WAY = re.compile(
    r"click\.(?:secho|echo|echo_via_pager|style)\b|(?<!\.)\bprint\(|\bstd(?:out|err)\.write\(|\bConsole\("
)
OURS = {"showing.py", "start.py", "failure.py"}
"""It; what says that wulf can't be loaded; a report that has no file to go into, and is made printable."""


def test_no_command_has_another_way() -> None:
    """`clean` at each place that quotes others is forgotten at the next."""
    folder = Path(wulf.cli.__file__).parent
    found = [
        f"{path.relative_to(folder)}:{number}: {line.strip()}"
        for path in sorted(folder.rglob("*.py"))
        if path.name not in OURS
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if ANOTHER_WAY.search(line.replace("CleanConsole(", ""))
    ]
    assert found == []


@pytest.mark.parametrize("err", [False, True])
def test_what_others_say_drives_no_terminal(capsys: pytest.CaptureFixture[str], err: bool) -> None:
    echo(f"n1 said {ESCAPE}", err=err)
    said = capsys.readouterr()
    assert (said.err if err else said.out) == "n1 said \ufffd]0;owned\ufffd\ufffdgnp\n\n"


def test_nor_does_it_on_a_console() -> None:
    """Where colours are Rich's own, and so are the cursor's moves."""
    said = io.StringIO()
    console = CleanConsole(file=said, force_terminal=True, width=60)
    table = Table(f"head {ESCAPE}", title=ESCAPE)
    table.add_row(Text(f"cell {ESCAPE}", style="red"))
    console.print(table, ESCAPE)
    with Live(Text(ESCAPE), console=console, auto_refresh=False) as live:
        live.update(Text(f"more {ESCAPE}"), refresh=True)
    text = said.getvalue()
    assert "\x1b]" not in text
    assert "\u202e" not in text
    assert "\x07" not in text
    assert "\x1b[31m" in text
    assert "\x1b[2K" in text
