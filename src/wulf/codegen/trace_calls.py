"""The wrappers of MPI's calls for libwulf-trace, and the tables of its trace's records, made from
native/trace/calls.txt. Standard library alone: the wheel's build uses it, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wulf.codegen.profile_calls import C_TYPES, FORTRAN_NAMES

SHAPES = {
    "thread": "thread", "site": "site", "site_name": "site text", "tests": "times count between",
    "neighbours": "comm members members2", "mark": "times number", "found_comm": "newcomm members members2",
    "send": "times peer tag comm bytes", "isend": "times peer tag comm bytes request",
    "recv": "times peer tag comm bytes actual", "sendrecv": "times peer tag bytes peer2 tag2 bytes2 comm actual",
    "start": "times requests", "request": "times request", "wait": "times completion",
    "waits": "times given completions",
    "comm": "times comm", "bcast": "times comm root bytes", "allreduce": "times comm bytes",
    "reduce_scatter": "times comm counts", "gather": "times comm root bytes bytes2",
    "gatherv": "times comm root bytes counts", "scatterv": "times comm root bytes2 counts",
    "allgather": "times comm bytes bytes2", "allgatherv": "times comm bytes counts",
    "alltoallv": "times comm bytes bytes2 counts counts2", "neighborv": "times comm bytes bytes2 counts",
    "newcomm": "times comm newcomm members members2",
    "newwin": "times comm newwin", "window": "times window", "put": "times peer window bytes",
    "get_accumulate": "times peer window bytes bytes2", "epoch_peer": "times peer window",
    "epoch_group": "times window members", "plain": "times", "io": "times bytes",
}  # fmt: skip
"""Shape of a record → its fields after the operation's number (docs/reference/trace-format.md)."""

COLLECTIVES = {
    "barrier": ("comm", ""), "bcast": ("bcast", "sn st root"), "allreduce": ("allreduce", "sn st"),
    "reduce_scatter": ("reduce_scatter", "rns rt"), "gather": ("gather", "in_place sn st rn rt root"),
    "gatherv": ("gatherv", "in_place sn st rns rt root"), "scatter": ("gather", "in_place_r sn st rn rt root"),
    "scatterv": ("scatterv", "in_place_r sns st rn rt root"), "allgather": ("allgather", "in_place sn st rn rt"),
    "allgatherv": ("allgatherv", "in_place sn st rns rt"), "alltoallv": ("alltoallv", "in_place sns st rns rt"),
    "alltoallw": ("alltoallv", "in_place sns sts rns rts"), "neighbor": ("allgather", "no_place sn st rn rt"),
    "neighborgv": ("neighborv", "sn st rns rt"), "neighborv": ("neighborv", "sns st rns rt"),
    "neighborw": ("neighborv", "sns sts rns rts"),
}  # fmt: skip
"""Collective → the shape of its records, and what its function is told beside the communicator."""

FUNCTIONS = {
    "note_thread": ("thread", ""), "note_site": ("site", ""), "note_site_name": ("site_name", ""),
    "note_tests": ("tests", ""), "note_neighbours": ("neighbours", ""), "note_finalize": ("plain", ""),
    "note_mark": ("mark", ""), "note_found_comm": ("found_comm", ""),
    "send": ("send", "sn st peer tag comm"), "isend": ("isend", "sn st peer tag comm req"),
    "send_init": ("isend", "sn st peer tag comm req"), "recv": ("recv", "peer tag comm stat"),
    "irecv": ("isend", "rn rt peer tag comm req"), "recv_init": ("isend", "rn rt peer tag comm req"),
    "mrecv": ("recv", "stat"), "imrecv": ("isend", "rn rt req"), "probe": ("recv", "peer tag comm stat"),
    "iprobe": ("recv", "peer tag comm flag stat"), "mprobe": ("recv", "peer tag comm msg stat"),
    "improbe": ("recv", "peer tag comm flag msg stat"),
    "sendrecv": ("sendrecv", "sn st peer tag peer2 tag2 comm stat"),
    "start": ("start", ""), "startall": ("start", ""), "cancel": ("request", ""), "request_free": ("request", ""),
    "get_status": ("request", "rqv flag"),
    "wait": ("wait", "stat"), "waitall": ("waits", "stats"), "waitany": ("waits", "index stat"),
    "waitsome": ("waits", "outcount indices stats"), "test": ("wait", "flag stat"),
    "testall": ("waits", "flag stats"), "testany": ("waits", "flag index stat"),
    "testsome": ("waits", "outcount indices stats"),
    "newcomm": ("newcomm", "comm out"), "newcomm_c": ("newcomm", "comm out"),
    "inewcomm": ("newcomm request", "comm out req"),
    "freecomm": ("comm", ""), "newwin": ("newwin", "comm winout"), "freewin": ("window", ""),
    "put": ("put", "sn st peer win"), "rput": ("put request", "sn st peer win req"),
    "get_accumulate": ("get_accumulate", "sn st rn rt peer win"),
    "rget_accumulate": ("get_accumulate request", "sn st rn rt peer win req"), "single": ("put", "st peer win"),
    "epoch": ("window", "win"), "epoch_peer": ("epoch_peer", "peer win"), "epoch_group": ("epoch_group", "group win"),
    "epoch_test": ("window", "win flag"), "plain": ("plain", ""), "plain_c": ("plain", ""), "io": ("io", "sn st"),
} | {
    **{name: (shape, f"{told} comm") for name, (shape, told) in COLLECTIVES.items()},
    **{f"i{name}": (f"{shape} request", f"{told} comm req") for name, (shape, told) in COLLECTIVES.items()},
}  # fmt: skip
"""Word of the table → the shape of the records, and what the function of that name in native/trace is told after the
call. A shape may have "request" behind it."""

