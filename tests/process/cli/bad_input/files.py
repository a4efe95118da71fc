"""Files that a command reads, sound but for one thing, and the commands that read them."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import pytest

from tests.contract.test_given_files import MALFORMED
from tests.kept import write_kept
from tests.process.cli.bad_input import states, traces
from tests.process.cli.bad_input.changes import changed
from tests.process.cli.bad_input.options import NODES
from tests.process.cli.bad_input.runs import READERS, write_runs
from tests.process.cli.bad_input.trial import CONFIG, Input, Other
from tests.unit.apps.linpack.test_dat import MANY
from tests.unit.cli.tune.test_export import KEPT
from tests.unit.rates.making import written
from tests.unit.trace.test_imports_garbage import VALID
from tests.unit.workflow.predict_fakes import THIS, make_trace
from tests.unit.workflow.simulating import simulator
from wulf.tune.kept import KeptSettings
from wulf.workflow.net.survey import Survey


@dataclass(frozen=True)
class Document:
    """A file that a command reads.

    Attributes
    ----------
    kind
        How it is broken: "json", "lines" (of JSON), "toml", "text", "bytes", "rank" (of a trace), "state" (a sentry's).
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
CONFIGURATION = b"""runs = "runs"
width = "3%"
nodes = "a.invalid"

[survey]
quick = true

[net.stream]
seconds = 2
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
CLUSTERS = b"""[[candidate]]
name = "a"
price = 1000
nodes = 8
seconds = [100, 101]

[[candidate]]
name = "b"
price = 3000
nodes = 4
seconds = 60
"""
PARTS = b"""currency = "$"

[[node]]
name = "a"
price = 1000
watts = 200
seconds = 100

[[node]]
name = "b"
price = 2500
watts = 300
seconds = [50, 51]
workers = 2

[[network]]
name = "own"
figures = "gbe"
price = 50
switches = [{ ports = 24, price = 200, watts = 30 }]

[[network]]
name = "fast"
figures = "ib-sdr"

[[step]]
name = "rack"
price = 500
nodes = 20

[[build]]
name = "own labour"
hours = 8
node_hours = 0.5
hour = 40

[running]
years = 3
energy_price = 0.3
use = 0.8
cooling = 1.4

[work]
node = "a"
network = "own"
bytes = 8192
parts = { parallel = 1000, serial = 5, communication = 0.1 }
"""
FARM = b"workers,batch,seconds,units\nserial,1,8,900\n1,1,8.1,900\n2,1,4.2,900\n1,9,8,900\n2,9,4,900\n3,9,2.9,900\n"
TIMES = b"workers,seconds\nserial,8\n1,8.1\n2,4.2\n4,2.3\n8,1.4\n"
POWER = b"# watts\n1764000000,215.5\n1764000001,216\n1764000002,214\n"
MIX = b'jobs_per_month = 1200\n[shares]\nclimate = 0.5\n"molecular dynamics" = 0.25\n'
DOMAINS = b'[programs]\n"wrf*" = "climate"\n[accounts]\n"bio*" = "phylogenetics"\n'
JOBS = b"JobName|Account|CPUTimeRAW|Elapsed|State\nwrf|met|7200|01:00:00|COMPLETED\nx|bio|60|00:30|FAILED\n"
HOSTFILE = b"a.invalid slots=4\nb.invalid:4\n"
TOPOLOGY = b'{"kind": "fat-tree", "ports": 4, "levels": 2, "bytes_per_second": 12.5e9, "positions": {"random": 7}}'
TUNED = b"gro,mtu,mean,sd,n\noff,1500,10,1,9\non,1500,8,1,9\noff,9000,9,1,9\non,9000,6,1,9\n"


def templates(folder: Path) -> tuple[Path, Path]:
    """A folder of three surveys of simulated nodes, one of them cut short, and of other runs; and one with a trace."""
    runs, trace = folder / "with-runs", folder / "with-trace"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("one", "two"):
            simulator(patch, folder / name, Survey)("n[1-3]")
            (folder / name / "run").rename(_parent(runs / "runs") / name)
    write_kept(runs / "runs" / "one", KeptSettings(campaign="c1", kept=KEPT))
    write_runs(runs / "runs")
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
    for words in (("config", "show"), ("report", "one"), ("survey", *NODES)):
        yield Document("config.toml", words, CONFIG, "toml", CONFIGURATION, runs, lenient=True)
    yield Document("hostfile", ("audit", "--hostfile", "f"), "f", "text", HOSTFILE, lenient=True)
    yield Document("space", ("search", "own", "f.toml", *NODES), "f.toml", "toml", SPACE)
    yield Document("checks", ("check", "--checks", "f.toml"), "f.toml", "toml", CHECKS)
    baseline = b'{"schema": 1, "facts": {"cpu.model": "x"}, "mounts": {}, "rates": {}}'
    yield Document("check's baseline", ("check", "--baseline", "f.json"), "f.json", "json", baseline)
    audited = b'{"readings": {"n1": {"a": {"": {"value": 1}}}}}'
    yield Document("audit's baseline", ("audit", "--baseline", "f.json", *NODES), "f.json", "json", audited)
    yield Document("tuning table", ("tune", "import", "f.csv"), "f.csv", "text", TUNED)
    yield Document("candidates", ("cost", "--candidates", "f.toml"), "f.toml", "toml", MARKET)
    yield Document("candidates", ("cost", "--candidates", "f.toml", "--json"), "f.toml", "toml", CLUSTERS)
    design = ("design", "f.toml", "--budget", "30000")
    yield Document("design's candidates", design, "f.toml", "toml", PARTS)
    told = b'{"source": "x", "workers": [1, 2, 4, 8], "seconds": [8.1, 4.2, 2.3, 1.4]}'
    for name, kind, content in (("f.csv", "text", TIMES), ("f.json", "json", told)):
        words = (*design, "--for", name)
        yield Document("design's times", words, name, kind, content, others={"f.toml": PARTS})
    power = ("cost", "--power-log", "f.csv", "--gflops", "100", "--price", "1000", "--job-seconds", "2")
    yield Document("power log", power, "f.csv", "text", POWER)
    yield Document("mix", ("impacts", "--mix", "f.toml"), "f.toml", "toml", MIX, runs)
    yield Document("domains", ("impacts", "--domains", "f.toml"), "f.toml", "toml", DOMAINS, runs)
    yield Document("accounting", ("impacts", "--sacct", "f", "--json"), "f", "text", JOBS, runs)
    yield Document("times", ("model", "speedup", "f.csv"), "f.csv", "text", TIMES)
    yield Document("farm", ("model", "farm", "f.csv"), "f.csv", "text", FARM)
    yield Document("network", ("networks", "show", "./f.toml"), "f.toml", "toml", THIS.encode())
    switches = ("predict", "trace", "--topology", "f.json", "--engine", "b", "--draws", "39")
    yield Document("topology", switches, "f.json", "json", TOPOLOGY, trace)
    yield Document("HPL.dat", ("app", "hpl", "--dat", "f", *NODES), "f", "text", MANY.encode(), lenient=True)
    predicted = ("predict", "trace", "--network", "./f.toml", "--draws", "39")
    yield Document("predicted network", predicted, "f.toml", "toml", THIS.encode(), trace)
    written(folder / "rates.json")
    rates = (folder / "rates.json").read_bytes()
    for words in (("rates", "list"), ("rates", "get", "mem.l2.size")):
        yield Document("rates", words, "rates.json", "json", rates, lenient=True)
    records = folder / "with-records"
    shutil.copytree(trace, records)
    recorded = traces.make_sound(records / "trace").read_bytes()
    traced = (trace / "trace" / "trace.json").read_bytes()
    ranked = (trace / "trace" / "rank-000000.wtr").read_bytes()
    for words in (("trace", "show", "trace"), ("predict", "trace", "--draws", "39"),
                  ("trace", "export", "trace", "--to", "goal", "out")):  # fmt: skip
        yield Document("manifest", words, "trace/trace.json", "json", traced, trace)
        yield Document("rank's file", words, "trace/rank-000000.wtr", "bytes", ranked, trace, lenient=True)
        yield Document("rank's records", words, "trace/rank-000000.wtr", "rank", recorded, records, lenient=True)
    for number, (name, files) in enumerate(VALID):
        first = next(iter(files))
        words = ("trace", "import", first, "--from", name, "--out", f"imported-{number}")
        listed = words if name in ("simgrid",) else ("trace", "import", *files, *words[3:])
        yield Document(f"import of {name}", listed, first, "bytes", files[first], others=files)
    state = states.make_sound(folder)
    for words in (
        ("sentry", "status"), ("sentry", "incidents", "--all"), ("sentry", "metrics"), ("sentry", "ack", "2"),
        ("sentry", "close", "2"), ("report", "--site"),
    ):  # fmt: skip
        yield Document("sentry's state", (*words, "--state", "f.db"), "f.db", "state", state)
    # `sentry once` reads it likewise, and measures by what it takes: seconds of other processes.
    yield Document("sentry's plan", ("sentry", "plan", "f.toml"), "f.toml", "toml", states.PLAN)
    yield from _of_runs(runs)


def _of_runs(template: Path) -> Iterator[Document]:
    readers = (
        ("report", "one"), ("runs",), ("compare", "one", "two"), ("history", "rtt"),
        ("query", "SELECT subject, metric, value FROM records"),
        ("model", "loggp", "--from", "one", "--subject", "n1>n2 tcp"),
        ("tune", "export", "one", "--format", "shell"), ("resume", "one"),
    )  # fmt: skip
    for run, all_ in {"one": readers, **READERS}.items():
        for path in sorted((template / "runs" / run).iterdir()):
            kind = {".json": "json", ".jsonl": "lines"}.get(path.suffix)
            if kind is None:
                continue
            for words in all_:
                file = f"runs/{run}/{path.name}"
                yield Document(path.name, words, file, kind, path.read_bytes(), template, lenient=True)
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
        for name, content in changed(document.kind, document.sound, chance):
            yield _input(document, name, content, "either")
        for other in get_args(Other):
            one = _input(document, other, document.sound, "either" if document.lenient else "refused")
            yield replace(one, others={document.path: other})


def _input(document: Document, name: str, content: bytes, wanted: Literal["refused", "taken", "either"]) -> Input:
    files = {**(document.others or {}), document.path: content}
    what = f"{' '.join(document.words)}: {name}"
    return Input(document.surface, what, document.words, document.template, files, wanted=wanted)
