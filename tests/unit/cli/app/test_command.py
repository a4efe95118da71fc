"""`wulf app` as it is typed: commands made of drivers, a command after `--`, and what is refused at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from wulf.apps import drivers
from wulf.apps.driver import Job
from wulf.cli.app.command import COMMANDS, command, option_names
from wulf.cli.app.run import command_request
from wulf.cluster.mpi import WorldSpec
from wulf.core.errors import UsageError


def invoke(*words: str):
    return CliRunner().invoke(command, list(words))


def test_every_driver_is_a_command() -> None:
    text = invoke("--help").output
    for name in (*COMMANDS, *drivers()):
        assert re.search(rf"^  {re.escape(name)}\b", text, re.MULTILINE), name
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.filterwarnings("error")  # two options of one name are a warning of click's
@pytest.mark.parametrize("name", [*COMMANDS, *drivers()])
def test_every_command_has_help_with_an_example(name: str) -> None:
    done = invoke(name, "--help")
    assert done.exit_code == 0, done.output
    assert f"wulf app {name}" in done.output
    assert max(map(len, done.output.splitlines())) <= 80


def test_a_parameter_that_all_commands_have_gets_the_drivers_name() -> None:
    names = option_names(drivers()["phyml"], {"seed", "ranks"})
    assert (names["seed"], names["taxa"]) == ("phyml_seed", "taxa")


OWN = {"figure": None, "unit": "s", "better": "lower", "checks": (), "environment": (), "chdir": None}


def request(*words: str, over_ranks: bool = False, **own):
    return command_request(words, {**OWN, **own}, WorldSpec(), 5.0, over_ranks=over_ranks)


def test_a_command_becomes_a_job() -> None:
    made = request("solve", "in put", over_ranks=True, environment=("A=b=c",), chdir="/data")
    assert made.params == {"command": "solve 'in put'"}
    assert made.programs == ("solve",)
    assert made.job("/opt/solve", 4) == Job(
        ("/opt/solve", "in put"), environment={"A": "b=c"}, mpi=True, timeout=5.0, folder="/data"
    )


@pytest.mark.parametrize(
    ("program", "looked_for"), [("./a.out", ()), ("bin/a", ()), ("/x/a", ("/x/a",)), ("a", ("a",))]
)
def test_a_relative_path_is_the_shells_to_find(program: str, looked_for: tuple[str, ...]) -> None:
    made = request(program)
    assert made.programs == looked_for
    assert made.job("", 1).command == (program,)


def test_no_command_is_refused() -> None:
    done = invoke("run", "n1", "--runs", "2")
    assert isinstance(done.exception, UsageError)
    assert "no command is given" in str(done.exception)


@pytest.mark.parametrize(
    "own", [{"environment": ("A",)}, {"environment": ("=b",)}, {"figure": "no group"}, {"checks": ("(",)}]
)
def test_what_is_wrong_is_said_before_any_node_is_asked(own: dict) -> None:
    with pytest.raises(UsageError):
        request("solve", **own)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["phyml", "n1", "--taxa", "-1"], "taxa"),
        (["run", "n1", "--env", "nothing", "--", "solve"], "--env 'nothing'"),
        (["hpl", "n1", "--n", "10", "--dat", "HPL.dat"], "HPL.dat"),
    ],
)
def test_a_refusal_comes_before_there_is_a_run(
    words: list[str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("HPL.dat").write_text("this is none\n")
    result = invoke(words[0], "--out", "run", *words[1:])
    assert isinstance(result.exception, UsageError), result.output
    assert what in f"{result.exception.what} {result.exception.next_step}"
    assert not Path("run").exists()