SHARED = {f"i{name}": name for name in COLLECTIVES} | {
    "alltoallw": "alltoallv", "ialltoallw": "alltoallv", "neighborw": "neighborv", "ineighborw": "neighborv",
    "neighbor": "allgather", "ineighbor": "allgather", "inewcomm": "newcomm", "newcomm_c": "newcomm",
    "rput": "put", "rget_accumulate": "get_accumulate", "plain_c": "plain",
}  # fmt: skip
"""Functions of the table that native/trace has under another name."""

OWN_TYPES = {
    "sb": "const void *{}", "rb": "void *{}", "sn": "int {}", "rn": "int {}", "st": "MPI_Datatype {}",
    "rt": "MPI_Datatype {}", "sns": "const int {}[]", "rns": "const int {}[]", "sts": "const MPI_Datatype {}[]",
    "rts": "const MPI_Datatype {}[]", "dis": "const int {}[]", "peer2": "int {}", "tag2": "int {}",
    "rq": "MPI_Request *{}", "rqv": "MPI_Request {}", "rqs": "MPI_Request {}[]", "stat": "MPI_Status *{}",
    "stats": "MPI_Status {}[]", "index": "int *{}", "outcount": "int *{}", "indices": "int {}[]",
    "msgin": "MPI_Message *{}", "commio": "MPI_Comm *{}", "winout": "MPI_Win *{}", "winio": "MPI_Win *{}",
    "ns": "const int {}[]", "aints": "const MPI_Aint {}[]", "info": "MPI_Info {}", "any": "void *{}",
    "str": "const char *{}", "argv": "char *{}[]", "errs": "int {}[]", "fh": "MPI_File {}", "fhio": "MPI_File *{}",
    "off": "MPI_Offset {}", "comm2": "MPI_Comm {}", "type2": "MPI_Datatype {}",
}  # fmt: skip

TYPES = C_TYPES | OWN_TYPES
"""Word of the table → how mpi.h declares such a parameter."""

IN_C = {
    "req": "*{}", "out": "*{}", "winout": "*{}", "msg": "*{}", "flag": "*{}", "index": "*{}", "outcount": "*{}",
    "indices": "wulf::trace::Indices{{{}, 0}}", "sts": "wulf::trace::Types{{{}}}", "rts": "wulf::trace::Types{{{}}}",
}  # fmt: skip
"""Parameters that a function is not told as they are → what of them in C."""

