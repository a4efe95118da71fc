"""Files that a command reads, sound but for one thing, and the commands that read them."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.contract.test_given_files import MALFORMED
from tests.process.cli.bad_input.options import NODES
from tests.process.cli.bad_input.trial import Input
from tests.unit.cli.test_tune_export import KEPT
from tests.unit.trace.test_imports_garbage import VALID
from tests.unit.workflow.predict_fakes import THIS, make_trace
from tests.unit.workflow.simulating import simulator
from wulf.tune.kept import KeptSettings, write_kept
from wulf.workflow.survey import survey

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


@dataclass(frozen=True)
class Document:
    """A file that a command reads.

    Attributes
    ----------
    kind
        "json", "lines" (of JSON), "toml", "text" or "bytes": how it is broken.
    lenient
        Whoever reads it may pass over what is no file of its kind: a run may be torn, a line of a hostfile is any name.
    """

    surface: str
    words: tuple[str, ...]
    path: str
    kind: str
    sound: bytes
    template: Path | None = None
    others: Mapping[str, bytes] | None = None
    lenient: bool = False


INVENTORY = b"""nodes = ["a.invalid", "b.invalid"]
network = "10.0.0.0/24"
launcher = "ssh"

[roles]
login = "a.invalid"
"""
SPACE = b"""command = "true {block} {threads} {n}"
figure = "GFLOPS: ([0-9.e+]+)"
unit = "flop/s"
better = "higher"
check = ["PASSED"]
timeout = 5
conditions = ["block * threads <= 1024"]

[sizes]
name = "n"
values = [500, 1000]
power = 3

[parameters.block]
values = [32, 64]
default = 64

[parameters.threads]
from = 1
to = 8
times = 2
environment = "OMP_NUM_THREADS"

[settings]
"net.somaxconn" = [4096, 1024]
"""
CHECKS = b"""[[check]]
name = "load"
kind = "load"
seconds = 1
most_per_cpu = 2000
"""
MARKET = b"""[[candidate]]
name = "a"
price = 1000
gflops = 200
watts = 90

