"""A sentry's state, changed in one value: a disk that forgot some bits, or a hand that helped."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.unit.sentry.making import made
from wulf.sentry.plan import read_plan
from wulf.sentry.state import SentryState

PLAN = resources.files("wulf.sentry").joinpath("example.toml").read_bytes()

MUTATIONS = 60
"""Of a state."""

VALUES = (
    "x", "", "[[[", "[1", "{}", "[null]", "\x1b[31m\u202e", "9" * 400, -1, -1.0, 0, 2**62, 1e308, float("inf"),
    b"\x00\xff",
)  # fmt: skip


def make_sound(folder: Path) -> bytes:
    """The file of a small cluster's."""
    path, plan = made(folder / "sound.db", nodes=20, days=40), folder / "plan.toml"
    plan.write_bytes(PLAN)
    with SentryState(path) as state:
        state.keep_text("plan", read_plan(plan).model_dump_json())
    return path.read_bytes()


def changed_state(sound: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """What was changed, and the file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        for _ in range(MUTATIONS):
            path.write_bytes(sound)
            with closing(sqlite3.connect(path)) as db:
                what = _change(db, chance)
            yield what, path.read_bytes()
    for _ in range(MUTATIONS // 2):
        content = bytearray(sound)
        at = chance.randrange(len(content))
        content[at : at + 8] = chance.randbytes(8)
        yield f"random bytes at byte {at}", bytes(content)
    for _ in range(4):
        at = chance.randrange(len(sound))
        yield f"cut at byte {at}", sound[:at]


def _change(db: sqlite3.Connection, chance: random.Random) -> str:
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    db.execute("PRAGMA ignore_check_constraints = ON")
    while True:
        table = chance.choice(tables)
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        column, value = chance.choice(columns), chance.choice(VALUES)
        try:
            done = db.execute(f"UPDATE {table} SET {column} = ?", (value,))
        except sqlite3.IntegrityError:  # a key, of each row once
            continue
        if done.rowcount:
            db.commit()
            return f"{table}.{column} is {value!r:.40}"
