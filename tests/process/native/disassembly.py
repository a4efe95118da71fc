"""What a compiler made of a source: functions, their instructions and loops, as objdump prints them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

NATIVE = Path(__file__).resolve().parents[3] / "native"

COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]

_SYMBOL = re.compile(r"^[0-9a-f]+ <(?P<name>.+)>:$")
_INSTRUCTION = re.compile(r"^\s*(?P<address>[0-9a-f]+):\s+(?P<text>\S.*)$")
_PREFIXES = {"bnd", "notrack", "rep", "repz", "lock", "data16", "cs"}
_JUMP = re.compile(r"^(j[a-z]+|b(\.[a-z]+)?|cbn?z|tbn?z)$")
_TARGET = re.compile(r"\b([0-9a-f]+) <")


@dataclass(frozen=True)
class Instruction:
    """One line of disassembly, AT&T syntax on x86: `imul`, `%ecx,%edx`."""

    address: int
    mnemonic: str
    operands: str

    @property
    def jumps_to(self) -> int | None:
        """Where a branch goes, if it is one whose target is known."""
        found = _TARGET.search(self.operands) if _JUMP.match(self.mnemonic) else None
        return int(found[1], 16) if found else None

    @property
    def registers(self) -> list[str]:
        """The registers named: `eax`, `xmm1`."""
        return re.findall(r"%([a-z0-9]+)", self.operands)


@dataclass(frozen=True)
class Function:
    """A function's instructions in their order."""

    name: str
    code: tuple[Instruction, ...]

    @property
    def loops(self) -> list[tuple[Instruction, ...]]:
        """The instructions of each loop: from a backward branch's target up to the branch."""
        first = self.code[0].address
        return [
            tuple(each for each in self.code if target <= each.address <= jump.address)
            for jump in self.code
            if (target := jump.jumps_to) is not None and first <= target <= jump.address
        ]


def mnemonics(code: tuple[Instruction, ...]) -> Counter[str]:
    """How often each mnemonic occurs."""
    return Counter(each.mnemonic for each in code)


def release_flags() -> list[str]:
    """What CMake hands to the compiler for the node probe's files in a Release build, read from CMakeLists.txt."""
    text = (NATIVE / "CMakeLists.txt").read_text()
    release = re.search(r'set\(CMAKE_CXX_FLAGS_RELEASE "([^"]*)"\)', text)
    own = re.search(r"target_compile_options\(wulf-node-parts PRIVATE ([^)]*)\)", text)
    standard = re.search(r"set\(CMAKE_CXX_STANDARD (\d+)\)", text)
    assert release and own and standard, "native/CMakeLists.txt no longer says how it compiles"
    return [f"-std=c++{standard[1]}", *release[1].split(), *own[1].split()]


def build(compiler: str, source: Path, target: Path, *flags: str) -> Path:
    """Compile a source as a Release build does, with flags of one's own behind; returns the object file."""
    command = [compiler, *release_flags(), *flags, f"-I{NATIVE}", "-c", str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def functions(path: Path) -> dict[str, Function]:
    """Every function of an object file by its demangled name."""
    listing = subprocess.run(
        ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    return parse(listing.stdout)


def parse(listing: str) -> dict[str, Function]:
    """The functions of objdump's text."""
    found: dict[str, list[Instruction]] = {}
    code: list[Instruction] = []
    for line in listing.splitlines():
        if symbol := _SYMBOL.match(line):
            code = found.setdefault(symbol["name"], [])
        elif instruction := _INSTRUCTION.match(line):
            code.append(_instruction(int(instruction["address"], 16), instruction["text"]))
    return {name: Function(name, tuple(code)) for name, code in found.items() if code}


def _instruction(address: int, text: str) -> Instruction:
    words = text.split("#", maxsplit=1)[0].split()
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    return Instruction(address, words[0], " ".join(words[1:]))
