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


def test_help_waits_for_nothing_that_only_work_needs():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == ""
