"""`wulf search`: what is refused before a node is touched."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from wulf.cli.main import cli
from wulf.core.errors import UsageError

OWN = 'command = "./x {a}"\n[parameters.a]\nvalues = [1, 2]\n'


def run(*words):
    return CliRunner().invoke(cli, ["search", *words], standalone_mode=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hpl", "--hours", "1", "--budget", "1h"), "both say how long"),
        (("hpl", "--nb", "0,32"), "0 is not above 0"),
        (("hpl", "--nb", "a"), "no list such as"),
        (("hpl", "--env", "X=1"), "no NAME=VALUE:VALUE"),
        (("hpl", "--apply"), "changes nothing without --settings"),
        (("hpl", "--settings", "nic.mtu=9000"), "nic.mtu has no two values"),
        (("hpl", "--settings", "nic.mut=1:2"), "no setting 'nic.mut'"),
        (("hpl", "--blocks", "3"), "3 is not in the range"),
        (("hpl", "--memory", "1.5"), "1.5 is not in the range"),
        (("hpl", "--program", "/x", "--source", "/s"), "both say which xhpl"),
        (("hpl", "--compilers", "gcc"), "its source is missing"),
        (("hpl", "--peak", "-1"), "not GFLOPS above 0"),
        (("hpl", "--price", "0"), "0.0 is not in the range"),
        (("absent.toml", "n1"), "absent.toml can't be read"),
        (("other",), "No such command"),
    ],
)
def test_what_makes_no_sense_is_refused(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in str(run(*words).exception)


def test_ranks_of_a_program_that_is_no_mpis(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(OWN)
    found = run(str(path), "--ranks", "2", "--launcher", "local", "--nodes", "n1")
    assert isinstance(found.exception, UsageError)
    assert "are of MPI programs" in found.exception.what


def test_a_figure_that_is_no_rate_has_no_price(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(OWN)
    found = run(str(path), "--price", "100", "--launcher", "local", "--nodes", "n1").exception
    assert "the figure is in s" in found.what


@pytest.mark.parametrize(("words", "wanted"), [((), {}), (("--mpi", "mpich"), {"mpi": ("mpich",)})])
def test_one_mpi_may_be_named_for_a_program_that_is_built(tmp_path, monkeypatch, words, wanted):
    path, given = tmp_path / "my.toml", []
    path.write_text(
        'command = "{program}"\nranks = 2\n[build]\nsource = "/s"\ncommands = ["{mpicc} s.c"]\nproduct = "s"\n'
    )
    monkeypatch.setattr("wulf.workflow.search.own.own_task", lambda own, *_: given.append(own))
    monkeypatch.setattr("wulf.workflow.search.run.run_search", lambda *_, **__: None)
    monkeypatch.setattr("wulf.cli.search.command._show", lambda *_, **__: 0)
    assert (
        run(str(path), "--launcher", "local", "--nodes", "n1", "--out", str(tmp_path / "run"), *words).exception is None
    )
    assert given[0].recipe.wanted == wanted


PLAN = {
    "settings": [{"name": "nic.mtu", "now": ["1500 B"], "tried": ["1500 B", "9000 B"]}],
    "risks": ["The link goes down for a moment."],
}


@pytest.mark.parametrize("what", ["own", "hpl"])
def test_settings_are_planned_without_apply_and_varied_with_it(what, tmp_path, monkeypatch):
    path, asked = tmp_path / "my.toml", []
    path.write_text(f'{OWN}[settings]\n"nic.mtu" = [1500, 9000]\n')

    def plan(_, settings, command, **__):
        asked.append((dict(settings), command[0]))
        return PLAN

    monkeypatch.setattr("wulf.workflow.search.settings.plan_of_settings", plan)
    first = (str(path),) if what == "own" else ("hpl", "--settings", "nic.mtu=1500:9000")
    words = (*first, "--launcher", "local", "--nodes", "n1", "--out", str(tmp_path / "run"))
    found = run(*words)
    assert asked == [({"nic.mtu": (1500, 9000)}, "./x" if what == "own" else "HPL")]
    assert "nic.mtu: now 1500 B; tried: 1500 B, 9000 B" in found.output
    assert "Nothing was changed" in found.output
    assert json.loads(run(*words, "--json").output) == PLAN
    assert not (tmp_path / "run").exists()

    given = {}
    monkeypatch.setattr("wulf.workflow.search.run.run_search", lambda *_, **more: given.update(more))
    monkeypatch.setattr("wulf.cli.search.command._show", lambda *_, **__: 0)
    run(*words, "--apply")
    assert given["around"] is not None


@pytest.mark.parametrize(
    ("values", "said"), [("[true, 9000]", "has True"), ('["1500", 9000]', "of type int"), ("[1500]", "two values")]
)
def test_values_of_settings_are_of_their_type(tmp_path, values, said):
    path = tmp_path / "my.toml"
    path.write_text(f'{OWN}[settings]\n"nic.mtu" = {values}\n')
    found = run(str(path), "--launcher", "local", "--nodes", "n1").exception
    assert said in f"{found.what} {found.next_step}"


@pytest.mark.parametrize("words", [("--help",), ("hpl", "--help"), ("own", "--help"), ("resume", "--help")])
def test_help_has_an_example(words):
    assert "Example" in run(*words).output
