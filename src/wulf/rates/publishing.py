"""Writing the rates file: what was measured now over what is there, atomically, one writer at a time."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wulf import __version__
from wulf.core.errors import USAGE
from wulf.core.files import appending, folder, replace_file
from wulf.rates import places
from wulf.rates.errors import RatesError, RatesMissingError
from wulf.rates.machine import Identity, differences, digest
from wulf.rates.rate import Rate
from wulf.rates.reading import MAX_BYTES, SCHEMA, Rates, load

if TYPE_CHECKING:
    from wulf.core.records import Record


class PublishError(RatesError):
    """The file can't be written; what was there is as it was."""

    exit_code = USAGE


@dataclass(frozen=True)
class Published:
    """What publishing did: the file as it now is, what was measured with a value, and what a person should know."""

    rates: Rates
    measured: int
    notes: tuple[str, ...]


def rate_of(name: str, record: Record) -> Rate:
    """The rate that a row's record gives."""
    return Rate(
        name=name, value=record.value, unit=record.unit, low=record.low, high=record.high,
        confidence=record.confidence, at=record.at, provenance=str(record.provenance), verdict=str(record.verdict),
        reason=record.reason,
    )  # fmt: skip


def rates_of(rows: Mapping[str, Record]) -> dict[str, Rate]:
    """The rates of one node's rows, by the rows' names."""
    return {name: rate_of(name, record) for name, record in rows.items()}


def merged(old: Mapping[str, Rate], new: Mapping[str, Rate]) -> dict[str, Rate]:
    """What was measured now, over what was there before; rates that were not measured keep their older time.

    An older value also stays where now there is none (the measurement failed), or only what the operating system
    reports of what had been measured.
    """
    kept = {name: rate for name, rate in old.items() if name not in new or _is_better(rate, new[name])}
    return dict(sorted({**new, **kept}.items()))


def _is_better(old: Rate, new: Rate) -> bool:
    if old.value is None:
        return False
    return new.value is None or (old.provenance == "measured" and new.provenance == "reported")


def to_text(host: str, at: str, machine: Identity, rates: Mapping[str, Rate]) -> str:
    """The file's content (docs/reference/rates.schema.json)."""
    content = {
        "schema": SCHEMA, "host": host, "at": at, "fingerprint": digest(machine), "machine": machine,
        "wulf": __version__, "rates": {name: rate.to_json() for name, rate in rates.items()},
    }  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def publish(path: Path, new: Mapping[str, Rate], machine: Identity, at: str, host: str | None = None) -> Published:
    """Merge rates into the file at `path`, which is replaced whole; its folder is made.

    What is there is kept if it is readable and of the same host and machine; else the file is begun anew, and a note
    says why.

    Parameters
    ----------
    machine
        The identity of the machine that was measured (`wulf.rates.machine`).
    at
        Now: ISO 8601, UTC.
    host
        Its name [this host's].

    Raises
    ------
    PublishError
        No permission, a full disk, or more rates than readers take.
    """
    name = host or socket.gethostname()
    try:
        _make_folder(path.parent)
        with folder(path.parent) as below, _one_writer(path.name, below):
            old, notes = _older(path, name, machine)
            text = to_text(name, at, machine, merged(old, new))
            if len(text.encode()) > MAX_BYTES:
                raise PublishError(f"the rates would take more than the {MAX_BYTES} bytes that readers take")
            replace_file(Path(path.name), text, below=below)
    except OSError as error:
        raise PublishError(
            f"can't write {path}: {error.strerror}", "name a file that you may write in WULF_RATES"
        ) from error
    return Published(load(path, check=False), _measured(new), notes)


def _measured(rates: Mapping[str, Rate]) -> int:
    return sum(1 for rate in rates.values() if rate.value is not None and rate.provenance == "measured")


def _older(path: Path, host: str, machine: Identity) -> tuple[dict[str, Rate], tuple[str, ...]]:
    """The rates there are that still hold, and why others do not."""
    try:
        there = load(path, check=False)
    except RatesMissingError:
        return {}, ()
    except RatesError as error:
        return {}, (f"begun anew: {error.what}",)
    if there.host != host:
        return {}, (f"begun anew: {path} held the rates of {there.host}",)
    if differing := differences(there.machine, machine):
        return {}, (f"begun anew: {'; '.join(differing)}",)
    return there.rates, ()


def _make_folder(folder: Path) -> None:
    """The file's folder; the machine's is for everybody to enter, whatever the umask of who makes it."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if made and folder == places.SYSTEM.parent:
        folder.chmod(0o755)


@contextmanager
def _one_writer(name: str, below: int) -> Iterator[None]:
    """Hold the lock beside the file, so that two writers do not lose each other's rates.

    Nobody but the folder's owner and root may open it: who can open a file can also lock it, for good. It becomes that
    owner's only where it has no other name: elsewhere it would be another file.
    """
    with appending(Path(f".{name}.lock"), below, mode=0o600) as lock:
        if os.geteuid() == 0 and os.fstat(lock.fileno()).st_nlink == 1:
            owner = os.fstat(below)
            os.fchown(lock.fileno(), owner.st_uid, owner.st_gid)
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
