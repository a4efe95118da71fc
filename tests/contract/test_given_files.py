"""One suite over every reader of a file that a user names: what is malformed is refused by an error of wulf's."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wulf.cluster import cluster_toml, hostfile
from wulf.core import configuration
from wulf.core.errors import WulfError
from wulf.rates import reading as rates
from wulf.search import own
from wulf.search.journal import Journal
from wulf.store.history import metrics_of
from wulf.store.query import query
from wulf.store.run import read_run
from wulf.trace.manifest import read_manifest
from wulf.tune.kept import read_kept
from wulf.workflow.model import cost, networks, steps
from wulf.workflow.model import farm as model_farm
from wulf.workflow.model import power as cost_power
from wulf.workflow.model import times as model_times
from wulf.workflow.model.design import file as design_file
from wulf.workflow.node import check
from wulf.workflow.tune import audit
from wulf.workflow.tune import table as tune_table

DEEP = 100_000
TOML = b"a = %s\n"
MALFORMED: Mapping[str, bytes] = {
    "empty": b"",
    "binary": bytes(range(256)) * 4,
    "latin": "Größe = 1".encode("latin-1"),
    "nulls": b"\0" * 1000,
    "half a character": b"a = '\xc3",
    "toml, nested": TOML % (b"[" * DEEP),
    "toml, tables nested": b"".join(b"[%s]\n" % b".".join([b"a"] * n) for n in (1, 900)),
    "toml, digits": TOML % (b"9" * 5000),
    "toml, infinity": b"nodes = inf\nname = nan\n",
    "toml, another shape": b"nodes = 1\ncandidate = 'x'\ncheck = {a = 1}\nwire = []\nrun = 3\nknobs = [1, [2]]\n",
    "json, nested": b"[" * DEEP,
    "json, objects nested": b'{"a":' * DEEP,
    "json, digits": b'{"version": %s}' % (b"9" * 5000),
    "json, infinity": b'{"readings": NaN, "campaign": Infinity, "id": "a", "state": 1e999}',
    "json, a list": b"[1, 2, 3]",
    "json, a number": b"17",
    "json, null": b"null",
    "json, surrogates": rb'{"id": "\ud800", "state": "\udfff", "campaign": "\ud800", "kept": []}',
    "lines": b"\n" * 10_000,
    "one long line": b"a" * 1_000_000,
    "a node set": b"nodes = 'n[1-10000000]'\n",
    "node sets": b"n[1-10000000]\nn[1-99999999999999999999]\n",
    "numbers": b"workers,seconds\n1,nan\n1e999,-inf\n",
}

RUN = b'{"id": "a", "state": "complete", "nodes": ["n1"]}'


def _in_run(name: str, read: Callable[[Path], object]) -> Callable[[Path], object]:
    """A reader of one file of a run, whose run.json is sound unless it is that file."""

    def reading(path: Path) -> object:
        folder = path.parent / "runs" / "run"
        folder.mkdir(parents=True)
        if name != "run.json":
            (folder / "run.json").write_bytes(RUN)
        path.rename(folder / name)
        return read(folder)

    return reading


def _network(path: Path) -> object:
    named = path.rename(path.with_suffix(".toml"))
    return networks.find_network(str(named), None)


def _no_run(_: str) -> Any:
    raise AssertionError("no candidate of these has a run")


READERS: Mapping[str, tuple[Callable[[Path], object], bytes]] = {
    "inventory": (cluster_toml.read, b'nodes = ["n[1-4]"]\nnetwork = "10.0.0.0/24"\n[roles]\nlogin = "n1"\n'),
    "configuration": (lambda path: configuration.read([path], needed=True), b'width = "3%"\n[survey]\nquick = true\n'),
    "hostfile": (hostfile.read, b"n1 slots=4\nn2:4\nn[3-4] # two\n"),
    "network": (_network, b'name = "mine"\n[inter]\nlatency = 1e-6\n'),
    "space": (own.read_own, b'command = ["true"]\n[knobs.a]\nvalues = [1, 2]\n'),
    "checks": (check.read_table, b'[[check]]\nname = "a"\nkind = "load"\nseconds = 1\nmost_per_cpu = 2\n'),
    "check's baseline": (check.read_baseline, b'{"schema": 1, "facts": {}, "mounts": {}, "rates": {}}'),
    "audit's baseline": (audit.read_baseline, b'{"readings": {"n1": {"a": {"": {"value": 1}}}}}'),
    "market": (
        lambda path: cost.market(path, _no_run, np.random.default_rng(1)),
        b'[[candidate]]\nname = "a"\nprice = 1\ngflops = 2\n[[candidate]]\nname = "b"\nprice = 3\ngflops = 4\n',
    ),
    "design": (
        design_file.read_candidates,
        b'[[node]]\nname = "a"\nprice = 1\n[[network]]\nname = "b"\nprice = 3\n[work]\nparts = { parallel = 4 }\n',
    ),
    "steps": (lambda path: steps.read_steps(path, None, {}), b"step,gflops,price\nbefore,10.6,\nafter,14.53,2490\n"),
    "power": (cost_power.read_log, b"# watts\n1764000000,215.5\n1764000001,216\n"),
    "times": (model_times.from_csv, b"workers,seconds\nserial,8\n1,8.1\n2,4.2\n4,2.3\n"),
    "farm": (model_farm.from_csv, b"workers,batch,seconds,units\nserial,,8,100\n1,1,8.1,100\n2,10,4.2,100\n"),
    "rates": (rates.load, b"{}"),
    "journal": (Journal.resume, b'{"plan": {}, "about": {}}\n'),
    "tuning table": (
        lambda path: tune_table.from_csv(path, "s", lower_is_better=True),
        b"gro,mtu,mean,sd,n\noff,1500,10,1,9\non,9000,8,,\n",
    ),
    "kept": (_in_run("kept.json", read_kept), b'{"campaign": "a", "kept": []}'),
    "run": (_in_run("run.json", read_run), RUN),
    "plan": (_in_run("plan.json", read_run), b'{"cells": []}'),
    "records": (_in_run("records.jsonl", read_run), b'{"run": "a"}\n'),
    "findings": (_in_run("findings.json", read_run), b"[]"),
    "query": (_in_run("run.json", lambda run: query("SELECT * FROM runs", run.parent)), RUN),
    "query's records": (_in_run("records.jsonl", lambda run: query("SELECT * FROM records", run.parent)), b"{}\n"),
    "history": (_in_run("records.jsonl", lambda run: metrics_of(run.parent)), b'{"metric": "rtt"}\n'),
    "manifest": (_in_run("trace.json", read_manifest), b'{"version": 1}'),
}
"""What reads a file, and one that it may well take."""

UNSEEN = re.compile(r"Traceback|object at 0x")


def refused_or_taken(read: Callable[[Path], object], path: Path) -> None:
    """It may be taken where it happens to be one of its kind; anything but an error of wulf's is a defect."""
    try:
        read(path)
    except WulfError as error:
        assert error.what and not UNSEEN.search(error.what)
        assert len(error.what) < 2000, "an error is a sentence, not the file"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("malformed", MALFORMED)
