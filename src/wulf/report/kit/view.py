"""What a report shows, the same in a terminal and on a page: sections of sentences, tables, charts, and sections.

A feature builds these; `terminal` and `page` render them. Texts are taken as they are: both make them printable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import isfinite, log
from typing import Any, ClassVar, NamedTuple

from wulf.stats.estimates import Interval


class Element:
    """What a section is made of, besides sentences.

    Attributes
    ----------
    kind
        Says how elements.html.j2 lays it out.
    scripts
        What a page needs that has it, of templates/, in order.
    """

    kind: ClassVar[str]
    scripts: Sequence[str] = ()


@dataclass(frozen=True)
class Span:
    """The interval of a ratio, drawn on a log scale that has 1, no difference, in its middle.

    Attributes
    ----------
    reach
        The ratio at the end of the scale, above 1; at its beginning is the inverse.
    equal
        No difference either: from the inverse of this ratio to the ratio.
    """

    low: float
    value: float
    high: float
    reach: float
    equal: float = 1.0

    def at(self, ratio: float) -> float:
        """Where a ratio stands on the scale, from 0 to 1."""
        return (log(ratio) / log(self.reach) + 1) / 2


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is more than its text.

    Attributes
    ----------
    style
        A class of report.css, whose first word is one of `terminal.STYLES`: a verdict, an answer, how far off it is.
    title
        What a page shows beside the pointer.
    small
        Lines below the text, on a page.
    brief
        What a terminal says in their place, behind the text.
    note
        Number of the footnote that says why.
    span
        What is drawn in the text's place; the text says it to those who can't see it.
    """

    text: str
    style: str = ""
    title: str = ""
    small: Sequence[str] = ()
    brief: str = ""
    note: int = 0
    span: Span | None = None


Row = Sequence[str | Cell]
"""Of a table."""


@dataclass(frozen=True)
class Columns(Element):
    """A table.

    Attributes
    ----------
    words, tail
        How many of the first and last columns are words; those between are figures.
    merged
        Rows whose first cell is alike show it once.
    alike
        Columns of figures are of one kind, as a node each: what a terminal has no room for stands below.
    most
        Rows that a terminal shows; 0: all.
    unprinted
        Columns that pages alone have: a terminal has no room for them.
    key
        What scripts and styles know it by.
    """

    kind: ClassVar[str] = "table"
    heads: Sequence[str]
    rows: Sequence[Row]
    words: int = 1
    tail: int = 0
    merged: bool = False
    alike: bool = False
    most: int = 0
    unprinted: Sequence[int] = ()
    key: str = ""

    @property
    def groups(self) -> list[list[Row]]:
        """The rows; those whose first cell is alike by themselves, where it is shown once."""
        return [list(own) for _, own in groupby(self.rows, key=lambda row: row[0])] if self.merged else [[*self.rows]]

    @property
    def figures(self) -> list[bool]:
        """Which columns hold figures, that are aligned to the right."""
        return [self.words <= column < len(self.heads) - self.tail for column in range(len(self.heads))]


@dataclass(frozen=True)
class Curve:
    """A line, or points with intervals.

    Attributes
    ----------
    low, high
        A band, or the points' intervals; empty for none.
    points
        Whether they were measured.
    dashed
        Beyond the data, or a limit.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    points: bool = False
    dashed: bool = False
    mark: str = "·"


@dataclass(frozen=True)
class Plot(Element):
    """Curves over two logarithmic axes, with the units of both.

    Attributes
    ----------
    x_ticks, x_words
        Where the horizontal axis holds what has names rather than round values: its ticks, and each value's name.
    paged
        Whether pages have it, too.
    """

    kind: ClassVar[str] = "plot"
    scripts = ("model.js",)
    key: str
    curves: Sequence[Curve]
    x_title: str
    y_title: str
    x_unit: str = "1"
    y_unit: str = "1"
    x_ticks: Sequence[tuple[float, str]] = ()
    x_words: Mapping[float, str] = field(default_factory=dict)
    paged: bool = True


WIDEST = 4.0
"""Times the largest value of a forest: intervals that reach further are cut, and their ends stand in the table."""


class ForestRow(NamedTuple):
    """A value with its interval, and a wider one of the same value where there is one."""

    name: str
    inner: Interval
    outer: Interval | None = None


@dataclass(frozen=True)
class Forest(Element):
    """Values with their intervals below each other, on one axis; `inner` and `outer` say what a row's two are."""

    kind: ClassVar[str] = "forest"
    scripts = ("tune.js",)
    key: str
    rows: Sequence[ForestRow]
    title: str
    inner: str
    outer: str = ""
    unit: str = "%"

    @property
    def axis(self) -> tuple[float, float]:
        """From where to where it is drawn: with 0, and no further than is to be seen beside the values."""
        values = [abs(row.inner.value) for row in self.rows]
        reach = WIDEST * max(values, default=0.0) or 1.0
        ends = [end for row in self.rows for one in (row.inner, row.outer or row.inner) for end in (one.low, one.high)]
        return max(-reach, min([0.0, *ends])), min(reach, max([0.0, *ends]))


