"""What `import wulf` costs, and that names come when they are used."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "scipy", "pydantic", "duckdb", "ClusterShell", "jinja2", "wulf.core.errors", "importlib.metadata")

IMPORTED = f"""
import sys
import wulf
print(*(name for name in {HEAVY!r} if name in sys.modules))
wulf.UsageError
print(*(name for name in {HEAVY!r} if name in sys.modules))
wulf.load
print("numpy" in sys.modules, "ClusterShell" in sys.modules)
"""


def test_a_name_brings_what_it_needs_and_the_package_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "wulf.core.errors", "True False"]


def test_all_public_names_can_be_had_at_once() -> None:
    script = "from wulf import *; print(load, Cluster, UsageError)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.count("wulf.") == 2 and "function load" in done.stdout
