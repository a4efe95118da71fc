"""`python -m bench.trace.wild [NAME …]`: other tools' public traces fetched, imported and replayed.

The page: docs/how-it-works/trace-wild.md.

bench/data/wild.toml lists them: where each lies in a public repository, at which commit, and as what it is read. From
GitHub git fetches the named files alone; `--mirrors FOLDER` takes them from repositories that lie there, each as
OWNER+NAME/repo. Nothing of them stays, unless `--keep FOLDER` says where. Binary traces go through the printer of
their own tool (`otf2-print`, `dumpi2ascii`), where that is installed. A trace that can't be had, or read, is a row of
the table; the others go on.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.engine.context import say
from bench.engine.errors import BenchError, told
from bench.engine.places import DATA, DOCS
from bench.report.docs import rewrite
from bench.trace.archives import Entry, entries_of, fetched, given_files, printed
from wulf.core.errors import WulfError
from wulf.core.units import show
from wulf.model.foresight.forecast import LEAST_DRAWS
from wulf.model.foresight.prediction import Prediction
from wulf.store.run import RunWriter
from wulf.workflow.foresight.predict import predict
from wulf.workflow.foresight.replaying import Replay, replay_session
from wulf.workflow.foresight.scene import Wanted
from wulf.workflow.foresight.traced import find_trace, read_traced
from wulf.workflow.model.networks import find_network
from wulf.workflow.trace.files import import_trace

LIST = DATA / "wild.toml"
PAGE = DOCS / "how-it-works" / "trace-wild.md"

BASELINE, CANDIDATE = "gbe", "25gbe"
"""Two networks that wulf brings along: on which all are replayed."""

LONGEST = 200
"""Letters of a cell of the table."""

DEFECT = "DEFECT"
"""How a row begins whose error is none that wulf raises on purpose."""


@dataclass(frozen=True)
class Row:
    """What came of one trace.

    Attributes
    ----------
    ranks, operations
        As the replay has them.
    left_out
        Notes of the import, and calls that the replay does not have.
    traced
        Seconds that the program took; None where the trace does not say.
    seconds
        Of the replay on the two networks.
    error
        Why there is nothing of all this, in one line; "": there is.
    """

    entry: Entry
    ranks: int = 0
    operations: int = 0
    left_out: str = ""
    traced: float | None = None
    seconds: tuple[float, ...] = ()
    error: str = ""


def row_of(entry: Entry, notes: Sequence[str], found: Prediction) -> Row:
    """The row of a trace that was replayed: run times as the replay has them, before any calibration."""
    missing = [f"{one.calls} × {one.what} not modelled" for one in found.program.left_out]
    forecasts = (found.baseline, *(one.forecast for one in found.candidates))
    return Row(
        entry, found.program.ranks, found.program.ops, "; ".join([*notes, *missing]), found.traced.seconds,
        tuple(one.replayed for one in forecasts),
    )  # fmt: skip


def tried(entry: Entry, folder: Path, mirrors: Path | None) -> Row:
    """One trace, fetched, imported and replayed in an empty folder; what fails there is told in the row."""
    try:
        return _replayed(entry, folder, mirrors)
    except (BenchError, WulfError) as error:
        what = error.what if isinstance(error, WulfError) else str(error)
        return Row(entry, error=_plain(what, folder))
    except Exception as error:  # noqa: BLE001 - a defect of wulf is a row, too, and is shown whole to who runs this
        say(traceback.format_exc())
        return Row(entry, error=f"{DEFECT}: {type(error).__name__}: {_plain(str(error), folder)}")


def _replayed(entry: Entry, folder: Path, mirrors: Path | None) -> Row:
    source, texts, run = (folder / name for name in ("source", "texts", "run"))
    source.mkdir(parents=True)
    texts.mkdir()
    fetched(entry, source, mirrors)
    files = printed(entry, given_files(entry, source), texts)
    with RunWriter(run, "trace", {"argv": [], "nodes": []}) as writer:
        notes = import_trace(files, entry.format, writer, options=entry.options).result["notes"]
    wanted = Wanted([find_network(CANDIDATE, None)], draws=LEAST_DRAWS)
    with replay_session() as session:
        traced = read_traced(find_trace(str(run)))
        return row_of(entry, notes, predict(Replay(session), traced, find_network(BASELINE, None), wanted))


def _plain(text: str, folder: Path) -> str:
    """One line, without the folder that was only made for this."""
    short = re.sub(rf"{re.escape(str(folder))}/(?:source|texts|run)/", "", text)
    return " ".join(short.split())


def table(rows: Sequence[Row]) -> str:
    """All of them in Markdown."""
    heads = ("trace", "format", "ranks", "operations", "traced", BASELINE, CANDIDATE, "left out, or why refused")
    lines = [f"| {' | '.join(heads)} |", "|---|---|--:|--:|--:|--:|--:|---|"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    first = [f"{row.entry.name}", row.entry.format]
    if row.error:
        return [*first, *["–"] * 5, f"**{_cell(row.error)}**"]
    times = [show(value, "s") for value in (row.traced, *row.seconds)]
    return [*first, f"{row.ranks:,}", f"{row.operations:,}", *times, _cell(row.left_out or "nothing")]


def _cell(text: str) -> str:
    text = text.replace("|", "\\|")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def places(rows: Sequence[Row]) -> str:
    """Where each of them lies."""
    return "\n".join(f"- {row.entry.name}: {row.entry.source}" for row in rows)


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 also where traces were refused; 1 wulf itself failed at one; 2 there is no such list or name."""
    parser = argparse.ArgumentParser(prog="python -m bench.trace.wild", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these of the list")
    parser.add_argument("--list", type=Path, default=LIST, help="the list of traces [bench/data/wild.toml]")
    parser.add_argument("--mirrors", type=Path, metavar="FOLDER", help="repositories as OWNER+NAME/repo, not GitHub's")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was fetched and imported there")
    parser.add_argument("--docs", action="store_true", help="rewrite docs/how-it-works/trace-wild.md")
    chosen = parser.parse_args(arguments)
    entries = _chosen(entries_of(chosen.list.read_text(encoding="utf-8")), chosen.names)
    with _folder(chosen.keep) as folder:
        rows = list(_rows(entries, folder, chosen.mirrors))
    made = f"{table(rows)}\n\nWhere they lie:\n\n{places(rows)}"
    print(made)
    if chosen.docs:
        rewrite(PAGE, made)
    return int(any(row.error.startswith(DEFECT) for row in rows))


def _chosen(entries: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    known = {one.name for one in entries}
    if absent := [name for name in names if name not in known]:
        raise BenchError(f"the list has no trace {absent[0]!r}; it has {', '.join(sorted(known))}")
    return [one for one in entries if not names or one.name in names]


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="wulf-wild-") as name:
        yield Path(name)


def _rows(entries: Sequence[Entry], folder: Path, mirrors: Path | None) -> Iterator[Row]:
    for number, entry in enumerate(entries):
        say(f"{entry.name} ({number + 1} of {len(entries)})")
        yield tried(entry, folder / f"{number:02d}", mirrors)


if __name__ == "__main__":
    sys.exit(main())
