"""The C header: compiles everywhere without a warning, agrees with the Python reader, and no input breaks it."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.machines import tree
from tests.unit.rates.making import AT, LATENCY, NOTHING, SIZE, rates, written
from wulf.rates import RatesError, RatesMachineError, RatesTornError, RatesVersionError
from wulf.rates.machine import Identity, differences, identity
from wulf.rates.publishing import to_text
from wulf.rates.reading import parse

OK, MISSING, TORN, VERSION, MACHINE, NO_RATE, NO_VALUE = range(7)

HERE = Path(__file__).parent
INCLUDE = HERE.parents[2] / "src" / "wulf" / "include"
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow")
DIALECTS = [
    pytest.param(compiler, words, id=f"{compiler}-{words[-1]}")
    for compiler, words in (
        ("gcc", ("-std=c99",)), ("clang", ("-std=c99",)), ("gcc", ("-std=c17",)), ("g++", ("-x", "c++", "-std=c++11")),
        ("clang++", ("-x", "c++", "-std=c++11")), ("g++", ("-x", "c++", "-std=c++20")),
    )
]  # fmt: skip


def compiled(to: Path, compiler: str, *words: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    command = [compiler, *words, f"-I{INCLUDE}", str(HERE / "harness.c"), "-o", str(to), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return to


def asked(program: Path, path: Path, *names: str, **environ: str) -> list[str]:
    environment = {"WULF_RATES": str(path), **environ}
    done = subprocess.run([program, *names], env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


SANITIZED = ("-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The harness under AddressSanitizer and UndefinedBehaviorSanitizer, of the first compiler that has them."""
    return compiled(tmp_path_factory.mktemp("c") / "sanitized", "gcc" if shutil.which("gcc") else "clang", *SANITIZED)


@dataclass(frozen=True)
class Recorded:
    """A recorded machine, and a harness that takes itself to be there: no test's input hangs on where it runs."""

    identity: Identity
    program: Path


@pytest.fixture(scope="module", params=tree.names())
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recorded")
    root = tree.unpack(request.param, folder / "root")
    compiler = "gcc" if shutil.which("gcc") else "clang"
    program = compiled(folder / "program", compiler, *SANITIZED, f'-DWULF_RATES_ROOT="{root}"')
    return Recorded(identity(tree.expected(request.param)), program)


@pytest.mark.parametrize(("compiler", "words"), DIALECTS)
def test_it_compiles_without_a_warning_and_reads(compiler: str, words: Sequence[str], tmp_path: Path) -> None:
    program = compiled(tmp_path / "program", compiler, *words, *STRICT)
    written(tmp_path / "rates.json")
    found = asked(program, tmp_path / "rates.json", "mem.l2.size", "mem.l2.latency", "os.io_uring", "mem.l9.size")
    size, latency, lacks, unknown = found
    common = ["0.94999999999999996", "1769860800.000"]
    assert size.split() == ["0", "1048576", "983040", "1114112", *common, "B", "measured", "ok"]
    figures = ["3.4999999999999999e-09", "3.3999999999999998e-09", "3.6e-09"]
    assert latency.split() == ["0", *figures, *common, "s", "measured", "noisy"]
    assert lacks == "6 no io_uring here"
    assert unknown.startswith("5 ") and "`wulf rates list`" in unknown


def test_a_decimal_comma_does_not_matter(sanitized: Path, tmp_path: Path) -> None:
    written(tmp_path / "rates.json")
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    for name in [name for name in listed if name.startswith(("de_", "fr_", "da_"))][:2] or ["C"]:
        assert asked(sanitized, tmp_path / "rates.json", "mem.l2.latency", LC_ALL=name)[0].startswith("0 3.49")