IN_FORTRAN = {
    "st": "MPI_Type_f2c(*{})", "rt": "MPI_Type_f2c(*{})", "comm": "MPI_Comm_f2c(*{})", "win": "MPI_Win_f2c(*{})",
    "group": "MPI_Group_f2c(*{})", "req": "MPI_Request_f2c(*{})", "rqv": "MPI_Request_f2c(*{})",
    "out": "MPI_Comm_f2c(*{})", "winout": "MPI_Win_f2c(*{})", "msg": "MPI_Message_f2c(*{})",
    "stat": "wulf::trace::of_fortran({})", "stats": "wulf::trace::of_fortran({})",
    "index": "wulf::trace::from_one(*{})", "indices": "wulf::trace::Indices{{{}, 1}}",
    "sns": "{}", "rns": "{}", "sts": "wulf::trace::FortranTypes{{{}}}", "rts": "wulf::trace::FortranTypes{{{}}}",
}  # fmt: skip
"""The same in Fortran, where all come by reference; others are numbers."""

POINTERS = ("sb", "rb", "b", "cb", "aint", "aints", "any", "dis", "ns", "off", "info", "op")
"""Parameters that the trace does not look at, of whatever type in Fortran."""

KEPT = {
    "rq": "span.keep{kind}(1, {name});", "rqs": "span.keep{kind}({m}, {name});",
    "commio": "span.keep_comm({comm});", "winio": "span.keep_window({win});", "msgin": "span.keep_message({msg});",
    "stat": "{name} = span.status{kind}({name});", "stats": "{name} = span.statuses{kind}({m}, {name});",
}  # fmt: skip
"""What must be had before the call, which changes it."""

NOT_IN_FORTRAN = ("str",)
"""Texts have their length behind all parameters, where no table can say it."""


@dataclass(frozen=True)
class TraceCall:
    """A row: the record's number, a call without its `MPI_` or a note, its function, and its parameters as words."""

    number: int
    name: str
    function: str
    words: tuple[str, ...]

    @property
    def is_note(self) -> bool:
        return self.function.startswith("note_")

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of its records."""
        shape, _, more = FUNCTIONS[self.function][0].partition(" ")
        return (*SHAPES[shape].split(), *more.split())

    @property
    def told(self) -> list[str]:
        return FUNCTIONS[self.function][1].split()

    @property
    def variables(self) -> list[str]:
        """A name for each parameter: its word, with its place where the word is there again."""
        return [
            word if word not in self.words[: number - 1] else f"{word}{number}"
            for number, word in enumerate(self.words, 1)
        ]


def read_table(text: str) -> list[TraceCall]:
    """The rows of calls.txt.

    Raises
    ------
    ValueError
        A line has a number, function or parameter that there is not, or is there twice.
    """
    calls: list[TraceCall] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        right = len(words) >= 3 and words[0].isdigit() and 0 < int(words[0]) < 256 and words[2] in FUNCTIONS
        unknown = [word for word in words[3:] if word not in TYPES]
        twice = any(words[0] == str(call.number) or words[1:2] == [call.name] for call in calls)
        if not right or unknown or twice:
            raise ValueError(f"calls.txt, line {number}: {line!r} is no row, or is there twice {unknown or ''}")
        calls.append(TraceCall(int(words[0]), words[1], words[2], tuple(words[3:])))
    return calls


def generated(text: str) -> dict[str, str]:
    """File → content of all that is made from the table for the compiler of a site."""
    calls = [call for call in read_table(text) if not call.is_note]
    fortran = [call for call in calls if not set(NOT_IN_FORTRAN) & set(call.words)]
    return {
        "trace/calls_c.cpp": _file(map(_c, calls)),
        "trace/calls_fortran.cpp": _file(_fortran(call, name) for call in fortran for name in FORTRAN_NAMES),
    }


def operations(text: str) -> str:
    """native/trace/format/ops.hpp: the numbers, and the fields of each."""
    calls = read_table(text)
    by_number = {call.number: call for call in calls}
    rows = [_row(by_number.get(number)) for number in range(max(by_number) + 1)]
    names = "".join(f"  {call.name} = {call.number},\n" for call in calls)
    return (
        "#pragma once\n\n// Made by tools/trace_ops.py from native/trace/calls.txt.\n// clang-format off\n\n"
        '#include "trace/format/fields.hpp"\n\nnamespace wulf::trace {\n\n'
        "/// A record's first byte.\n"
        f"enum class Op : std::uint8_t {{\n{names}}};\n\n"
        f"inline constexpr Shape shapes[] = {{\n{''.join(rows)}}};\n\n"
        "/// The name and fields of an operation; without a name where there is none of this number.\n"
        "inline const Shape& shape_of(Op op) {\n"
        "  const auto number = static_cast<std::size_t>(op);\n"
        "  return shapes[number < sizeof(shapes) / sizeof(shapes[0]) ? number : 0];\n}\n\n"
        "}  // namespace wulf::trace\n"
    )


def _row(call: TraceCall | None) -> str:
    if call is None:
        return "    {},\n"
    fields = ", ".join(f"Field::{field}" for field in call.fields)
    return f'    {{"{_title(call)}", {{{fields}}}}},\n'


def _title(call: TraceCall) -> str:
    return call.name if call.is_note and call.name.islower() else f"MPI_{call.name}"


def for_python(text: str) -> str:
    """wulf/trace/ops.py: the same for readers in Python."""
    rows = "".join(
        f'    {call.number}: ("{_title(call)}", ({" ".join(f"{field!r}," for field in call.fields)})),\n'.replace(
            "'", '"'
        )
        for call in read_table(text)
    )
    return (
        '"""The records of a trace. Made by tools/trace_ops.py from native/trace/calls.txt."""\n\n'
        "from __future__ import annotations\n\n"
        f"OPERATIONS: dict[int, tuple[str, tuple[str, ...]]] = {{\n{rows}}}  # fmt: skip\n"
        '"""A record\'s first byte → its name, and the fields that follow (docs/reference/trace-format.md)."""\n'
    )


