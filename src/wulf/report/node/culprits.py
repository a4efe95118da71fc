"""Who took the CPU: a table by culprit, and a picture of the worst detours: who ran when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from wulf.core.names import natural, plural
from wulf.core.records import Record, Verdict
from wulf.core.units import scale_for, show
from wulf.measure.node.culprits import (
    CLASSES,
    EXPLAINED,
    PROBE,
    AllTaken,
    Detour,
    Key,
    Taken,
    culprits_in,
    key_of,
    share_of_lost,
    totals_in,
)
from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.figures import MARKS
from wulf.report.kit.view import Cell, Columns, Drawing, Element, Fold, Note, Row, Section
from wulf.report.node.noise import share_scale

SCRIPTS = ("report.js", "culprits.js")

MOST_CULPRITS, MOST_PRINTED_CPUS = 8, 6
"""Of a CPU; and CPUs in a terminal, those that lose most."""

MOST_DETOURS = 8
"""Of all CPUs, in the picture and its table."""

BAR = 24
"""Characters of a detour's timeline in a table."""

LETTERS = {
    "interrupt": "i", "softirq": "s", "timer": "t", "nmi": "n", "kernel_thread": "K", "task": "T", "idle": "0",
    "entry": "·", "unexplained": "?", "unknown": "!",
}  # fmt: skip
"""Class of a culprit → what stands for it in a timeline."""

PLAIN = frozenset({"entry", "unexplained", "unknown"})
"""Classes that nobody stands behind."""

ADDING = "Shares are means over the replicates, with Student's intervals, so that they add up to all."

READING = (
    "Each line is one time in which the loop did not run: who had the CPU, from its beginning on. A stretch is told of "
    "the innermost, as of an interrupt within a task."
)

Place = tuple[str, int]


def culprit_sections(records: Sequence[Record]) -> list[Section]:
    """Who took which CPU, the worst detours, and what tracing cost; nothing where nobody asked."""
    totals = totals_in(records)
    if not totals:
        return []
    own = culprits_in(records)
    places = sorted(totals, key=lambda place: (natural(place[0]), place[1]))
    printed = set(sorted(places, key=lambda place: -(totals[place].value or 0.0))[:MOST_PRINTED_CPUS])
    body: list[Element | str] = [_table([place for place in places if place in printed], totals, own)]
    if left := [place for place in places if place not in printed]:
        body.append(Fold("The other CPUs", [_table(left, totals, own)], printed=False))
        body.append(Note(f"{plural(len(left), 'CPU')} that lose less are on the page, and in records.jsonl."))
    body += [Note(ADDING, reading=True), *(Note(text) for text in costs(records))]
    return [
        Section("Who took the CPU", key="culprits", link="Culprits", body=body),
        *_worst(totals),
    ]


def place_name(place: Place) -> str:
    """`n1 CPU 3`."""
    return f"{place[0]} CPU {place[1]}"


def _table(places: Sequence[Place], totals: Mapping[Place, Record], own: Mapping[Place, Sequence[Record]]) -> Columns:
    rows: list[Row] = []
    for place in places:
        total = totals[place]
        rows.append((place_name(place), Cell("all", "strong"), *_figures(total), "100 %", "", ""))
        rows += [
            (place_name(place), _who(key_of(record), said), *_figures(record), *_more(said))
            for record in own.get(place, [])[:MOST_CULPRITS]
            for said in [record.said(Taken)]
        ]
    heads = ["Where", "Who", "Share", "Interval", "Of lost", "A second", "Longest"]
    return Columns(heads, rows, words=2, merged=True)


def _who(key: Key, taken: Taken) -> Cell:
    pids = taken.get("pids") or []
    said = [EXPLAINED[key.kind]] if key.kind in EXPLAINED else []
    said += [f"pid {pids[0]}"] if len(pids) == 1 else [plural(len(pids), "process", "processes")] if pids else []
    return Cell(key.text, small=said)


def _figures(record: Record) -> tuple[Cell, str]:
    if record.value is None:
        return Cell("–", str(record.verdict)), record.reason or ""
    divisor, unit = share_scale(record.high or record.value, "1")
    mark = MARKS[record.verdict] if record.verdict is not Verdict.OK else ""
    value = Cell(f"{record.value / divisor:.3g} {unit}{mark}", str(record.verdict) if mark else "strong")
    if record.low is None or record.high is None:
        return value, "–"
    return value, f"{record.low / divisor:.3g}–{record.high / divisor:.3g} {unit}"


def _more(taken: Taken) -> tuple[str, str, str]:
    part = share_of_lost(taken)
    return (
        "–" if part is None else f"{100 * part:.3g} %",
        show(taken.get("rate", 0.0), "Hz", 2),
        show(taken.get("longest", 0.0), "s", 3),
    )