def test_the_environment_names_the_file(sanitized: Path, tmp_path: Path) -> None:
    written(tmp_path / "cache" / "wulf" / "rates.json")
    (tmp_path / ".cache").symlink_to(tmp_path / "cache")

    def status(**environ: str) -> int:
        done = subprocess.run(
            [sanitized, "mem.l2.size"], env=environ, capture_output=True, text=True, check=False, timeout=60
        )
        return int(done.stdout.split()[0])

    if not Path("/run/wulf/rates.json").exists():
        assert status(XDG_CACHE_HOME=str(tmp_path / "cache")) == OK
        assert status(HOME=str(tmp_path)) == OK
        assert status(XDG_CACHE_HOME="cache", HOME="/nowhere") == MISSING
        assert status() == MISSING
    assert status(WULF_RATES=str(tmp_path / "none")) == MISSING
    assert status(WULF_RATES="/dev/zero") == TORN
    os.mkfifo(tmp_path / "pipe")
    assert status(WULF_RATES=str(tmp_path / "pipe")) == TORN
    (tmp_path / "long").write_bytes(b" " * (1 << 21))
    assert status(WULF_RATES=str(tmp_path / "long")) == TORN


def test_recorded_machines_are_told_apart(recorded: Recorded, tmp_path: Path) -> None:
    own = recorded.identity

    def status(machine: Identity) -> int:
        (tmp_path / "rates.json").write_text(to_text("n1", AT, machine, rates(SIZE)))
        return int(asked(recorded.program, tmp_path / "rates.json", "mem.l2.size")[0].split()[0])

    assert status(own) == OK
    for fact in set(own) & {"kernel.release", "kernel.version", "cpu.online", "cpu.microcode", "memory.size"}:
        assert status(own | {fact: "other"}) == MACHINE
    assert status(own | {"cpu.model": "other"}) == (OK if own.get("kernel.architecture") == "aarch64" else MACHINE)


