"""Spaces, conditions, and my.toml."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from wulf.core.errors import UsageError
from wulf.search.expression import Expression
from wulf.search.own import own_of, read_own
from wulf.search.space import Knob, Space, configuration_text
from wulf.search.stages.screening import screening_runs

GOOD = {
    "command": "./solve --block {block} -n {n}",
    "figure": "GFLOPS: ([0-9.]+)",
    "unit": "flop/s",
    "conditions": ["block * threads <= 256"],
    "sizes": {"name": "n", "values": [500, 1000], "power": 3},
    "parameters": {
        "block": {"from": 32, "to": 128, "times": 2},
        "threads": {"values": [1, 4], "environment": "OMP_NUM_THREADS"},
    },
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("p * q == ranks", True),
        ("1 <= p <= q", True),
        ("p > 2 or q % 2 == 1", False),
        ("not (p == 2 and q == 4)", False),
        ("-p + 8 / 2 >= 2", True),
        ("name == 'ring'", True),
    ],
)
def test_conditions(text, holds):
    names = frozenset({"p", "q", "ranks", "name"})
    assert Expression(text, names).holds({"p": 2, "q": 4, "ranks": 8, "name": "ring"}) is holds


@pytest.mark.parametrize(
    "text",
    ["p +", "other == 1", "__import__('os')", "p.real", "[p]", "p ** 99999999", "(" * 400, "p" * 501, "lambda: p"],
)
def test_conditions_that_are_none(text):
    with pytest.raises(UsageError):
        Expression(text, frozenset({"p"}))


@pytest.mark.parametrize(
    "text", ["p / 0 == 1", "p < 'x'", "p == 'a' * 10000000000", "p == '%1000000000d' % p", "p == 'a' + 'b'"]
)
def test_conditions_that_cannot_be_told(text):
    with pytest.raises(UsageError, match="can't be told for p = 2"):
        Expression(text, frozenset({"p"})).holds({"p": 2})


def test_spread_uses_every_value_alike_and_meets_conditions():
    space = Space((Knob("a", (1, 2, 3), 1), Knob("b", (1, 2, 3), 1)), ("a != b or a == 1",))
    found = space.spread(6, Random(0))
    assert len(set(found)) == 6
    assert all(space.fits(one) for one in found)
    assert set(space.spread(100, Random(0))) == set(space.all())


def test_screening_of_many_knobs_still_varies_all():
    space = Space(tuple(Knob(f"k{i}", (0, 1, 2), 0) for i in range(30)))
    runs = screening_runs(space, Random(0))
    assert all(len({one[k] for one in runs}) > 1 for k in range(30))


@pytest.mark.parametrize(
    ("knobs", "conditions", "said"),
    [
        ((Knob("a", (1,), 1),), (), "nothing to search"),
        ((Knob("a", (1, 2), 1), Knob("a", (1, 2), 1)), (), "twice"),
        ((Knob("a", (1, 2), 1),), ("a == 2",), "the default"),
    ],
)
def test_spaces_that_make_no_sense(knobs, conditions, said):
    with pytest.raises(UsageError, match=said):
        Space(knobs, conditions)


def test_own_file_is_understood():
    own = own_of(GOOD, {})
    assert [knob.values for knob in own.knobs] == [(32, 64, 128), (1, 4)]
    words, environment = own.filled({"block": 64, "threads": 4, "n": 1000})
    assert words == ("./solve", "--block", "64", "-n", "1000")
    assert environment == {"OMP_NUM_THREADS": "4"}
    assert own.better == "higher"
    assert own.sizes == (500.0, 1000.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"command": ""}, "command is missing"),
        ({"command": "./x {blocks} {n}"}, "{blocks} is no parameter"),
        ({"command": "./x {n}"}, "block has no place"),
        ({"command": "./x {block}"}, "sizes.name = 'n' has no place"),
        ({"better": "faster"}, "better = 'faster'"),
        ({"parameter": {}}, "parameter is no field"),
        ({"timeout": "1h"}, "timeout = '1h'"),
        ({"sizes": {"name": "n", "values": [1000, 500]}}, "do not ascend"),
        ({"sizes": {"values": [500]}}, "sizes.name is missing"),
        ({"conditions": ["blocks > 1"]}, "speaks of 'blocks'"),
        ({"settings": {"nic.mtuu": [1, 2]}}, "settings.nic.mtuu is no setting"),
        ({"parameters": {"block": {"from": 1, "to": 9}, "threads": {"values": [1]}}}, "block.values is missing"),
        ({"parameters": {"block": {"values": [1, 2], "default": 3}}}, "default = 3 is none"),
        ({"parameters": {"block": {"from": 1, "to": 1e9, "step": 1}}}, "more than 1000 values"),
        ({"parameters": {"block": 3}}, "parameters.block = 3 is no table"),
    ],
)
def test_own_files_that_are_wrong_name_field_and_value(change, said):
    with pytest.raises(UsageError) as error:
        own_of({**GOOD, **change}, {})
    assert said in error.value.what


def test_a_space_is_without_what_is_refused_but_for_defaults():
    space = Space((Knob("a", (1, 2, 4), 1), Knob("b", (True, False), True)))
    left = space.without([("a", 2), ("a", 1), ("b", 0), ("c", 4)])
    assert left.knobs == (Knob("a", (1, 4), 1), Knob("b", (True, False), True))
    assert space.without([("b", False)]).knobs[1].values == (True,)
    with pytest.raises(UsageError, match="nothing to search"):
        space.without([("a", 2), ("a", 4), ("b", False)])


def test_values_are_said_as_they_are_given():
    """`--settings nic.tso=true:false` takes them, and a program's own file."""
    one = Space((Knob("nic.tso", (True, False), default=False), Knob("scale", (1000.0, 0.5), default=0.5)))
    assert one.text((True, 0.5)) == "nic.tso=true scale=0.5"
    assert configuration_text({"nic.tso": False, "scale": 1000.0}) == "nic.tso=false scale=1000"


def test_own_file_errors_name_the_file(tmp_path: Path):
    path = tmp_path / "my.toml"
    with pytest.raises(UsageError, match=r"my.toml can't be read"):
        read_own(path)
    path.write_text("command =")
    with pytest.raises(UsageError, match=r"my.toml can't be read: it is no TOML"):
        read_own(path)
    path.write_text('command = "x {a}"\n[parameters.a]\nvalues = []\n')
    with pytest.raises(UsageError, match=r"my.toml: parameters.a.values is empty"):
        read_own(path)
