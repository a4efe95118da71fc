"""What counts as a clear error, and that every reader and option is reached."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.process.cli.bad_input import options
from tests.process.cli.bad_input.trial import CPU_SECONDS, MEMORY, End, Input, trouble

ONE = Input("options of survey", "--seed x", ("survey", "--seed=x"), wanted="refused")
REFUSED = End(2, 0.1, 1 << 20, hung=False, out="", err="error: 'x' is no number\n")


def test_an_error_of_usage_that_is_told_is_what_is_wanted() -> None:
    assert trouble(ONE, REFUSED) is None
    assert trouble(replace(ONE, wanted="either"), replace(REFUSED, code=3)) is None


def test_where_the_sound_one_is_refused_the_others_prove_nothing() -> None:
    assert (trouble(replace(ONE, wanted="taken"), REFUSED) or "").startswith("sound")
    assert trouble(replace(ONE, wanted="taken"), replace(REFUSED, code=3)) is None


@pytest.mark.parametrize(
    ("end", "what"),
    [
        (replace(REFUSED, hung=True, code=-9), "hang"),
        (replace(REFUSED, code=1, err="Traceback (most recent call last):\n"), "traceback"),
        (replace(REFUSED, err="error: <wulf.Run object at 0x7f>"), "traceback"),
        (replace(REFUSED, code=70), "exit code 70"),
        (replace(REFUSED, code=-11), "exit code -11"),
        (replace(REFUSED, cpu=CPU_SECONDS + 0.1), "time"),
        (replace(REFUSED, memory=MEMORY + 1), "memory"),
        (replace(REFUSED, replaced="a-device"), "replaced"),
        (replace(REFUSED, code=0), "silent"),
        (replace(REFUSED, code=3), "silent"),
        (replace(REFUSED, err=" \n"), "mute"),
        (replace(REFUSED, err="9" * 5000), "long"),
        (replace(REFUSED, err="error: \x1b[31m is no number"), "raw"),
        (replace(REFUSED, out="\u202e"), "raw"),
    ],
)
def test_every_other_end_is_a_defect(end: End, what: str) -> None:
    assert (trouble(ONE, end) or "").startswith(what)


def test_every_option_of_every_command_is_given_what_it_can_not_take() -> None:
    given = list(options.inputs())
    begun = {one.words[:length] for one in given for length in (1, 2)}
    lacking = [
        name
        for name, command in options.commands()
        if tuple(name.split()) not in begun and not all(getattr(one, "is_flag", False) for one in command.params)
    ]
    assert set(lacking) == set(options.LEFT_OUT)
    assert len(given) > 4000
    assert sum(one.wanted == "refused" for one in given) > 1500