def costs(records: Sequence[Record]) -> list[str]:
    """What tracing added to the loss, a sentence a CPU, of the worst three."""
    added = [
        record
        for record in records
        if record.params.get("pattern") == PROBE and record.metric == "added" and record.value is not None
    ]
    told = []
    for record in sorted(added, key=lambda one: -abs(one.value or 0.0))[:3]:
        place = place_name((record.subject, int(record.number("cpu", 0))))
        interval = "" if record.low is None or record.high is None else f" ({record.low:.2%} to {record.high:.2%})"
        told.append(
            f"{place}: tracing itself added {record.value:.2%}{interval} of the CPU's time, by slices without it "
            "between those with it."
        )
    return told


def _worst(totals: Mapping[Place, Record]) -> list[Section]:
    found = [(place, detour) for place, record in totals.items() for detour in record.said(AllTaken).get("detours", [])]
    found = sorted(found, key=lambda one: -one[1]["length"])[:MOST_DETOURS]
    if not found:
        return []
    rows: list[Row] = [(place_name(place), show(one["length"], "s"), timeline(one), told(one)) for place, one in found]
    used = {piece["class"] for _, one in found for piece in one["pieces"]}
    legend = ", ".join(f"{LETTERS[kind]} {CLASSES[kind]}" for kind in LETTERS if kind in used)
    about = "the worst detours as timelines: who ran when; the table has the same in words"
    drawing = Drawing("culprits-worst", partial(detour_chart, found), about, SCRIPTS, low=True)
    table = Columns(["Where", "Length", "Who ran when", "Who, for how long"], rows, words=1, tail=2)
    body: list[Element | str] = [Note(READING, reading=True), drawing, table, Note(legend)]
    return [Section("The worst detours", key="detours", link="Detours", body=body)]


def timeline(detour: Detour) -> str:
    """A letter for each equal part of a detour: of who had the most of it."""
    length = detour["length"]
    letters = []
    for column in range(BAR):
        start, end = length * column / BAR, length * (column + 1) / BAR
        kinds: dict[str, float] = {}
        for piece in detour["pieces"]:
            overlap = min(end, piece["at"] + piece["length"]) - max(start, piece["at"])
            if overlap > 0:
                kinds[piece["class"]] = kinds.get(piece["class"], 0.0) + overlap
        letters.append(LETTERS.get(max(kinds, key=lambda kind: kinds[kind]), " ") if kinds else " ")
    return "".join(letters)


def told(detour: Detour, most: int = 3) -> str:
    """Who took most of a detour: `task make 16.7 ms, kernel entry 20 µs`."""
    sums: dict[Key, float] = {}
    for piece in detour["pieces"]:
        key = Key(piece["class"], piece["name"])
        sums[key] = sums.get(key, 0.0) + piece["length"]
    ordered = sorted(sums.items(), key=lambda one: -one[1])
    more = len(ordered) - most + (detour.get("more", 0) > 0)
    said = [f"{key.text} {show(seconds, 's')}" for key, seconds in ordered[:most]]
    return ", ".join(said) + (f" and {more} more" if more > 0 else "")


def detour_chart(found: Sequence[tuple[Place, Detour]]) -> Chart:
    """A bar a detour, in pieces; a series a class of culprits."""
    divisor, unit = scale_for(max(one["length"] for _, one in found), "s")
    classes: dict[str, dict[str, list[Any]]] = {}
    for row, (_, one) in enumerate(found):
        for piece in one["pieces"]:
            kind = piece["class"]
            own = classes.setdefault(kind, {"at": [], "length": [], "row": [], "hover": []})
            own["at"].append(piece["at"] / divisor)
            own["length"].append(piece["length"] / divisor)
            own["row"].append(row)
            key = Key(kind, piece["name"])
            pid = [f"pid {piece['pid']}"] if "pid" in piece else []
            own["hover"].append(hover(key.text, [show(piece["length"], "s"), *pid]))
    return {
        "kind": "detours",
        "rows": [label(place_name(place), 24) for place, _ in found],
        "xTitle": unit,
        "classes": [
            {"name": label(CLASSES.get(kind, kind)), "plain": kind in PLAIN, "faint": kind == "entry", **classes[kind]}
            for kind in [*LETTERS, *(set(classes) - set(LETTERS))]
            if kind in classes
        ],
    }


def answer(records: Sequence[Record]) -> str:
    """What a CPU loses that loses most, and to whom."""
    totals = totals_in(records)
    if not totals:
        return ""
    place = max(totals, key=lambda one: totals[one].value or 0.0)
    total = totals[place]
    if total.value is None:
        return ""
    own = culprits_in(records).get(place, [])
    first = own[0] if own else None
    part = share_of_lost(first.said(Taken)) if first else None
    most = f"; {part:.0%} of that: {key_of(first).text}" if first is not None and part is not None else ""
    interval = "" if total.low is None or total.high is None else f" ({total.low:.2%} to {total.high:.2%})"
    among = "" if len(totals) == 1 else f", the most of {len(totals):,} CPUs"
    return f"{place_name(place)} loses {total.value:.2%} of its time{interval}{among}{most}."
