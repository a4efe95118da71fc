"""Records as a table for other tools: CSV, Markdown, Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from wulf.core.files import copy_file
from wulf.core.foreign import clean
from wulf.core.names import markdown_cell as cell
from wulf.core.records import Record
from wulf.store.reading import StoreError

COLUMNS = {
    "run": "VARCHAR", "subject": "VARCHAR", "probe": "VARCHAR", "metric": "VARCHAR", "params": "VARCHAR",
    "unit": "VARCHAR", "value": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "confidence": "DOUBLE",
    "replicates": "INTEGER", "verdict": "VARCHAR", "reason": "VARCHAR", "phase": "VARCHAR", "row": "VARCHAR",
    "at": "VARCHAR",
}  # fmt: skip
"""The fields of a record that are a table's, with their types; params are JSON."""


def rows(records: Iterable[Record]) -> Iterator[list[object]]:
    """One of each record, in the order of `COLUMNS`."""
    for record in records:
        yield [
            json.dumps(record.params, ensure_ascii=False) if name == "params" else getattr(record, name)
            for name in COLUMNS
        ]


def as_csv(records: Iterable[Record]) -> str:
    """With heads (RFC 4180); what has no value is empty."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(records))
    return out.getvalue()


def as_markdown(records: Iterable[Record]) -> str:
    """A table of those columns that have something in them."""
    table = [["" if value is None else str(value) for value in row] for row in rows(records)]
    used = [number for number in range(len(COLUMNS)) if any(row[number] for row in table)]
    heads = list(COLUMNS)
    lines = [[heads[number] for number in used], ["---"] * len(used)]
    lines += [[cell(" ".join(clean(row[number]).split())) for number in used] for row in table]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_parquet(records: Iterable[Record], target: Path) -> None:
    """By DuckDB. StoreError where it can't be written."""
    import duckdb

    with TemporaryDirectory() as folder, duckdb.connect(":memory:") as db:
        text, made = Path(folder, "records.csv"), Path(folder, "records.parquet")
        text.write_text(as_csv(records), encoding="utf-8")
        db.execute(
            "CREATE TABLE records AS SELECT * FROM read_csv($text, header=true, delim=',', quote='\"', escape='\"', "
            "columns=$columns)",
            {"text": str(text), "columns": COLUMNS},
        )
        try:
            db.table("records").write_parquet(str(made))
            copy_file(made, target)
        except (duckdb.Error, OSError) as error:
            raise StoreError(
                f"{target} can't be written: {error}", "is there room, and may you write there?"
            ) from error
