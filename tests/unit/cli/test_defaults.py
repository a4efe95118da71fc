"""Options that the command line leaves out are the configuration's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from wulf.cli import defaults
from wulf.cli.commands import Command, Group
from wulf.cli.help.config import unused
from wulf.cli.options import Percent, node_options
from wulf.core import configuration
from wulf.core.errors import UsageError

NODES = ("nodes", "inventory_file", "hostfile", "lab", "launcher", "network", "ssh_config")

SEEN: dict[str, Any] = {}
"""What the last command was given."""


@pytest.fixture
def set_to(tmp_path: Path, monkeypatch) -> Callable[[str], Path]:
    """Make a text this process's configuration."""

    def make(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text)
        found = configuration.read([path])
        monkeypatch.setattr(defaults, "configuration", lambda: found)
        return path

    return make


@click.group(cls=Group)
def root() -> None:
    pass


@root.command(cls=Command)
@click.argument("nodes_given", nargs=-1)
@node_options
@click.option("--width", type=Percent(), default="5%")
@click.option("--quick", is_flag=True)
@click.option("--set", "several", multiple=True)
@click.option("--apply", is_flag=True)
def measure(**options: Any) -> None:
    SEEN.update(options, words=defaults.added_words())


@root.command(cls=Command)
@node_options
def trace(**options: Any) -> None:
    SEEN.update(options)


def run(*words: str) -> Result:
    return CliRunner().invoke(root, words)


def seen(*words: str) -> dict[str, Any]:
    SEEN.clear()
    done = run(*words)
    assert done.exit_code == 0, done.output
    return dict(SEEN)


def test_the_command_line_comes_first(set_to) -> None:
    set_to('width = "3%"\n[measure]\nquick = true\nset = ["a=1", "b=2"]\n')
    found = seen("measure")
    assert (found["width"], found["quick"], found["several"]) == (0.03, True, ("a=1", "b=2"))
    assert sorted(found["words"]) == sorted(["--width", "3%", "--quick", "--set", "a=1", "--set", "b=2"])
    found = seen("measure", "--width", "1%", "--set", "c=3")
    assert (found["width"], found["several"], found["words"]) == (0.01, ("c=3",), ["--quick"])


def where(*words: str) -> dict[str, Any]:
    """What is said of nodes, of the options that are given at all."""
    found = seen(*words)
    return {name: found[name] for name in NODES if found[name] is not None}


def test_nodes_of_the_command_line_keep_out_those_of_the_file(set_to) -> None:
    path = set_to('nodes = "n[1-4]"\nlauncher = "ssh"\n')
    assert where("measure") == {"nodes": "n[1-4]", "launcher": "ssh"}
    assert f"nodes: n[1-4], by nodes in {path}" in run("measure").output
    assert where("measure", "--nodes", "n7") == {"nodes": "n7", "launcher": "ssh"}
    assert where("measure", "n7") == {"launcher": "ssh"}
    assert where("measure", "--hostfile", "hosts") == {"hostfile": Path("hosts"), "launcher": "ssh"}
    assert where("measure", "--lab") == {"lab": "running"}
    assert "nodes:" not in run("measure", "--lab").output


def test_of_an_inventory_of_the_file_nodes_can_be_named(set_to) -> None:
    inventory = set_to('inventory = "cluster.toml"\n').with_name("cluster.toml")
    assert where("measure", "n7") == {"inventory_file": inventory}
    assert where("measure", "--nodes", "n7") == {"nodes": "n7", "inventory_file": inventory}
    assert where("measure", "--lab", "4") == {"lab": "4"}


def test_a_program_is_traced_here_unless_its_own_table_names_nodes(set_to) -> None:
    set_to('nodes = "n[1-4]"\n')
    assert where("trace") == {}
    set_to('[trace]\nnodes = "n[1-4]"\n')
    assert where("trace") == {"nodes": "n[1-4]"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[measure]\nwidht = 1", r"measure\.widht: `wulf measure` has no --widht"),
        ("width = 7", r"width = 7: '7' is not between 0 and 100 %"),
        ("width = true", "width = True: --width takes one value"),
        ("quick = 1", "quick = 1: --quick takes true or false"),
        ("set = 1", "set = 1: --set takes a list"),
        ("apply = true", "apply: --apply is asked for each time"),
    ],
)
def test_what_a_command_can_not_take_is_an_error_of_the_file(set_to, text: str, why: str) -> None:
    path = set_to(text)
    with pytest.raises(UsageError, match=why) as error:
        root.main(["measure"], standalone_mode=False)
    assert str(path) in error.value.what
    assert run("measure", "--help").exit_code == 0


def test_settings_that_no_command_takes_are_found(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('width = 1\nrunz = 2\nruns = "x"\napply = true\n[measure]\nquick = true\n[trace]\nwidth = 1\n')
    found = unused(configuration.read([path]), root)
    assert [one.key for one in found] == ["runz", "apply", "trace.width"]
