"""Output that pages show: commands are run as a reader types them, in order, and what they print is written anew.

    <!-- shown: exact -->
    ```console
    $ wulf networks show gbe
    …
    ```

`exact` is the same whenever and wherever it is run, and a test holds it so; `measured` has figures of the machine that
refreshed it last. A last line of … stands for the rest: as many lines as there were are kept. What is shown is stdout.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handbook.pages import ROOT

EXACT, MEASURED = "exact", "measured"
REST = "…"
COLUMNS = 80

_BLOCK = re.compile(r"(<!-- shown: (\w+) -->\n```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
_FIGURE = re.compile(r"\d[\d.,]*")
_WULF = """\
#!/bin/sh
exec {python} -c 'import sys; sys.argv[0] = "wulf"; from wulf.cli.start import main; sys.exit(main())' "$@"
"""

Run = Callable[[str], str]
"""Command line → what it printed."""


@dataclass(frozen=True)
class Shown:
    """A command of a page, and what the page says that it prints."""

    kind: str
    command: str
    output: str


def shown(text: str) -> list[Shown]:
    """What a page shows, in its order."""
    return [Shown(found[2], *pair) for found in _BLOCK.finditer(text) for pair in _pairs(found[3])]


def _pairs(block: str) -> Iterator[tuple[str, str]]:
    """Commands of a block with their output; a command goes on behind a backslash at a line's end."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, output = re.fullmatch(r"((?:.*\\\n)*.*\n?)((?:.*\n)*)", part).groups()  # type: ignore[union-attr]
        yield command.rstrip("\n"), output


def renewed(text: str, run: Run, kinds: tuple[str, ...] = (EXACT, MEASURED)) -> str:
    """The page with what its commands print now. Commands of other kinds are left alone, and are not run."""

    def block(found: re.Match[str]) -> str:
        if found[2] not in kinds:
            return found[0]
        parts = [f"$ {command}\n{shortened(run(command), output)}" for command, output in _pairs(found[3])]
        return f"{found[1]}{''.join(parts)}{found[4]}"

    return _BLOCK.sub(block, text)


def shortened(now: str, before: str) -> str:
    """What is printed now, as long as the page showed it."""
    lines = [line.rstrip() for line in now.splitlines()]
    kept = before.splitlines()
    if kept[-1:] == [REST]:
        lines = [*lines[: len(kept) - 1], REST]
    return "".join(f"{line}\n" for line in lines)


def shape(output: str) -> str:
    """The first line without its figures: what a measurement has in common with the next of its kind."""
    return _FIGURE.sub("#", output.lstrip().partition("\n")[0])


@contextmanager
def reader() -> Iterator[Run]:
    """A reader's shell in an empty folder: `wulf` on the path, a terminal of 80 columns, labs and rates of its own."""
    with tempfile.TemporaryDirectory(prefix="wulf-docs-") as name:
        folder = Path(name)
        program = folder / "bin" / "wulf"
        program.parent.mkdir()
        program.write_text(_WULF.format(python=shlex.quote(sys.executable)))
        program.chmod(0o755)
        (folder / "work").mkdir()
        (folder / "work" / "examples").symlink_to(ROOT / "examples")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WULF_")} | {
            "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"), "COLUMNS": str(COLUMNS),
            "NO_COLOR": "1", "WULF_CONFIG": "", "WULF_LAB": f"docs-{os.getpid()}", "WULF_RATES": "rates.json",
        } | {kept: os.environ[kept] for kept in ("WULF_PROGRAMS", "WULF_SYSROOT") if kept in os.environ}  # fmt: skip

        labs: list[str] = []

        def run(command: str) -> str:
            labs.extend(re.findall(r"wulf lab up", command))
            done = subprocess.run(
                ["bash", "-c", command], cwd=folder / "work", env=environment, capture_output=True, text=True,
                check=False, timeout=1800,
            )  # fmt: skip
            if done.returncode not in (0, 1, 3):  # with 1 and 3 a measurement says what it found
                raise RuntimeError(f"{command!r} ended with status {done.returncode}: {done.stderr.strip()}")
            return done.stdout

        try:
            yield run
        finally:
            if labs:
                subprocess.run([program, "lab", "down"], env=environment, capture_output=True, check=False, timeout=120)
