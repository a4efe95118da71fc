"""Which lab and which command the words of `wulf lab exec` name."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from wulf.cli.main import cli

COMMAND = ("ls", "-l", "--name", "theirs")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["--name", "mine", "n1", "--", *COMMAND], "mine"),
        (["n1", "--name", "mine", "--", *COMMAND], "mine"),
        (["n1", "--name=mine", *COMMAND], "mine"),
        (["n1", "--", *COMMAND], None),
        (["n1", *COMMAND], None),
    ],
)
def test_options_stand_before_or_behind_the_node_and_the_rest_is_the_command(words, name, monkeypatch):
    asked = []

    def find(which):
        asked.append(which)
        return SimpleNamespace(exec=lambda node, argv: asked.append((node, tuple(argv))) or 7)

    monkeypatch.setattr("wulf.lab.find", find)
    result = CliRunner().invoke(cli, ["lab", "exec", *words])
    assert result.exit_code == 7, result.output
    assert asked == [name, ("n1", COMMAND)]


@pytest.mark.parametrize("words", [["n1", "--nmae", "x", "--", "ls"], ["n1", "--name"], ["n1", "--name", "x"]])
def test_what_is_no_option_of_ours_is_refused_rather_than_run(words):
    result = CliRunner().invoke(cli, ["lab", "exec", *words])
    assert result.exit_code == 2, result.output