def test_what_is_malformed_is_refused_by_an_error_of_wulfs(tmp_path: Path, name: str, malformed: str) -> None:
    (tmp_path / "given").write_bytes(MALFORMED[malformed])
    refused_or_taken(READERS[name][0], tmp_path / "given")


@pytest.mark.parametrize("name", READERS)
def test_so_is_what_is_no_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "given")
    refused_or_taken(READERS[name][0], tmp_path / "given")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "given").mkdir()
    refused_or_taken(READERS[name][0], tmp_path / "folder" / "given")


@pytest.mark.parametrize("name", READERS)
def test_so_is_a_file_of_a_terabyte(tmp_path: Path, name: str) -> None:
    """Most of it a hole, that nobody has to write first: no reader takes it into memory, or reads on."""
    with (tmp_path / "given").open("wb") as file:
        file.write(READERS[name][1])
        file.truncate(1 << 40)
    refused_or_taken(READERS[name][0], tmp_path / "given")


@pytest.mark.parametrize("name", READERS)
def test_so_is_a_link_to_itself(tmp_path: Path, name: str) -> None:
    (tmp_path / "given").symlink_to("given")
    refused_or_taken(READERS[name][0], tmp_path / "given")


@pytest.mark.parametrize("name", READERS)
def test_a_sound_file_with_a_few_bytes_changed_is_taken_or_refused(tmp_path: Path, name: str) -> None:
    read, sound = READERS[name]
    chance = random.Random(name)
    for number in range(60):
        content = bytearray(sound)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(content) + 1)
            content[at : at + chance.randint(0, 3)] = chance.choice(
                [b"", b"\0", b'"', b"[", b"}", b"=", b"9" * 30, b"-1", b"1e999", b"\xff", b"null", b"\n", b"{}", b"nan"]
            )
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "given").write_bytes(bytes(content))
        refused_or_taken(read, folder / "given")
