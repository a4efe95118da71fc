"""Sound contents, changed in one place: what reads them has to take them, or refuse them by an error."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.process.cli.bad_input.states import changed_state
from tests.process.cli.bad_input.traces import changed_rank
from wulf.core.errors import WulfError

MUTATIONS = 12
"""Of one document that has more places than that."""

VALUES: Mapping[str, Any] = {
    "null": None, "text": "x", "empty text": "", "minus one": -1, "1e308": 1e308, "10^30": 10**30, "list": [],
    "object": {}, "true": True, "control": "\x1b[31m\u202e", "list of lists": [[[]]], "nothing": 0,
}  # fmt: skip
"""What stands in the place of another value."""

TOML_VALUES = (
    "nan", "-inf", "-1", "'x'", "[]", "{}", "true", "9" * 400, '"\\u001b[31m"', "1979-05-27", "[[[]]]",
    "\"'a' * 10000000000\"", "[\"1 < 'a' * 10000000000\"]",
)  # fmt: skip


WHOLE: Mapping[str, Callable[[bytes, random.Random], Iterator[tuple[str, bytes]]]] = {
    "rank": changed_rank, "state": changed_state,
}  # fmt: skip
"""Kinds of files that only who knows them can change so that anybody reads on."""


def changed(kind: str, sound: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """What was changed, and the content: some of the ways in which a content of that kind can be."""
    if kind in ("json", "lines"):
        text = sound.decode()
        found = list(_changed_json(text.splitlines() if kind == "lines" else [text], chance))
    elif kind == "toml":
        found = list(_changed_toml(sound.decode()))
    elif kind in WHOLE:
        yield from WHOLE[kind](sound, chance)
        return
    else:
        found = list(_changed_bytes(sound, chance))
    yield from found if len(found) <= MUTATIONS else chance.sample(found, MUTATIONS)


def _changed_json(lines: list[str], chance: random.Random) -> Iterator[tuple[str, bytes]]:
    if not lines:
        return
    number = chance.randrange(len(lines))
    known = list(places(json.loads(lines[number])))
    for place in chance.sample(known, min(len(known), MUTATIONS)):
        name = chance.choice([*VALUES, "gone", "NaN"])
        yield f"{'.'.join(map(str, place))} is {name}", with_changed(lines, number, place, name).encode()


def with_changed(lines: list[str], number: int, place: tuple[Any, ...], name: str) -> str:
    """The text with what stands at a place of one line replaced by one of `VALUES` or NaN, or gone."""
    changed = json.loads(lines[number])
    if place:
        holder = changed
        for step in place[:-1]:
            holder = holder[step]
        if name == "gone":
            del holder[place[-1]]
        else:
            holder[place[-1]] = float("nan") if name == "NaN" else VALUES[name]
    elif name not in ("gone", "NaN"):
        changed = VALUES[name]
    return "\n".join([*lines[:number], json.dumps(changed), *lines[number + 1 :]]) + "\n"


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value within a value, itself first: keys and numbers."""
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*at, key))


def defect_of(call: Callable[[], object]) -> str | None:
    """What a call failed by, where it neither took what it was given nor said what is wrong with it."""
    try:
        call()
    except WulfError:
        pass
    except Exception as error:  # noqa: BLE001 - whatever it is, it would be a defect of the command
        return repr(error)
    return None


def _changed_toml(text: str) -> Iterator[tuple[str, bytes]]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        before, after = lines[:number], lines[number + 1 :]
        yield f"line {number + 1} is gone", "\n".join([*before, *after]).encode()
        if "=" not in line:
            continue
        key = line.split("=", 1)[0]
        for value in TOML_VALUES:
            shown = value if len(value) < 20 else f"{len(value)} digits"
            yield f"{key.strip()} is {shown}", "\n".join([*before, f"{key}= {value}", *after]).encode()
        yield f"{key.strip()} is misspelt", "\n".join([*before, f"x{line}", *after]).encode()


def _changed_bytes(sound: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    numbers = [(found.start(), found.end()) for found in re.finditer(rb"\d+", sound)]
    for _ in range(MUTATIONS):
        content = bytearray(sound)
        if numbers and chance.random() < 0.6:
            start, end = chance.choice(numbers)
            value = chance.choice([b"-1", b"9" * 30, b"nan", b"1e999", b"x", b"", b"4294967295"])
            content[start:end] = value
            yield f"the number at byte {start} is {value.decode() or 'gone'}", bytes(content)
        elif chance.random() < 0.3:
            at = chance.randrange(len(content))
            yield f"cut at byte {at}", bytes(content[:at])
        else:
            at = chance.randrange(len(content))
            content[at : at + chance.randint(1, 8)] = chance.randbytes(chance.randint(0, 8))
            yield f"random bytes at byte {at}", bytes(content)
