"""The probes for aarch64, built here and tried under emulation: `make cross`.

Figures of an emulated CPU say nothing; that every probe answers does: the sources compile for the other architecture,
and no instruction is missing there.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from provision import elf, native
from provision.packages import Host
from provision.places import Places
from provision.runner import SetupError, Shell
from provision.stamps import Stamps

ARCH = "aarch64"
COMPILER = f"{ARCH}-linux-gnu-g++"
EMULATORS = (f"qemu-{ARCH}-static", f"qemu-{ARCH}")
SECONDS = 0.002
"""Of each probe's replicate."""


def build(shell: Shell, host: Host, places: Places) -> Path:
    """Build the programs; return the folder in which a node of that architecture gets them from."""
    folder, target = places.build / f"native-{ARCH}", places.programs.parent / ARCH
    shutil.rmtree(target, ignore_errors=True)  # a wheel carries what is there: never that of older sources
    compiler = host.command(COMPILER)
    if compiler is None:
        raise SetupError(f"{COMPILER} is not installed", "`make cross` as root installs it")
    system = ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={ARCH}", f"-DCMAKE_CXX_COMPILER={compiler}"]
    native.configure(shell, host, places, folder, [*system, "-DWULF_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release"])
    shell.say(f"building the native probes for {ARCH}")
    native.compile_all(shell, host, folder)
    target.mkdir(parents=True, exist_ok=True)
    for name in native.PROGRAMS:
        if trouble := elf.problem(folder / name, ARCH):
            raise SetupError(f"{folder / name} {trouble}", native.SEE_LOG)
        (target / name).write_bytes((folder / name).read_bytes())
        (target / name).chmod(0o755)
    return target


def session(command: list[str], requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Hold a session, one request at a time: the answers, without the greeting."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        answers = []
        for number, request in enumerate(requests):
            process.stdin.write(json.dumps({"id": number, **request}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise SetupError(f"the program ended at {request}", "run it by hand: build/native-aarch64")
            answers.append(json.loads(line))
    return answers


def trials(described: dict[str, Any]) -> list[dict[str, Any]]:
    """List a request for each probe, and one for each choice of each of its parameters."""
    found = []
    for probe in described["probes"]:
        found.append({"op": "run", "probe": probe["name"], "params": {"seconds": SECONDS}})
        for param in probe["params"]:
            for choice in param.get("choices", ()):
                params = {"seconds": SECONDS, param["name"]: choice}
                found.append({"op": "run", "probe": probe["name"], "params": params})
    return found


def problems(emulator: str, folder: Path) -> list[str]:
    """List what does not work: a program that does not describe itself, a probe that gives neither figure nor reason.

    A choice that another parameter's default forbids is refused by name: that is an answer.
    """
    for name in native.PROGRAMS:
        done = subprocess.run([emulator, folder / name, "--describe"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return [f"{name} --describe ended with {done.returncode}: {done.stderr.strip()}"]
    node = [emulator, str(folder / "wulf-node")]
    described = json.loads(subprocess.run([*node, "--describe"], capture_output=True, text=True, check=True).stdout)
    asked = trials(described)
    found = []
    for request, answer in zip(asked, session(node, asked), strict=True):
        what = f"{request['probe']} {request['params']}"
        if not answer["ok"]:
            if answer["error"]["code"] != "bad-parameter":
                found.append(f"{what}: {answer['error']['message']}")
            continue
        for metric, value in answer["metrics"].items():
            if value["value"] is None and not value.get("reason"):
                found.append(f"{what}: {metric} has neither a value nor a reason")
    print(f"{ARCH}: {len(asked)} requests to {len(described['probes'])} probes of wulf-node under {emulator}")
    return found


def main() -> int:
    """Status 1 where something does not build or answer."""
    places = Places(Path(__file__).resolve().parents[1])
    host = Host(extra=(places.sysroot,), venv=places.venv)
    stamps, key = Stamps(places.build / "stamps"), native.sources_digest(places, COMPILER)
    if stamps.fresh("native-cross", key):
        print(f"{ARCH}: passed before, unchanged since")
        return 0
    try:
        with (places.build / "native-cross.log").open("w", encoding="utf-8") as log:
            folder = build(Shell(log), host, places)
        emulator = next((str(path) for name in EMULATORS if (path := host.command(name))), None)
        if emulator is None:
            raise SetupError("no emulator of aarch64 is installed", "`make cross` as root installs qemu-user-static")
        found = problems(emulator, folder)
    except SetupError as error:
        found = [str(error)]
    for problem in found:
        print(problem)
    if not found:
        stamps.set("native-cross", key)
    print(f"{ARCH}: " + ("FAILED" if found else "clean"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