[[candidate]]
name = "b"
price = 3000
gflops = 400
"""
TIMES = b"workers,seconds\nserial,8\n1,8.1\n2,4.2\n4,2.3\n8,1.4\n"
POWER = b"# watts\n1764000000,215.5\n1764000001,216\n1764000002,214\n"
HOSTFILE = b"a.invalid slots=4\nb.invalid:4\n"
TOPOLOGY = b"name = 'x'\n"


def templates(folder: Path) -> tuple[Path, Path]:
    """A folder of three runs of simulated nodes, one of them cut short; and one with a trace."""
    runs, trace = folder / "with-runs", folder / "with-trace"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("one", "two"):
            simulator(patch, folder / name, survey)("n[1-3]")
            (folder / name / "run").rename(_parent(runs / "runs") / name)
            (runs / "runs" / name / "report.html").unlink()
    write_kept(runs / "runs" / "one", KeptSettings(campaign="c1", kept=KEPT))
    cut = runs / "runs" / "cut"
    shutil.copytree(runs / "runs" / "two", cut)
    (cut / "records.jsonl").unlink()
    (cut / "findings.json").unlink()
    meta = json.loads((cut / "run.json").read_text())
    (cut / "run.json").write_text(json.dumps({**meta, "state": "running", "ended": None}))
    make_trace(_parent(trace) / "trace", ranks=2)
    (trace / "fast.toml").write_text(THIS)
    return runs, trace


def _parent(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def documents(folder: Path) -> Iterator[Document]:
    """All of them; `folder` is for templates."""
    runs, trace = templates(folder)
    yield Document("inventory", ("survey", "--inventory", "f.toml"), "f.toml", "toml", INVENTORY)
    yield Document("hostfile", ("audit", "--hostfile", "f"), "f", "text", HOSTFILE, lenient=True)
    yield Document("space", ("search", "own", "f.toml", *NODES), "f.toml", "toml", SPACE)
    yield Document("checks", ("check", "--checks", "f.toml"), "f.toml", "toml", CHECKS)
    baseline = b'{"schema": 1, "facts": {"cpu.model": "x"}, "mounts": {}, "rates": {}}'
    yield Document("check's baseline", ("check", "--baseline", "f.json"), "f.json", "json", baseline)
    audited = b'{"readings": {"n1": {"a": {"": {"value": 1}}}}}'
    yield Document("audit's baseline", ("audit", "--baseline", "f.json", *NODES), "f.json", "json", audited)
    yield Document("candidates", ("cost", "--candidates", "f.toml"), "f.toml", "toml", MARKET)
    power = ("cost", "--power-log", "f.csv", "--gflops", "100", "--price", "1000", "--job-seconds", "2")
    yield Document("power log", power, "f.csv", "text", POWER)
    yield Document("times", ("model", "speedup", "f.csv"), "f.csv", "text", TIMES)
    yield Document("network", ("networks", "show", "./f.toml"), "f.toml", "toml", THIS.encode())
    predicted = ("predict", "trace", "--network", "./f.toml", "--draws", "39")
    yield Document("predicted network", predicted, "f.toml", "toml", THIS.encode(), trace)
    yield Document("rates", ("rates", "list"), "rates.json", "json", b"{}", lenient=True)
    traced = (trace / "trace" / "trace.json").read_bytes()
    ranked = (trace / "trace" / "rank-000000.wtr").read_bytes()
    for words in (("trace", "show", "trace"), ("predict", "trace", "--draws", "39"),
                  ("trace", "export", "trace", "--to", "goal", "out")):  # fmt: skip
        yield Document("manifest", words, "trace/trace.json", "json", traced, trace)
        yield Document("rank's file", words, "trace/rank-000000.wtr", "bytes", ranked, trace, lenient=True)
    for number, (name, files) in enumerate(VALID):
        first = next(iter(files))
        words = ("trace", "import", first, "--from", name, "--out", f"imported-{number}")
        listed = words if name in ("simgrid",) else ("trace", "import", *files, *words[3:])
        yield Document(f"import of {name}", listed, first, "bytes", files[first], others=files)
    yield from _of_runs(runs)


def _of_runs(template: Path) -> Iterator[Document]:
    readers = (
        ("report", "one"), ("runs",), ("compare", "one", "two"), ("query", "SELECT * FROM records"), ("history", "rtt"),
        ("model", "loggp", "--from", "one", "--subject", "n1>n2 tcp"),
        ("tune", "export", "one", "--format", "shell"), ("resume", "one"),
    )  # fmt: skip
    for path in sorted((template / "runs" / "one").iterdir()):
        kind = {".json": "json", ".jsonl": "lines"}.get(path.suffix)
        if kind is None:
            continue
        for words in readers:
            yield Document(path.name, words, f"runs/one/{path.name}", kind, path.read_bytes(), template, lenient=True)
    for name, kind in (("plan.json", "json"), ("replicates.jsonl", "lines"), ("fingerprint.json", "json")):
        file = f"runs/cut/{name}"
        content = (template / file).read_bytes()
        yield Document(f"cut short, {name}", ("report", "cut"), file, kind, content, template, lenient=True)


def inputs(folder: Path, seed: int) -> Iterator[Input]:
    """Every document as it is, with every malformed content, and with some of its values changed."""
    for document in documents(folder):
        chance = random.Random(f"{seed} {document.surface} {document.words}")
        yield _input(document, "sound", document.sound, "taken")
        for name, content in MALFORMED.items():
            yield _input(document, name, content, "either" if document.lenient else "refused")
        for name, content in _mutated(document, chance):
            yield _input(document, name, content, "either")


def _input(document: Document, name: str, content: bytes, wanted: Literal["refused", "taken", "either"]) -> Input:
    files = {**(document.others or {}), document.path: content}
    what = f"{' '.join(document.words)}: {name}"
    return Input(document.surface, what, document.words, document.template, files, wanted)


def _mutated(document: Document, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    if document.kind in ("json", "lines"):
        found = list(_changed_json(document, chance))
    elif document.kind == "toml":
        found = list(_changed_toml(document.sound.decode()))
    else:
        found = list(_changed_bytes(document.sound, chance))
    yield from found if len(found) <= MUTATIONS else chance.sample(found, MUTATIONS)


def _changed_json(document: Document, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    lines = document.sound.decode().splitlines() if document.kind == "lines" else [document.sound.decode()]
    if not lines:
        return
    number = chance.randrange(len(lines))
    places = list(_places(json.loads(lines[number])))
    for place in chance.sample(places, min(len(places), MUTATIONS)):
        name = chance.choice([*VALUES, "gone", "NaN"])
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
        text = "\n".join([*lines[:number], json.dumps(changed), *lines[number + 1 :]]) + "\n"
        yield f"{'.'.join(map(str, place))} is {name}", text.encode()


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(inner, (*at, key))


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
