"""What `--help` of a command costs: no module of the command line imports what only work needs."""

import subprocess
import sys

HEAVY = ("numpy", "scipy", "rich", "plotly", "ClusterShell")

SCRIPT = f"""
import importlib, pkgutil, sys
import wulf.cli
for module in pkgutil.walk_packages(wulf.cli.__path__, "wulf.cli."):
    before = set(sys.modules)
    importlib.import_module(module.name)
    for heavy in {HEAVY!r}:
        if heavy in sys.modules and heavy not in before:
            print(module.name, "imports", heavy)
"""


OF_ALL = """
import sys
from wulf.cli.commands import listings
from wulf.cli.main import cli
cli.main(["--help"], standalone_mode=False)
print(*(one.module for one in listings().values() if one.module in sys.modules), file=sys.stderr)
"""


def test_help_of_all_imports_no_command():
    done = subprocess.run([sys.executable, "-c", OF_ALL], capture_output=True, text=True, check=True)
    assert "survey" in done.stdout and done.stderr.strip() == ""


def test_help_waits_for_nothing_that_only_work_needs():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == ""
