"""What CONTRIBUTING's table says of additions: each is made in a copy of the package, and is there without more ado."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wulf

PACKAGE = Path(wulf.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that may be added to."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "wulf", ignore=shutil.ignore_patterns("__pycache__", "programs")))


def python(package: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], env=os.environ | {"PYTHONPATH": str(package.parent)}, cwd=package.parent,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def cli(package: Path, *words: str) -> str:
    return python(package, "-m", "wulf.cli.main", *words)


def test_a_fact(package: Path) -> None:
    (package / "agent/facts/toy.py").write_text(
        "from wulf.agent.fact import Topic\n"
        'topic = Topic("toy")\n'
        '@topic.fact("answer", "The answer", unit="1")\n'
        "def answer(machine):\n    return 42\n"
    )
    script = "from wulf.agent.operations import read_facts; import json; print(json.dumps(read_facts(only=['toy'])))"
    assert '"toy.answer": {"value": 42' in python(package, "-c", script)


def test_a_setting(package: Path) -> None:
    text = (package / "tune/catalogue/nic.mtu.toml").read_text()
    (package / "tune/catalogue/nic.toy.toml").write_text(text.replace('name = "nic.mtu"', 'name = "nic.toy"'))
    assert cli(package, "audit", "--explain", "nic.toy").startswith("nic.toy")


def test_a_way_to_start_programs(package: Path) -> None:
    shutil.copy(package / "cluster/launchers/null.py", package / "cluster/launchers/toy.py")
    assert "toy" in cli(package, "survey", "--help")


def test_a_network(package: Path) -> None:
    text = (package / "model/network/known/gbe.toml").read_text()
    (package / "model/network/known/toy.toml").write_text(text.replace('name = "gbe"', 'name = "toy"'))
    assert "toy" in cli(package, "networks", "list")


def test_a_format_of_export(package: Path) -> None:
    text = (package / "tune/export/formats/shell.py").read_text()
    (package / "tune/export/formats/toy.py").write_text(text.replace('"shell"', '"toy"'))
    assert "toy" in cli(package, "tune", "export", "--help")


def test_an_application(package: Path) -> None:
    text = (package / "apps/stream.py").read_text()
    (package / "apps/toy.py").write_text(text.replace('NAME = "stream"', 'NAME = "toy"'))
    assert "toy" in cli(package, "app", "--help")


def test_a_tool_to_be_measured_as(package: Path) -> None:
    text = (package / "measure/tools/sockperf.py").read_text()
    (package / "measure/tools/toy.py").write_text(text.replace('"sockperf"', '"toy"'))
    assert "toy" in cli(package, "net", "sweep", "--help")


def test_a_cause_of_findings(package: Path) -> None:
    table = package / "findings/facts/network_causes.toml"
    row = '  { facts = ["toy.answer"], folds = [], words = "another answer", effects = ["rtt"], step = "ask again" },\n'
    table.write_text(table.read_text().replace("cause = [\n", "cause = [\n" + row))
    script = "from wulf.findings.facts.causes import causes; print(causes()[0].words)"
    assert python(package, "-c", script) == "another answer\n"


def test_a_part_of_the_report(package: Path) -> None:
    (package / "report/toy").mkdir()
    (package / "report/toy/__init__.py").touch()
    (package / "report/toy/part.py").write_text(
        "from wulf.report.kit.parts import Part\n"
        "from wulf.report.kit.view import Section\n"
        "class Toy(Part):\n"
        "    def view(self, run):\n        return [Section('Toys', ['a toy'], key='toys', link='A toy')]\n"
        "PARTS = (Toy(),)\n"
    )
    script = (
        "from pathlib import Path; from rich.console import Console; from wulf.store.run import Run\n"
        "from wulf.report.run.html import render; from wulf.report.run.terminal import print_report\n"
        "run = Run(Path('r'), {'id': 'r'}, {}, {}, [], [], [])\n"
        "print_report(run, Console()); print('A toy</a>' in render(run))"
    )
    told = python(package, "-c", script)
    assert "a toy" in told
    assert told.strip().endswith("True")


def test_a_command(package: Path) -> None:
    (package / "cli/toy.py").write_text(
        'import click\nLISTED = ("toy", "Measure", 15, "Says it.")\n'
        "@click.command()\ndef command():\n    'Says it.'\n    click.echo('said')\n"
    )
    assert cli(package, "toy") == "said\n"
    assert "Says it." in cli(package, "--help")
