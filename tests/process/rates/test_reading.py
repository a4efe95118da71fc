"""A reader gets this machine's rates whole, or an error of a type that says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import wulf.rates
from tests.unit.rates.test_reading import path as path


def test_programs_that_import_it_get_the_standard_library_alone(path: Path) -> None:
    code = (
        "import sys, wulf.rates; wulf.rates.load(sys.argv[1]);"
        "print(*{name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names) - {'__main__'})"
    )
    environment = {"PYTHONPATH": str(Path(wulf.rates.__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, path], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["wulf"]
