"""A target's steps as a whole: all of them once, none of them twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from provision import native, system
from provision.main import TARGETS, Setup
from provision.packages import GROUPS
from provision.places import Places

PACKAGES = """[[need]]
name = "cmake"
group = "build"
why = "w"
without = "no build"
present = ["command:cmake"]
debian = ["cmake"]
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch) -> Places:
    """A clone with one need, an environment that works, and a native build of its own test."""
    places = Places(tmp_path / "clone")
    places.python.parent.mkdir(parents=True)
    places.python.touch()
    (places.venv / "bin/wulf").touch()
    (places.venv / "pyvenv.cfg").write_text("version = 3.11.2\n")
    (places.repo / "packages.toml").write_text(PACKAGES)
    (places.repo / "pyproject.toml").write_text('version = "0.1.0"\n')
    monkeypatch.setattr(native, "build", lambda *args, **options: None)
    monkeypatch.setattr(system, "elevation", lambda runner, host: None)
    return places


def test_a_second_run_runs_no_command(script, make_host, places: Places) -> None:
    host = make_host(programs=["cmake"])
    assert Setup("build", places, host, script).run() == []
    assert script.ran("install", "--disable-pip-version-check")
    script.commands.clear()
    assert Setup("build", places, host, script).run() == []
    assert script.commands == []


def test_an_environment_with_dev_extras_serves_the_demo(script, make_host, places: Places) -> None:
    host = make_host(programs=["cmake"])
    Setup("test", places, host, script).run()
    script.commands.clear()
    Setup("build", places, host, script).run()
    assert script.commands == []


def test_a_plain_environment_gets_the_extras_for_the_tests(script, make_host, places: Places) -> None:
    host = make_host(programs=["cmake"])
    Setup("build", places, host, script).run()
    script.commands.clear()
    Setup("test", places, host, script).run()
    assert script.ran("-e", f"{places.repo}[dev]")


def test_new_dependencies_are_installed(script, make_host, places: Places) -> None:
    host = make_host(programs=["cmake"])
    Setup("build", places, host, script).run()
    script.commands.clear()
    (places.repo / "pyproject.toml").write_text('version = "0.2.0"\n')
    Setup("build", places, host, script).run()
    assert script.ran("-e", str(places.repo))


def test_what_is_missing_is_looked_at_again_until_it_is_there(script, make_host, places: Places) -> None:
    assert [need.name for need in Setup("build", places, make_host(), script).run()] == ["cmake"]
    assert [need.name for need in Setup("build", places, make_host(), script).run()] == ["cmake"]
    assert Setup("build", places, make_host(programs=["cmake"]), script).run() == []


def test_in_a_new_environment_every_target_looks_again_for_what_it_needs(script, make_host, places: Places) -> None:
    host = make_host(programs=["cmake"])
    Setup("lint", places, host, script).run()
    assert (places.build / "stamps/packages-lint").exists()
    shutil.rmtree(places.venv)
    Setup("test", places, host, script).run()
    assert not (places.build / "stamps/packages-lint").exists()


def test_targets_ask_for_groups_that_exist() -> None:
    assert {group for target in TARGETS.values() for group in target.groups} == set(GROUPS)
    assert TARGETS["demo"].extras == ()
