"""Both text formats, line by line; and that no label drives a parser."""

from __future__ import annotations

import re
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.scrape.openmetrics import Family, Form, escaped, exposition, preferred

NODES = Family("wulf_nodes", "Nodes.", samples=[({}, 3)])
ABOUT = Family("wulf", 'Says "who".', "info", samples=[({"version": "1"}, 1.0)])
EVENTS = Family("wulf_events", "What\nhappened.", "counter", samples=[({"what": "opened"}, 2.0), ({"what": "x"}, 0.0)])
AGE = Family("wulf_age_seconds", "Age.", unit="seconds", samples=[({"node": "n1", "of": "a"}, 1.5)])
ALL = (NODES, ABOUT, EVENTS, AGE, Family("wulf_none", "Nothing."))

OPENMETRICS = r"""# TYPE wulf_nodes gauge
# HELP wulf_nodes Nodes.
wulf_nodes 3
# TYPE wulf info
# HELP wulf Says \"who\".
wulf_info{version="1"} 1.0
# TYPE wulf_events counter
# HELP wulf_events What\nhappened.
wulf_events_total{what="opened"} 2.0
wulf_events_total{what="x"} 0.0
# TYPE wulf_age_seconds gauge
# UNIT wulf_age_seconds seconds
# HELP wulf_age_seconds Age.
wulf_age_seconds{node="n1",of="a"} 1.5
# EOF
"""
TEXT = r"""# HELP wulf_nodes Nodes.
# TYPE wulf_nodes gauge
wulf_nodes 3
# HELP wulf_info Says "who".
# TYPE wulf_info gauge
wulf_info{version="1"} 1.0
# HELP wulf_events_total What\nhappened.
# TYPE wulf_events_total counter
wulf_events_total{what="opened"} 2.0
wulf_events_total{what="x"} 0.0
# HELP wulf_age_seconds Age.
# TYPE wulf_age_seconds gauge
wulf_age_seconds{node="n1",of="a"} 1.5
"""

LABELS = re.compile(r'\w+\{a="((?:[^"\\\n]|\\["\\n])*)",b="((?:[^"\\\n]|\\["\\n])*)"\} 1\.0\n')


def unescaped(text: str) -> str:
    """As Prometheus's lexers read it."""
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)


@pytest.mark.parametrize(("form", "expected"), [(Form.OPENMETRICS, OPENMETRICS), (Form.TEXT, TEXT)])
def test_each_line_of_both_formats(form: Form, expected: str) -> None:
    assert exposition(ALL, form) == expected


def test_without_any_family_there_is_the_end_alone() -> None:
    assert exposition([], Form.OPENMETRICS) == "# EOF\n"


@given(st.text(max_size=20), st.text(st.sampled_from('\\"\n\r\0\ud800\udfff\u2028{},= né'), max_size=20))
def test_a_label_is_one_label_whatever_it_holds(one: str, other: str) -> None:
    family = Family("wulf_x", one + other, samples=[({"a": one, "b": other}, 1.0)])
    for form in Form:
        text = exposition([family], form)
        lines = text.split("\n")
        assert len(lines) == (5 if form is Form.OPENMETRICS else 4), "a line more is a sample that nobody wrote"
        found = LABELS.fullmatch(lines[2] + "\n")
        assert found is not None
        clean = [re.sub("[\0\ud800-\udfff]", "\ufffd", each) for each in (one, other)]
        assert [unescaped(each) for each in found.groups()] == clean
        assert text.encode()


def test_what_is_plain_stays_as_it_is() -> None:
    assert escaped("n[1-2], é") == "n[1-2], é"


@pytest.mark.parametrize(("value", "text"), [(inf, "+Inf"), (-inf, "-Inf"), (nan, "NaN"), (1e-9, "1e-09"), (3, "3")])
def test_numbers(value: float, text: str) -> None:
    assert exposition([Family("x", "X.", samples=[({}, value)])], Form.TEXT).endswith(f"\nx {text}\n")


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form.TEXT), ("*/*", Form.TEXT), ("text/plain", Form.TEXT),
        ("application/openmetrics-text", Form.OPENMETRICS),
        # Prometheus 2.42, 2.53 and 2.5
        ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", Form.OPENMETRICS),
        ("text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;q=0.4,*/*;q=0.2", Form.TEXT),
        ("application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", Form.TEXT),
        ("APPLICATION/OPENMETRICS-TEXT; VERSION=1.0.0; q=0.2", Form.OPENMETRICS),
        ("application/openmetrics-text;q=0", Form.TEXT), ("application/openmetrics-text;q=NaN", Form.TEXT),
        (";;,=,q=1", Form.TEXT),
    ],
)  # fmt: skip
def test_the_format_is_the_one_that_is_asked_for(accept: str, form: Form) -> None:
    assert preferred(accept) is form


@given(st.text())
def test_no_accept_breaks_it(accept: str) -> None:
    assert preferred(accept) in Form
