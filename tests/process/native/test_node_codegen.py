"""What the compilers made of the node probe's kernels: the loop is there, with the operations meant and no others.

A barrier that a compiler sees through, a division of another width, or two operations that become one vector's would
give figures that look right. Each check is tried on a kernel whose barrier is taken out, too.
"""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.running.tiers import first_of

from .disassembly import COMPILERS, NATIVE, Function, Instruction, build, functions, mnemonics, parse

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the instructions expected below are those of x86-64"),
    pytest.mark.skipif(not COMPILERS, reason="neither g++ nor clang++ is installed"),
    pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed (binutils)"),
]

DEPENDENT, BOGO, INDEPENDENT = 128, 60, 240
"""Operations a round, as arithmetic_kernels.hpp unrolls them."""

COUNTING = {"add", "addq", "sub", "subq", "dec", "inc", "cmp", "test", "jne", "jb", "ja", "jmp"}
MOVES = {"mov", "movss", "movsd", "movaps", "movapd", "movd", "movq"}
RESTART = {"and", "or", "xor"}
WIDE = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{number}" for number in range(8, 16))}
NARROW = {"eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", *(f"r{number}d" for number in range(8, 16))}
SCALAR = {f"xmm{number}" for number in range(16)}


@dataclass(frozen=True)
class Expected:
    """The operations of one step; `beside` them so many instructions a step, of those kinds, at most."""

    operations: tuple[str, ...]
    registers: set[str]
    beside: int = 0
    kinds: set[str] = field(default_factory=set)


def whole(registers: set[str], extend: str) -> dict[str, Expected]:
    """Of integers: a division also extends the sign, and moves to where the instruction wants its operands."""
    return {
        "Bit": Expected(("xor",), registers),
        "Add": Expected(("add",), registers),
        "Multiply": Expected(("imul",), registers),
        "Divide": Expected(("idiv",), registers, 3, {extend}),
        "Modulo": Expected(("idiv",), registers, 4, {extend, "lea"}),
    }


def fraction(suffix: str) -> dict[str, Expected]:
    return {
        "Add": Expected((f"add{suffix}",), SCALAR),
        "Multiply": Expected((f"mul{suffix}",), SCALAR),
        "Divide": Expected((f"div{suffix}",), SCALAR, 1),
        "Bogo": Expected(tuple(f"{op}{suffix}" for op in ("add", "sub", "mul", "div")), SCALAR, 3, RESTART),
    }


KERNELS = {
    (of, op): expected
    for of, table in {
        "int": whole(NARROW, "cltd"),
        "long": whole(WIDE, "cqto"),
        "float": fraction("ss"),
        "double": fraction("sd"),
    }.items()
    for op, expected in table.items()
}


def steps(loop: str, op: str) -> int:
    return INDEPENDENT if loop == "independent" else BOGO if op == "Bogo" else DEPENDENT


def find(code: dict[str, Function], pattern: str) -> Function:
    """The one function whose demangled name has the pattern."""
    found = [function for name, function in code.items() if re.search(pattern, name)]
    assert len(found) == 1, f"{len(found)} functions match {pattern}: {sorted(code)}"
    return found[0]


def kernel(code: dict[str, Function], loop: str, of: str, op: str) -> Function:
    return find(code, rf"\b{loop}<{of}, wulf::node::{op}>\(")


def body(function: Function) -> tuple[Instruction, ...]:
    """The function's only loop; without one there are no instructions."""
    return function.loops[0] if len(function.loops) == 1 else ()


def faults(function: Function, expected: Expected, count: int) -> list[str]:
    """What is wrong with a kernel of `count` steps a round; none: all is as it should be."""
    code = body(function)
    if not code:
        return [f"{len(function.loops)} loops instead of one"]
    found = []
    for mnemonic in expected.operations:
        wide = [each for each in code if each.mnemonic == mnemonic and set(each.registers) <= expected.registers]
        if not count <= len(wide) <= count + 1:  # the counter of the loop may be counted by `add`, too
            found.append(f"{len(wide)} {mnemonic} of the right width instead of {count}")
    others = set(mnemonics(code)) - {*expected.operations, *expected.kinds, *COUNTING, *MOVES}
    if others:
        found.append(f"instructions that have no business there: {sorted(others)}")
    most = count * (len(expected.operations) + expected.beside) + 4
    if len(code) > most:
        found.append(f"{len(code)} instructions in the loop, more than {most}")
    return found


