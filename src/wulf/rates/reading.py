"""Reading a rates file: whole and of this machine, or a typed error that says what is wrong with it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from wulf.rates.errors import (
    RateMissingError,
    RateOldError,
    RatesMachineError,
    RatesMissingError,
    RatesTornError,
    RatesVersionError,
    RateUnknownError,
)
from wulf.rates.machine import Identity, differences, read_identity
from wulf.rates.places import read_path
from wulf.rates.rate import Rate, parse_rate, unix_time

SCHEMA = 1
MAX_BYTES = 1 << 20
"""A file of a thousand rates has 200 KB; a longer one than this is none of ours (the C reader has the same limit)."""
MOST_DIGITS = 4300

PUBLISH = "`wulf rates publish` measures this machine and writes it anew"


@dataclass(frozen=True)
class Rates(Mapping[str, Rate]):
    """The rates of one machine, by name.

    Parameters
    ----------
    host, fingerprint, machine
        Whose they are: the host's name, and the facts that a rate hangs on, with their digest.
    at
        When the file was written; each rate has its own time.
    wulf
        The version of wulf that wrote it.
    """

    path: Path
    host: str
    at: str
    fingerprint: str
    machine: Identity
    wulf: str
    rates: dict[str, Rate]

    def __getitem__(self, name: str) -> Rate:
        if name not in self.rates:
            from difflib import get_close_matches

            close = get_close_matches(name, self.rates, n=1, cutoff=0.5)
            hint = f"the nearest is {close[0]}" if close else "`wulf rates list` shows what there is"
            raise RateMissingError(f"{self.path} has no rate {name}", hint)
        return self.rates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rates)

    def __len__(self) -> int:
        return len(self.rates)

    def get_value(self, name: str, *, max_age: float | None = None, now: float | None = None) -> float:
        """The value of a rate that has one, in its SI unit.

        Parameters
        ----------
        max_age
            Seconds; an older rate is refused.

        Raises
        ------
        RateMissingError, RateUnknownError, RateOldError
            There is no such rate; it has no value; it is too old.
        """
        rate = self[name]
        if max_age is not None and rate.age(now) > max_age:
            raise RateOldError(
                f"{name} was measured {rate.age(now):.0f} s ago, on {rate.at}; {max_age:.0f} s were allowed", PUBLISH
            )
        if rate.value is None:
            raise RateUnknownError(f"{name} has no value: {rate.reason}")
        return rate.value


def load(path: str | os.PathLike[str] | None = None, *, check: bool = True) -> Rates:
    """Read the rates of this machine.

    Parameters
    ----------
    path
        The file [the first of those that `wulf.rates.places` names].
    check
        Whether to compare the file's machine with this one (a few files of /proc and /sys: some milliseconds).

    Raises
    ------
    RatesMissingError
        There is no file.
    RatesTornError
        It is cut short, or no rates file.
    RatesVersionError
        Its schema is not the one that we know.
    RatesMachineError
        It was measured on another machine, or with another kernel; what differs is in the text.
    """
    where = Path(path) if path is not None else read_path()
    rates = parse(where, _read(where))
    if check and (differing := differences(rates.machine, read_identity())):
        raise RatesMachineError(f"{where} was measured on another machine: {'; '.join(differing)}", PUBLISH)
    return rates


def _read(path: Path) -> bytes:
    """The file's bytes; of a regular file alone, so that a pipe can't make us wait."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RatesTornError(f"{path} is not a regular file", "name another in WULF_RATES")
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RatesMissingError(f"no rates can be read: {path}: {error.strerror}", PUBLISH) from error
    if len(content) > MAX_BYTES:
        raise RatesTornError(f"{path} is longer than {MAX_BYTES} bytes: no rates file", PUBLISH)
    return content


def parse(path: Path, text: bytes) -> Rates:
    """The rates in the bytes of a file; `path` is for the errors, which are those of `load`."""
    try:
        content = json.loads(
            text.decode("utf-8"), parse_constant=_no_constant, parse_int=_whole, object_pairs_hook=_unique
        )
        if not isinstance(content, dict):
            raise ValueError("not an object")
        if type(content.get("schema")) is int and content["schema"] != SCHEMA:
            raise RatesVersionError(
                f"{path} has schema {content['schema']}; this wulf reads {SCHEMA}", f"update wulf, or {PUBLISH}"
            )
        return _from_json(path, content)
    except (ValueError, RecursionError) as error:
        raise RatesTornError(f"{path} is torn, or no rates file: {error}", PUBLISH) from error


def _whole(digits: str) -> int | float:
    """Python makes no integer of more than 4300 digits; as a double it is infinite, and so for no rate."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that has a name twice is none of ours."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return content


def _from_json(path: Path, content: dict[str, Any]) -> Rates:
    if type(content.get("schema")) is not int:
        raise ValueError("no schema")
    words = {field: content.get(field) for field in ("host", "at", "fingerprint", "wulf")}
    for field, value in words.items():
        if not isinstance(value, str):
            raise ValueError(f"{field} is not a text")
    machine, rates = content.get("machine"), content.get("rates")
    if not isinstance(machine, dict) or not all(isinstance(value, str) for value in machine.values()):
        raise ValueError("machine is not an object of texts")
    if not isinstance(rates, dict):
        raise ValueError("rates is not an object")
    unix_time(str(words["at"]))
    parsed = {name: parse_rate(name, rate) for name, rate in rates.items()}
    return Rates(path=path, machine=machine, rates=parsed, **words)  # type: ignore[arg-type]
