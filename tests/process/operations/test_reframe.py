"""The ReFrame test: by itself beside the few names of ReFrame that it uses, and, where it can be had, under ReFrame."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.process.operations.peers import peer
from tests.process.operations.templates import FOLDER, written, wulf_in

CHECK = FOLDER / "reframe" / "wulf_network.py"
CLASSES = {"WulfRoundTrip": ("pingpong", "rtt", "s"), "WulfThroughput": ("stream", "throughput", "B/s")}


def marked(*said: object) -> Callable[[Any], Any]:
    """A decorator that leaves what it was given at the function."""

    def mark(function: Any) -> Any:
        function.marks = said
        return function

    return mark


def modules(simple_tests: list[type]) -> dict[str, ModuleType]:
    """ReFrame's names that the test uses. Of what they do this much is enough to run it by hand."""
    names: dict[str, dict[str, object]] = {
        "reframe": {
            "RunOnlyRegressionTest": type("RunOnlyRegressionTest", (), {}),
            "simple_test": lambda made: simple_tests.append(made) or made,
        },
        "reframe.utility": {},
        "reframe.utility.sanity": {"evaluate": lambda value: value, "assert_true": lambda value, said: (value, said)},
        "reframe.core": {},
        "reframe.core.backends": {"getlauncher": lambda name: lambda: name},
        "reframe.core.builtins": {
            "performance_function": marked, "run_before": marked, "sanity_function": marked("sanity"),
            "variable": lambda kind, value: value,
        },
    }  # fmt: skip
    made = {}
    for name, content in names.items():
        made[name] = ModuleType(name)
        vars(made[name]).update(content)
    return made


@pytest.fixture
def tests(monkeypatch: pytest.MonkeyPatch) -> dict[str, type]:
    """The tests that ReFrame would find in the file, by name."""
    found: list[type] = []
    for name, module in modules(found).items():
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("wulf_network", CHECK)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return {one.__name__: one for one in found}


def ran(kind: type, where: Path, wulf: str) -> Any:
    """A test after its run, as a job of Slurm's with the nodes n1 to n3: in its stage folder, which `where` is."""
    test = kind()
    test.job, test.stdout, test.stderr = SimpleNamespace(), where / "out", where / "err"
    test.wulf = written(where / "wulf", f'#!/bin/sh\necho "$@" > {where}/called\n{wulf}\n')
    written(where / "scontrol", "#!/bin/sh\n[ \"$*\" = 'show hostnames n[1-3]' ] && printf 'n1\\nn2\\nn3\\n'\n")
    assert kind.start_once.marks == ("run",)
    test.start_once()
    script = f"{test.executable} {' '.join(test.executable_opts)}"
    environment = {"SLURM_JOB_NODELIST": "n[1-3]", "PATH": f"{where}:{os.environ['PATH']}"}
    with test.stdout.open("w") as out, test.stderr.open("w") as err:
        subprocess.run(["bash", "-c", script], env=environment, stdout=out, stderr=err, check=False, timeout=60)
    return test


def lines(*records: dict[str, object]) -> str:
    return f"cat <<'END'\n{''.join(json.dumps(record) + chr(10) for record in records)}END\nexit 1"


@pytest.mark.parametrize("name", CLASSES)
def test_it_asks_once_and_reads_its_figure(tests: dict[str, type], name: str, tmp_path: Path) -> None:
    pattern, metric, unit = CLASSES[name]
    records = lines({"metric": "lost", "value": 0}, {"metric": metric, "value": 2.5e-5}, {"metric": "seconds"})
    test = ran(tests[name], tmp_path, records)
    assert (tmp_path / "called").read_text() == f"net {pattern} n1 n2 --json --launcher slurm\n"
    assert test.job.launcher == "local"
    assert test.is_measured.marks == ("sanity",)
    assert test.is_measured()[0] is True
    function = getattr(test, metric)
    assert (function(), function.marks) == (2.5e-5, (unit,))
    assert [(len(one[metric]), one[metric][3]) for one in test.reference.values()] == [(4, unit)]


@pytest.mark.parametrize(
    ("wulf", "why"),
    [
        ("echo 'error: no route' >&2; exit 3", "err"),
        (lines({"metric": "rtt", "value": None, "reason": "n2 is gone"}), "n2 is gone"),
    ],
    ids=["nothing", "a value that is missing"],
)
def test_without_a_figure_it_fails_and_says_why(tests: dict[str, type], wulf: str, why: str, tmp_path: Path) -> None:
    held, said = ran(tests["WulfRoundTrip"], tmp_path, wulf).is_measured()
    assert not held
    assert why in said


def test_there_is_one_test_a_pattern(tests: dict[str, type]) -> None:
    assert set(tests) == set(CLASSES)


@pytest.mark.timeout(900)
@pytest.mark.full  # ReFrame may have to be installed
@pytest.mark.parametrize(
    ("rtt", "throughput", "failures"), [("3600", "1e-3", 0), ("1e-12", "1e18", 2)], ids=["as fast", "slower"]
)
def test_reframe_runs_it_and_judges(tmp_path: Path, rtt: str, throughput: str, failures: int) -> None:
    """On this machine, beside references that no machine misses, and that none reaches."""
    text = CHECK.read_text()
    for stands, instead in (("mycluster:compute", "generic:default"), ("26e-6", rtt), ("117e6", throughput)):
        assert stands in text
        text = text.replace(stands, instead)
    check = tmp_path / CHECK.name
    check.write_text(text)
    settings = {
        "nodes": "localhost localhost", "wulf_options": "--launcher local --quick --nodes localhost",
        "wulf": wulf_in(tmp_path),
    }  # fmt: skip
    words = [peer("reframe"), f"--prefix={tmp_path}", "-c", check, "-r", "--performance-report"]
    words += [word for name, value in settings.items() for word in ("-S", f"{name}={value}")]
    own = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}  # where it leaves reports and logs
    done = subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, text=True, check=False, timeout=240)
    assert f"Ran 2/2 test case(s) from 2 check(s) ({failures} failure(s)" in done.stdout, done.stdout + done.stderr
    assert done.returncode == (failures > 0)