@dataclass(frozen=True)
class Drawing(Element):
    """A chart that pages alone have; what it shows stands in tables, too, or is `printed`.

    Attributes
    ----------
    make
        Makes what the scripts draw at `key`, its place on the page: a terminal never asks.
    about
        What it shows, for those who can't see it.
    scripts
        Of templates/, in the order in which they are needed.
    low
        Whether it may be less high than others.
    printed
        Lines that a terminal has in its place, of so many columns at most.
    """

    kind: ClassVar[str] = "drawing"
    key: str
    make: Callable[[], Mapping[str, Any]]
    about: str
    scripts: Sequence[str] = ("report.js",)
    low: bool = False
    printed: Callable[[int], Sequence[str]] | None = None


@dataclass(frozen=True)
class Note(Element):
    """Small print; `reading`: how to read a drawing, on pages alone."""

    kind: ClassVar[str] = "note"
    text: str
    reading: bool = False


class Item(NamedTuple):
    """A heading and what is to say under it."""

    head: str
    text: str


@dataclass(frozen=True)
class Items(Element):
    """Headings with a sentence each; `numbered` where others quote their numbers."""

    kind: ClassVar[str] = "items"
    items: Sequence[Item]
    numbered: bool = False


@dataclass(frozen=True)
class Footnotes(Element):
    """Why figures are missing: what the numbers in cells stand for."""

    kind: ClassVar[str] = "footnotes"
    texts: Sequence[str]


@dataclass(frozen=True)
class Fold(Element):
    """What a page shows to those who ask; a terminal prints it as it stands, or has no room for it.

    Attributes
    ----------
    brief
        What a terminal says that has no room for it.
    paper
        On paper, too.
    asked
        What a terminal calls it that leaves it out until somebody asks; empty: it never does.
    """

    kind: ClassVar[str] = "fold"
    summary: str
    body: Sequence[Element | str]
    printed: bool = True
    brief: str = ""
    open: bool = False
    paper: bool = False
    asked: str = ""


@dataclass(frozen=True)
class Callout(Element):
    """What stands out: a word, of whom or what it is, sentences, and on a page what shows it.

    Attributes
    ----------
    style
        `bad`, `warn`, `info` or `good`.
    sign
        Of the word, read without colour.
    """

    kind: ClassVar[str] = "callout"
    style: str
    sign: str
    word: str
    head: str
    lines: Sequence[str] = ()
    next_step: str = ""
    body: Sequence[Element | str] = ()


@dataclass(frozen=True)
class SideBySide(Element):
    """Sections side by side on a page: as many as there is room for, `two` at most, or each `large`."""

    kind: ClassVar[str] = "beside"
    sections: Sequence[Section]
    width: str = ""


@dataclass(frozen=True)
class Section(Element):
    """One part of a report: sentences, a table, a plot and small print, then what else it shows.

    Attributes
    ----------
    key, link
        Its anchor on a page, and a word for the page's head that leads there.
    """

    kind: ClassVar[str] = "section"
    heading: str
    lines: Sequence[str] = ()
    table: Columns | None = None
    plot: Plot | None = None
    small: Sequence[str] = ()
    body: Sequence[Element | str] = ()
    key: str = ""
    link: str = ""

    @property
    def elements(self) -> list[Element | str]:
        """All that it shows, in order."""
        own: list[Element | None] = [self.table, self.plot]
        return [*self.lines, *(one for one in own if one is not None), *map(Note, self.small), *self.body]


@dataclass(frozen=True)
class View:
    """A whole report.

    Attributes
    ----------
    header
        Names and texts below the headline, on a page.
    brief
        The same in a line, in a terminal.
    warning
        What makes all of it doubtful.
    notes
        What to beware of.
    whole
        The command that asks for all.
    """

    title: str
    headline: str
    sections: Sequence[Section]
    notes: Sequence[str] = field(default=())
    method: str = ""
    header: Sequence[tuple[str, str]] = ()
    brief: str = ""
    warning: str = ""
    whole: str = ""


def walk(elements: Sequence[Element | str]) -> Iterator[Element | str]:
    """These elements and all within them, in order."""
    for one in elements:
        yield one
        match one:
            case Section():
                yield from walk(one.elements)
            case SideBySide():
                yield from walk(one.sections)
            case Fold() | Callout():
                yield from walk(one.body)


def interval_object(one: Interval) -> dict[str, float | None]:
    """As JSON holds it: what is unbounded is null."""
    return {name: v if isfinite(v := getattr(one, name)) else None for name in ("value", "low", "high")}
