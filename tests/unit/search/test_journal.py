"""A journal brings a search to where it was, whatever ended it."""

from __future__ import annotations

import pytest

from tests.running.tiers import first_of
from tests.unit.search.synthetic import plan, runner
from wulf.core.errors import UsageError
from wulf.search.journal import NAME, Journal, JournalError, conduct, drive
from wulf.search.trial import Outcome, Trial


class Killed(BaseException):
    """kill -9, as far as the search can tell."""


def dying(run, after):
    """A runner that dies at a trial, which is then run but not written."""

    def once(trial: Trial) -> Outcome:
        if trial.number == after:
            raise Killed
        return run(trial)

    return once


def fixed(trial: Trial) -> Outcome:
    """An outcome that depends on the trial alone."""
    return runner(0.02, seed=trial.number)(trial)


@pytest.mark.parametrize("after", first_of([20, 0, 1, 40, 55]))
def test_killed_and_resumed_it_ends_as_if_it_had_not_been(tmp_path, after):
    straight = drive(plan(), fixed)
    with Journal.begin(tmp_path / NAME, plan(), {}) as journal, pytest.raises(Killed):
        conduct(journal, dying(fixed, after))
    ran = []

    def counted(trial: Trial) -> Outcome:
        ran.append(trial.number)
        return fixed(trial)

    with Journal.resume(tmp_path / NAME) as journal:
        found = conduct(journal, counted)
    assert found.history.lines == straight.history.lines
    assert found.winner == straight.winner
    assert ran == list(range(after, len(straight.history.lines)))


def test_a_torn_last_line_is_run_again(tmp_path):
    path = tmp_path / NAME
    with Journal.begin(path, plan(), {"name": "x"}) as journal, pytest.raises(Killed):
        conduct(journal, dying(fixed, 10))
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    with Journal.resume(path) as journal:
        assert len(journal.recorded) == 9
        assert journal.about == {"name": "x"}
        conduct(journal, dying(fixed, 10)) if False else None
    assert path.read_bytes() == whole[: whole.rstrip(b"\n").rfind(b"\n") + 1]


def test_no_link_in_its_place_is_written_through(tmp_path):
    path, target = tmp_path / NAME, tmp_path / "passwd"
    with Journal.begin(target, plan(), {}) as journal, pytest.raises(Killed):
        conduct(journal, dying(fixed, 3))
    target.write_bytes(target.read_bytes()[:-7])
    before = target.read_bytes()
    path.symlink_to(target)
    with pytest.raises(JournalError, match="symbolic links"):
        Journal.resume(path)
    assert target.read_bytes() == before


def test_a_journal_is_not_begun_over(tmp_path):
    Journal.begin(tmp_path / NAME, plan(), {})
    with pytest.raises(JournalError, match="there already"):
        Journal.begin(tmp_path / NAME, plan(), {})


def test_a_journal_of_another_search_is_refused(tmp_path):
    path = tmp_path / NAME
    with Journal.begin(path, plan(), {}) as journal, pytest.raises(Killed):
        conduct(journal, dying(fixed, 10))
    text = path.read_text().replace('"seed":1', '"seed":2', 1)
    path.write_text(text)
    with Journal.resume(path) as journal, pytest.raises(JournalError, match="not the one that this search makes"):
        conduct(journal, fixed)


@pytest.mark.parametrize("content", ["", "{}\n", "no JSON\n", '{"plan": {"version": 99}, "about": {}}\n'])
def test_what_is_no_journal_is_said_to_be_none(tmp_path, content):
    path = tmp_path / NAME
    path.write_text(content)
    with pytest.raises((JournalError, UsageError)):
        Journal.resume(path)


def test_a_journal_that_is_not_there(tmp_path):
    with pytest.raises(JournalError, match="can't be read"):
        Journal.resume(tmp_path / NAME)