def _file(functions: Iterable[str]) -> str:
    return '#include "trace/calls/recording.hpp"\n\nextern "C" {\n' + "".join(functions) + "}\n"


def _c(call: TraceCall) -> str:
    variables = call.variables
    params = ", ".join(TYPES[word].format(name) for word, name in zip(call.words, variables, strict=True))
    before = {"comm": "*commio", "win": "*winio", "msg": "*msgin", "m": "m", "kind": ""}
    return f"""
int MPI_{call.name}({params})
{{
    wulf::trace::Span span(wulf::trace::Op::{call.name}, __builtin_return_address(0));
    {_kept(call, before)}
    span.begin();
    const int result = PMPI_{call.name}({", ".join(variables)});
    span.end(result);
    if (span.traced()) {{
        const wulf::trace::Held held;
        wulf::trace::{_function(call)}({_told(call, IN_C, "{}", "")});
    }}
    return result;
}}
"""


def _fortran(call: TraceCall, pattern: str) -> str:
    variables, symbol = call.variables, pattern.format(call.name.lower())
    params = ", ".join(
        f"{'void' if word in POINTERS else 'MPI_Fint'} *{name}"
        for word, name in zip(call.words, variables, strict=True)
    )
    types = ", ".join("void *" for _ in range(len(variables) + 1))
    before = {"comm": "MPI_Comm_f2c(*commio)", "win": "MPI_Win_f2c(*winio)", "msg": "MPI_Message_f2c(*msgin)",
              "m": "*m", "kind": "_f"}  # fmt: skip
    return f"""
void {symbol}({params}, MPI_Fint *error)
{{
    static void *real = nullptr;
    if (real == nullptr) {{
        real = wulf::trace::next("{symbol}");
    }}
    wulf::trace::Span span(wulf::trace::Op::{call.name}, __builtin_return_address(0));
    {_kept(call, before)}
    span.begin();
    reinterpret_cast<void (*)({types})>(real)({", ".join([*variables, "error"])});
    span.end(error == nullptr ? MPI_SUCCESS : *error);
    if (span.traced()) {{
        const wulf::trace::Held held;
        wulf::trace::{_function(call)}({_told(call, IN_FORTRAN, "*{}", "_f")});
    }}
}}
"""


def _function(call: TraceCall) -> str:
    """The name in native/trace: calls that wait and those that do not share one."""
    return SHARED.get(call.function, call.function)


def _kept(call: TraceCall, words: dict[str, str]) -> str:
    lines: Iterator[str] = (KEPT[word].format(name=word, **words) for word in call.words if word in KEPT)
    return "\n    ".join(lines)


def _told(call: TraceCall, exprs: dict[str, str], plain: str, kind: str) -> str:
    """The arguments of the call's function."""
    given = ["span"]
    for word in call.told:
        if word in ("in_place", "in_place_r"):
            given.append(f"wulf::trace::in_place{kind}({'rb' if word == 'in_place_r' else 'sb'})")
        elif word == "no_place":
            given.append("false")
        else:
            given.append(exprs.get(word, plain).format(word))
    return ", ".join(given)
