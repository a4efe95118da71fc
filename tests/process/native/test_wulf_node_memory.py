"""The memory probes of the built wulf-node: each answers for small sizes, and refusals name figures."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 0.002
ONE_CPU = len(os.sched_getaffinity(0)) < 2


def program() -> Path:
    """The built program: $WULF_NODE, the build folder, or the one inside the package."""
    candidates = [ROOT / "build/native/wulf-node", ROOT / "src/wulf/programs" / platform.machine() / "wulf-node"]
    if "WULF_NODE" in os.environ:
        candidates = [Path(os.environ["WULF_NODE"])]
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(f"wulf-node is not built: none of {[str(path) for path in candidates]}; run `make build`")


def run(probe: str, *words: str, **params: Any) -> dict[str, Any]:
    """The answer to one replicate, in a program of its own. `words`: a command that starts it."""
    request = {"id": 1, "op": "run", "probe": probe, "params": {"seconds": SECONDS, **params}}
    process = subprocess.Popen([*words, program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        json.loads(process.stdout.readline())  # the greeting
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        process.stdin.close()
    return answer


def metrics(probe: str, **params: Any) -> dict[str, Any]:
    answer = run(probe, **params)
    assert answer["ok"], answer
    found: dict[str, Any] = answer["metrics"]
    for metric in found.values():
        assert metric["value"] is None or metric["value"] > 0
        assert (metric["value"] is None) == ("reason" in metric)
    return found


@pytest.mark.parametrize(
    "params",
    [
        {"bytes": 64},
        {"bytes": 1 << 16},
        {"bytes": 1 << 16, "chains": 3},
        {"bytes": 1 << 22, "pages": "huge"},
        {"bytes": 1 << 16, "stride": 128},
    ],
)
def test_chase(params: dict[str, Any]) -> None:
    answer = run("chase", **params)
    assert answer["metrics"]["latency"]["value"] > 0
    pages = answer["info"]["pages"]
    assert pages["asked"] == params.get("pages", "default")
    assert pages["small"] + pages["huge"] >= params["bytes"]
    step = params.get("stride") or answer["info"]["line"]["value"]
    assert answer["info"]["places"] == params["bytes"] // step


@pytest.mark.parametrize("stores", ["normal", "nontemporal"])
@pytest.mark.parametrize("kernel", ["write", "copy", "scale", "add", "triad"])
def test_bandwidth(kernel: str, stores: str) -> None:
    found = metrics("bandwidth", bytes=8192, kernel=kernel, stores=stores)
    assert found["traffic"]["value"] >= found["throughput"]["value"]


def test_bandwidth_of_all_threads_shares_the_arrays() -> None:
    answer = run("bandwidth", bytes=1 << 20, kernel="read", threads=0)
    assert answer["metrics"]["throughput"]["value"] is None or answer["metrics"]["throughput"]["value"] > 0
    assert answer["info"]["threads"] == len(os.sched_getaffinity(0))
    assert answer["info"]["share"]["value"] * answer["info"]["threads"] <= 1 << 20


def test_bandwidth_tells_where_normal_stores_read_first() -> None:
    answer = run("bandwidth", bytes=512, kernel="triad")
    assert answer["info"]["traffic_rule"]
    known = Path("/sys/devices/system/cpu/cpu0/cache/index0/size").exists()
    assert answer["info"]["write_allocate"] is not known
    assert run("bandwidth", bytes=8192, kernel="memcpy")["info"]["write_allocate"] is None


@pytest.mark.parametrize(
    ("probe", "params", "names"),
    [
        ("tlb", {"entries": 64}, {"latency", "packed"}),
        ("tlb", {"entries": 2, "pages": "huge"}, {"latency", "packed"}),
        ("line-size", {}, {"line"}),
        ("numa", {"memory_node": 0, "bytes": 1 << 20}, {"latency", "throughput"}),
        ("core-to-core", {}, {"latency"}),
        ("page-fault", {"kind": "anonymous"}, {"latency", "excess"}),
        ("page-fault", {"kind": "file"}, {"latency", "excess"}),
        ("page-fault", {"kind": "pages"}, {"latency", "excess"}),
        ("page-fault", {"kind": "protection"}, {"latency", "excess"}),
        ("mmap", {"bytes": 1 << 20}, {"latency"}),
        ("random-access", {"bytes": 100_000}, {"rate"}),
        ("random-access", {"bytes": 1 << 22, "threads": 0}, {"rate"}),
        ("loaded-latency", {"bytes": 1 << 16, "threads": 0}, {"latency", "load"}),
        ("loaded-latency", {"bytes": 1 << 16, "delay": 100}, {"latency", "load"}),
    ],
)
def test_every_probe_answers(probe: str, params: dict[str, Any], names: set[str]) -> None:
    assert set(metrics(probe, **params)) == names


def test_the_table_of_random_access_is_a_power_of_two_and_right_afterwards() -> None:
    info = run("random-access", bytes=100_000)["info"]
    assert info["bytes"] == 65536
    assert info["wrong"]["value"] == 0


def test_signals_that_are_taken_off_a_protection_fault_were_handled() -> None:
    signals = run("page-fault", kind="protection")["info"]["signals"]
    assert signals["handled"] == signals["sent"] > 0


def test_every_page_of_a_file_is_read() -> None:
    page = run("page-fault", kind="pages")
    assert page["info"]["pages"] * os.sysconf("SC_PAGESIZE") == 8 << 20
    assert page["metrics"]["latency"]["value"] > 0


def test_a_fault_is_a_fault() -> None:
    assert run("page-fault", kind="anonymous")["info"]["faults_per_touch"] >= 1


@pytest.mark.parametrize("probe", ["core-to-core", "loaded-latency"])
def test_one_cpu_is_a_reason(probe: str) -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    answer = run(probe, "taskset", "-c", cpu)
    assert answer["ok"], answer
    for metric in answer["metrics"].values():
        assert metric["value"] is None
        assert "one CPU only" in metric["reason"]


@pytest.mark.parametrize(
    ("probe", "params", "code", "field", "said"),
    [
        ("chase", {"bytes": 1 << 37}, "limit", "bytes", "137438953472"),
        ("bandwidth", {"bytes": 1 << 43}, "limit", "bytes", "available"),
        ("loaded-latency", {"bytes": 1 << 37}, "limit", "bytes", "available"),
        ("chase", {"bytes": 4096, "stride": 12}, "bad-parameter", "stride", "12"),
        ("chase", {"bytes": 4096, "stride": 8192}, "bad-parameter", "stride", "4096"),
        ("chase", {"bytes": 128, "chains": 8}, "bad-parameter", "chains", "8"),
        ("chase", {"cpu": 8000}, "bad-parameter", "cpu", "8000"),
        ("bandwidth", {"kernel": "read", "stores": "nontemporal"}, "bad-parameter", "stores", "read"),
        ("bandwidth", {"kernel": "memcpy", "stores": "nontemporal"}, "bad-parameter", "stores", "memcpy"),
        ("bandwidth", {"threads": 8000}, "bad-parameter", "threads", "8000"),
        ("numa", {"memory_node": 999}, "bad-parameter", "memory_node", "999"),
    ],
)
def test_refusals_name_figures(probe: str, params: dict[str, Any], code: str, field: str, said: str) -> None:
    if code == "limit" and probe == "loaded-latency" and ONE_CPU:
        pytest.skip("without another CPU nothing is asked for")
    error = run(probe, **params)["error"]
    assert (error["code"], error["field"]) == (code, field)
    assert said in error["message"]