@pytest.fixture(scope="module", params=first_of(COMPILERS))
def compiler(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def arithmetic(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    folder = tmp_path_factory.mktemp(compiler)
    return functions(build(compiler, NATIVE / "node/cpu/arithmetic_kernels.cpp", folder / "arithmetic.o"))


@pytest.mark.parametrize("loop", ["dependent", "independent"])
@pytest.mark.parametrize(("of", "op"), KERNELS)
def test_arithmetic(arithmetic: dict[str, Function], loop: str, of: str, op: str) -> None:
    assert faults(kernel(arithmetic, loop, of, op), KERNELS[of, op], steps(loop, op)) == []


def test_every_kernel_of_the_table_is_looked_at(arithmetic: dict[str, Function]) -> None:
    built = {name for name in arithmetic if re.search(r"\b(in)?dependent<", name)}
    assert len(built) == 2 * len(KERNELS)


@pytest.mark.parametrize("loop", ["dependent", "independent"])
@pytest.mark.parametrize("of", ["int", "long", "float", "double"])
def test_independent_chains_are_in_registers_of_their_own(arithmetic: dict[str, Function], loop: str, of: str) -> None:
    """As many sums as there are chains, each added to equally often: a dependent chain has one."""
    expected = KERNELS[of, "Add"]
    code = [
        each
        for each in body(kernel(arithmetic, loop, of, "Add"))
        if each.mnemonic in expected.operations
        and set(each.registers) <= expected.registers
        and "$" not in each.operands
    ]
    sums = {each.registers[-1] for each in code}
    chains = {"float": 12, "double": 12}.get(of, 8) if loop == "independent" else 1
    assert len(sums) in {chains, chains + 1}  # a sum may change its register at the loop's end


def without_barriers(folder: Path, source: str) -> Path:
    """A copy of native/node where the compiler sees through `opaque`; the source in it."""
    copy = folder / "node"
    shutil.copytree(NATIVE / "node", copy)
    opaque = folder / "core/kernels/opaque.hpp"
    text, taken = re.subn(
        r'asm volatile\("" : "\+[rxw]"\(value\)\);', ";", (NATIVE / "core/kernels/opaque.hpp").read_text()
    )
    assert taken == 3
    opaque.parent.mkdir(parents=True)
    opaque.write_text(text)
    return copy / source


@pytest.fixture(scope="module")
def mutated(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    folder = tmp_path_factory.mktemp(compiler)
    source = without_barriers(folder, "cpu/arithmetic_kernels.cpp")
    return functions(build(compiler, source, folder / "mutated.o", f"-I{folder}"))


@pytest.mark.parametrize(("loop", "of"), [("dependent", "int"), ("dependent", "long"), ("independent", "float")])
def test_a_kernel_without_its_barrier_is_found(mutated: dict[str, Function], loop: str, of: str) -> None:
    assert faults(kernel(mutated, loop, of, "Add"), KERNELS[of, "Add"], steps(loop, "Add"))


def brown_faults(code: dict[str, Function]) -> list[str]:
    """Four scalar operations an element, each as often as the others, and nothing of vectors or calls."""
    counts = mnemonics(tuple(each for loop in find(code, r"\bbrown_pass\(").loops for each in loop))
    wanted = [counts[name] for name in ("addsd", "subsd", "mulsd", "divsd")]
    packed = [name for name in counts if re.fullmatch(r"v?(add|sub|mul|div|fn?m\w+)p[sd]|call", name)]
    return [*packed, *([] if min(wanted) == max(wanted) > 0 else [f"operations: {wanted}"])]


def test_browns_loop_is_scalar(compiler: str, tmp_path: Path) -> None:
    for level in ("-O2", "-O3"):
        made = build(compiler, NATIVE / "node/cpu/brown.cpp", tmp_path / "brown.o", level)
        assert brown_faults(functions(made)) == []


def test_browns_loop_without_its_barrier_is_found(compiler: str, tmp_path: Path) -> None:
    source = without_barriers(tmp_path, "cpu/brown.cpp")
    code = functions(build(compiler, source, tmp_path / "brown.o", "-O3", f"-I{tmp_path}"))
    assert brown_faults(code)


@pytest.fixture(scope="module")
def fma(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    folder = tmp_path_factory.mktemp(compiler)
    return functions(build(compiler, NATIVE / "node/cpu/fma_kernels.cpp", folder / "fma.o"))


@pytest.mark.parametrize(("isa", "vector"), [("avx512", "zmm"), ("avx2", "ymm")])
@pytest.mark.parametrize(("of", "suffix"), [("double", "pd"), ("float", "ps")])
def test_fused(fma: dict[str, Function], isa: str, vector: str, of: str, suffix: str) -> None:
    """96 multiply-adds on 12 sums in turn, whole vectors, and the loop's own two instructions."""
    function = find(fma, rf"\bfused_{isa}_{of}\(")
    code = body(function)
    operations = [each for each in code if each.mnemonic == f"vfmadd231{suffix}"]
    assert len(operations) == 96
    assert len(code) == 98
    assert all(name.startswith(vector) for each in operations for name in each.registers)
    assert [each.registers[-1] for each in operations] == [f"{vector}{i}" for _ in range(8) for i in range(12)]
    assert mnemonics(function.code)["vzeroupper"] == 1


@pytest.mark.parametrize(("of", "suffix"), [("double", "pd"), ("float", "ps")])
def test_plain(fma: dict[str, Function], of: str, suffix: str) -> None:
    """The x86-64 baseline multiplies and adds apart, in legacy instructions."""
    code = body(find(fma, rf"\bplain_sse2_{of}\("))
    assert mnemonics(code)[f"mul{suffix}"] == mnemonics(code)[f"add{suffix}"] == 48
    assert len(code) == 98


def test_the_disassembly_is_read_as_it_is_printed() -> None:
    """Prefixes, comments, forward branches and targets beyond the function."""
    code = parse(
        "0000000000000000 <int f<int>(unsigned long)>:\n"
        "   0:\ttest   %rsi,%rsi\n"
        "   3:\tje     c <int f<int>(unsigned long)+0xc>\n"
        "   5:\timul   %ecx,%edx        # a comment\n"
        "   7:\tnotrack jne 5 <int f<int>(unsigned long)+0x5>\n"
        "   c:\tret\n"
        "\n"
        "0000000000000010 <g()>:\n"
        "  10:\tjmp    0 <int f<int>(unsigned long)>\n"
    )
    (loop,) = code["int f<int>(unsigned long)"].loops
    assert [each.mnemonic for each in loop] == ["imul", "jne"]
    assert loop[0].registers == ["ecx", "edx"]
    assert code["g()"].loops == []