def answers(program: Path, inputs: Sequence[bytes]) -> list[str]:
    frames = b"".join(struct.pack("<I", len(text)) + text for text in inputs)
    done = subprocess.run([program, "--frames"], input=frames, capture_output=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    return done.stdout.decode(errors="replace").splitlines()


def expected(text: bytes, here: Identity) -> int | float:
    """What the Python reader says: the rate's value, or the status that is the header's for its error."""
    try:
        read = parse(Path("x"), text)
        if differences(read.machine, here):
            raise RatesMachineError("x")
    except RatesError as error:
        return {RatesTornError: TORN, RatesVersionError: VERSION, RatesMachineError: MACHINE}[type(error)]
    rate = read.get("mem.l2.size")
    if rate is None:
        return NO_RATE
    return NO_VALUE if rate.value is None else float(rate.value)


def a_file(machine: Identity) -> bytes:
    odd = replace(LATENCY, name="odd", reason='ü "quoted" \\ \U0001f600 \x07\n')
    return to_text("n1", AT, machine, rates(SIZE, LATENCY, NOTHING, odd)).encode()


CASES: list[tuple[str, Callable[[bytes], bytes], int]] = [
    ("whole", lambda text: text, OK),
    ("cut", lambda text: text[:-3], TORN),
    ("empty", lambda _: b"", TORN),
    ("more", lambda text: text + b"x", TORN),
    ("mark", lambda text: b"\xef\xbb\xbf" + text, TORN),
    ("no utf-8", lambda text: text.replace(b'"n1"', b'"n\xff"'), TORN),
    ("overlong", lambda text: text.replace(b'"n1"', b'"n\xc0\x80"'), TORN),
    ("surrogate", lambda text: text.replace(b'"n1"', b'"n\xed\xa0\x80"'), TORN),
    ("control", lambda text: text.replace(b'"n1"', b'"n\n"'), TORN),
    ("escape", lambda text: text.replace(b"mem.l2.size", b"mem.l2.si\\u007ae"), OK),
    ("nul", lambda text: text.replace(b"mem.l2.size", b"mem.l2.size\\u0000"), NO_RATE),
    ("comma", lambda text: text.replace(b'"B",', b'"B",,'), TORN),
    ("schema", lambda text: text.replace(b'"schema": 1', b'"schema": 2'), VERSION),
    ("no integer", lambda text: text.replace(b'"schema": 1', b'"schema": 1.0'), TORN),
    ("zeros", lambda text: text.replace(b'"schema": 1', b'"schema": 01'), TORN),
    ("no schema", lambda text: text.replace(b'"schema": 1', b'"scheme": 1'), TORN),
    ("infinite", lambda text: text.replace(b"1048576.0", b"1e999"), TORN),
    ("nan", lambda text: text.replace(b"1048576.0", b"NaN"), TORN),
    ("text", lambda text: text.replace(b"1048576.0", b'"1048576"'), TORN),
    ("true", lambda text: text.replace(b"1048576.0", b"true"), TORN),
    ("null", lambda text: text.replace(b"1048576.0", b"null"), TORN),
    ("no date", lambda text: text.replace(AT.encode(), b"2026-02-29T12:00:00Z"), TORN),
    ("kernel", lambda text: text.replace(b'"kernel.release": "', b'"kernel.release": "2'), MACHINE),
    ("deep", lambda text: text.replace(b'"n1"', b"[" * 5000), TORN),
    ("long number", lambda text: text.replace(b"3.5e-09", b"3.5" + b"9" * 700 + b"e-09"), OK),
    ("longer number", lambda text: text.replace(b"1048576.0", b"1048576." + b"0" * 9000), OK),
    ("long whole number", lambda text: text.replace(b'"n1",', b'"n1", "more": ' + b"9" * 5000 + b","), OK),
    ("too large", lambda text: text.replace(b"1048576.0", b"9" * 400), TORN),
]


def test_both_readers_agree(recorded: Recorded) -> None:
    whole = a_file(recorded.identity)
    inputs = [make(whole) for _, make, _ in CASES]
    for (name, _, status), text, line in zip(CASES, inputs, answers(recorded.program, inputs), strict=True):
        assert line.split()[0] == str(status), name
        assert expected(text, recorded.identity) == (1048576.0 if status == OK else status), name


PIECES = [b'"', b"\\", b"\\u", b"\\ud83d\\ude00", b"{", b"}", b"[", b"]", b",", b":", b"null", b"-", b"0", b"1e5",
          b".", b"1e-400", b"\x00", b"\xff", b"\xf0\x9f\x98\x80", b"\n", b" ", b"rates", b"mem.l2.size", b"value",
          b"[" * 70, b'{"a":' * 70, b"9" * 600]  # fmt: skip


def mutated(text: bytes, dice: random.Random) -> bytes:
    """One to four changes: a byte, a piece put in, a slice taken out, doubled or moved, or the end cut off."""
    changed = bytearray(text)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        at, to = sorted((dice.randrange(len(changed) + 1), dice.randrange(len(changed) + 1)))
        to = min(to, at + dice.choice((1, 4, 30)))
        kind = dice.randrange(6)
        if kind == 0 and at < len(changed):
            changed[at] = dice.randrange(256)
        elif kind == 1:
            changed[at:at] = dice.choice(PIECES)
        elif kind == 2:
            del changed[at:to]
        elif kind == 3:
            changed[at:at] = changed[at:to]
        elif kind == 4:
            changed[at:to] = dice.choice(PIECES)
        elif dice.random() < 0.2:
            del changed[at:]
    return bytes(changed)


def test_no_input_breaks_it_and_what_python_reads_it_reads_alike(recorded: Recorded) -> None:
    here, whole = recorded.identity, a_file(recorded.identity)
    dice = random.Random(20260131)
    small = json.dumps(json.loads(whole), separators=(",", ":")).encode()
    inputs = [mutated(dice.choice((whole, small)), dice) for _ in range(3000)]
    values = 0
    for text, line in zip(inputs, answers(recorded.program, inputs), strict=True):
        status, *figures = line.split()
        wanted = expected(text, here)
        if isinstance(wanted, float):
            values += 1
            assert (status, float(figures[0])) == ("0", wanted), text
        elif wanted in (NO_RATE, NO_VALUE, VERSION):
            assert status == str(wanted), text
    assert values > 100, "most mutations break the file, but not all"
