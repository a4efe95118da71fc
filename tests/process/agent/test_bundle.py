"""The agent as one file: same bytes for the same sources, and it runs where nothing is installed."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.running.tiers import first_of
from wulf.agent import bundle

AGENT = Path(bundle.__file__).parent
PYTHONS = [f"python3.{minor}" for minor in sorted(range(9, 15), key=lambda minor: minor != sys.version_info.minor)]
"""This one first: `make test` tries some things with it alone."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle.build(tmp_path_factory.mktemp("bundle"))


def session(python: str, program: Path, cwd: Path, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Answers of a session under a bare Python: no environment, no site-packages, an empty folder."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    command = [python, "-I", "-S", str(program)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, request in enumerate(requests):
            process.stdin.write(json.dumps({"id": number, **request}).encode() + b"\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(len(requests) + 1)]
        rest, said = process.communicate()
    assert (process.returncode, rest, said) == (0, b"", b"")
    return answers


def _installed(python: str) -> str | None:
    """Path of a Python on PATH, or of a version that pyenv has beside the active one."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in (shutil.which(python), *sorted(versions.glob(f"*/bin/{python}"))):
        if path and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return str(path)
    return None


def test_same_sources_same_bytes(built: Path, tmp_path: Path) -> None:
    assert bundle.build(tmp_path).read_bytes() == built.read_bytes()


def test_an_unchanged_bundle_is_kept_and_a_torn_one_replaced(tmp_path: Path) -> None:
    path = bundle.build(tmp_path)
    assert path == tmp_path / "wulf-agent"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    first = path.stat().st_ino
    assert bundle.build(tmp_path).stat().st_ino == first
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert bundle.build(tmp_path).read_bytes() == whole
    path.write_bytes(whole[:5000] + b"\0" * 100 + whole[5100:])
    assert bundle.build(tmp_path).read_bytes() == whole
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["wulf-agent", "wulf-agent.stamp"]


def test_a_bundle_whose_sources_nobody_touched_is_neither_read_nor_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bundle.build(tmp_path)
    reading: list[int] = []
    whole = bundle._contents
    monkeypatch.setattr(bundle, "_contents", lambda: reading.append(1) or whole())
    assert bundle.build(tmp_path) == path
    assert not reading
    monkeypatch.setattr(bundle, "_seen", lambda: "others")
    bundle.build(tmp_path)
    assert reading == [1]
    monkeypatch.undo()
    (tmp_path / "wulf-agent.stamp").write_text("torn")
    assert bundle.build(tmp_path) == path


def test_it_holds_the_agent_and_pyroute2_with_its_licence_and_no_more(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
    assert built.read_bytes().startswith(b"#!/usr/bin/env python3\n")
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"__main__.py", "wulf", "pyroute2"}
    assert "wulf/agent/facts/nic.py" in names
    assert "wulf/agent/bundle.py" not in names
    assert not [name for name in names if name.startswith("wulf/core")]
    assert [name for name in names if "LICENSE" in name]
    assert built.stat().st_size < 13 << 17, "1.6 MiB, which travel to a node once a version"


def test_it_holds_the_code_of_its_modules_which_does_not_depend_on_who_compiled_them(
    built: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
    modules = {name for name in names if name.endswith(".py")} - {"__main__.py"}
    assert {name for name in names if name.endswith(".pyc")} == {f"{name}c" for name in modules}
    build = f"from pathlib import Path; from wulf.agent.bundle import build; build(Path({str(tmp_path)!r}))"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", f"import asyncio, json; {build}"], check=True, timeout=120, env=environment)
    assert (tmp_path / "wulf-agent").read_bytes() == built.read_bytes()


@pytest.mark.parametrize(("spoilt", "by"), [(".py", b"raise SystemExit(9)\n"), (".pyc", b"\0" * 16)])
def test_it_runs_from_code_of_the_same_python_and_else_from_source(
    built: Path, tmp_path: Path, spoilt: str, by: bytes
) -> None:
    with zipfile.ZipFile(built) as archive, zipfile.ZipFile(tmp_path / "agent", "w") as other:
        for name in archive.namelist():
            other.writestr(name, by if name.endswith(spoilt) and name != "__main__.py" else archive.read(name))
    words = [sys.executable, "-I", "-S", str(tmp_path / "agent"), "--version"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "wulf-agent"), done.stderr


@pytest.mark.parametrize("python", PYTHONS)
def test_it_runs_under_a_bare_python(python: str, built: Path, tmp_path: Path) -> None:
    executable = _installed(python)
    if executable is None:
        pytest.skip(f"no {python} here")
    greeting, *answers = session(executable, built, tmp_path, {"op": "ping"}, {"op": "facts"}, {"op": "addresses"})
    assert greeting["hello"] == "wulf-agent"
    ping, facts, addresses = sorted(answers, key=lambda answer: answer["id"])
    assert ping == {"id": 0, "ok": True}
    assert addresses["ok"], addresses
    named = facts["facts"]["nic.interfaces"]["value"]
    for nic in (named or "none").replace("none", "").split():
        assert named is not None
        assert facts["facts"][f"nic.{nic}.qdisc"]["value"]
        assert isinstance(facts["facts"][f"nic.{nic}.offload.gro"]["value"], bool)
    assert facts["facts"]["system.python"]["value"].startswith(python.removeprefix("python"))


@pytest.mark.parametrize("python", first_of(PYTHONS))
def test_every_mechanism_reads_under_a_bare_python(python: str, built: Path, tmp_path: Path) -> None:
    executable = _installed(python)
    if executable is None:
        pytest.skip(f"no {python} here")
    wanted = [
        {"name": "link", "mechanism": "link", "target": {"attribute": "mtu"}},
        {"name": "ethtool", "mechanism": "ethtool", "target": {"topic": "features", "field": "rx-gro"}},
        {"name": "sysctl", "mechanism": "sysctl", "target": {"key": "net.core.rmem_max"}},
        {"name": "sysfs", "mechanism": "sysfs", "target": {"path": "sys/class/net/{nic}/queues/{rx}/rps_cpus"}},
        {"name": "qdisc", "mechanism": "qdisc", "target": {}},
        {"name": "bootline", "mechanism": "bootline", "target": {"word": "quiet"}},
        {"name": "fact", "mechanism": "fact", "target": {"fact": "nic.*.mtu"}},
        {"name": "service", "mechanism": "service", "target": {"unit": "irqbalance"}},
        {"name": "irq", "mechanism": "irq", "target": {}},
    ]
    _, *answers = session(executable, built, tmp_path, {"op": "settings", "read": wanted}, {"op": "describe"})
    read, described = sorted(answers, key=lambda answer: answer["id"])
    found = read["settings"]
    assert set(found) == {each["name"] for each in wanted}
    for reading in (reading for by_place in found.values() for reading in by_place.values()):
        assert reading["value"] is not None or reading["reason"]
        assert "import" not in reading.get("reason", "")
        assert "unexpected" not in reading.get("reason", "")
    assert found["sysctl"][""]["value"] > 0
    assert {place: reading["value"] for place, reading in found["link"].items()} == {
        place: reading["value"] for place, reading in found["fact"].items()
    }
    mechanisms = {each["name"]: each for each in described["describe"]["mechanisms"]}
    assert mechanisms["link"]["words"] == ["attribute"]


@pytest.mark.parametrize("python", first_of(PYTHONS))
def test_concurrent_first_requests_all_import_what_they_need(python: str, built: Path, tmp_path: Path) -> None:
    executable = _installed(python)
    if executable is None:
        pytest.skip(f"no {python} here")
    requests = [{"op": "addresses"}, {"op": "facts", "only": ["nic"]}, {"op": "facts"}, {"op": "describe"}] * 2
    answers = session(executable, built, tmp_path, *requests)[1:]
    assert [answer for answer in answers if not answer["ok"]] == []
    reasons = [fact.get("reason", "") for answer in answers for fact in answer.get("facts", {}).values()]
    assert [reason for reason in reasons if "import" in reason] == []


def test_without_pyroute2_its_facts_are_null_and_the_others_there(tmp_path: Path) -> None:
    shutil.copytree(AGENT, tmp_path / "wulf/agent", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(AGENT.parent / "__init__.py", tmp_path / "wulf")
    (tmp_path / "__main__.py").write_bytes(bundle._MAIN)
    answers = session(sys.executable, tmp_path, tmp_path, {"op": "facts"}, {"op": "addresses"})[1:]
    facts, addresses = sorted(answers, key=lambda answer: answer["id"])
    assert facts["facts"]["kernel.release"]["value"] == os.uname().release
    reasons = {reading["reason"] for name, reading in facts["facts"].items() if name.endswith(".qdisc")}
    assert all("pyroute2 can't be imported on this node" in reason for reason in reasons)
    assert addresses["error"]["code"] == "address"
    assert "pyroute2" in addresses["error"]["message"]


def _modules() -> list[Path]:
    return sorted(AGENT.rglob("*.py"))


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(AGENT)))
def test_what_runs_on_a_node_is_python_39_and_needs_the_standard_library_alone(path: Path) -> None:
    parsed = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module))
    foreign = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    allowed = {"wulf"} | {name for name in foreign if name.startswith("wulf.agent")}
    if path in (AGENT / "net/netlink.py", AGENT / "net/ethtool.py"):
        allowed |= {name for name in foreign if name.startswith("pyroute2.")}
    assert foreign <= allowed


def test_ruff_finds_nothing_that_python_39_lacks() -> None:
    ruff = Path(sysconfig.get_path("scripts")) / "ruff"
    if not ruff.exists():
        pytest.skip("ruff is not installed here")
    command = [str(ruff), "check", "--target-version", "py39", "--no-cache", str(AGENT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
