"""The templates of examples/operations as somebody would copy them: with the variables at their top set anew."""

from __future__ import annotations

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "examples" / "operations"


def configured(name: str, where: Path, **variables: object) -> Path:
    """A copy in `where` whose variables have these values, as a shell reads them; each must stand there once."""
    text = (FOLDER / name).read_text()
    for variable, value in variables.items():
        text, times = re.subn(rf"^{variable}=(\"[^\"\n]*\"|[^\s#]*)", f'{variable}="{value}"', text, flags=re.MULTILINE)
        assert times == 1, f"{variable} stands {times} times in {name}"
    return written(where / Path(name).name, text)


def written(path: Path, text: str) -> Path:
    """A program."""
    path.write_text(text)
    path.chmod(0o755)
    return path


def wulf_in(where: Path) -> Path:
    """A program `wulf` in `where`: this tree's."""
    path = ":".join(entry for entry in sys.path if entry)
    return written(where / "wulf", f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m wulf.cli.main "$@"\n')
