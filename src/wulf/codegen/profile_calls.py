"""The wrappers of MPI's calls for libwulf-profile, made from native/profile/calls.txt. Standard library alone: the
wheel's build uses it, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("send", "receive", "exchange", "wait", "probe", "all", "rooted", "away")

C_TYPES = {
    "cb": "const void *{}", "b": "void *{}", "count": "int {}", "n": "int {}", "m": "int {}", "type": "MPI_Datatype {}",
    "t": "MPI_Datatype {}", "peer": "int {}", "from": "int {}", "root": "int {}", "tag": "int {}",
    "comm": "MPI_Comm {}", "req": "MPI_Request *{}", "reqs": "MPI_Request {}[]", "st": "MPI_Status *{}",
    "sts": "MPI_Status {}[]", "flag": "int *{}", "is": "const int {}[]", "ts": "const MPI_Datatype {}[]",
    "op": "MPI_Op {}", "msg": "MPI_Message *{}", "win": "MPI_Win {}", "aint": "MPI_Aint {}", "out": "MPI_Comm *{}",
    "group": "MPI_Group {}",
}  # fmt: skip
"""Word of the table → how mpi.h declares such a parameter."""

COUNTED = {"count": "*count", "peer": "*peer", "from": "*from", "root": "*root", "type": "MPI_Type_f2c(*type)",
           "comm": "MPI_Comm_f2c(*comm)"}  # fmt: skip
"""Parameters that the profile looks at → what Fortran's, which all come by reference, are in C."""

FORTRAN_NAMES = ("mpi_{}_", "mpi_{}_f08_")
"""What compilers of Linux make of a name, and the entry points of Open MPI's mpi_f08; MPICH's module calls C."""


@dataclass(frozen=True)
class ProfileCall:
    """A row: a call without its `MPI_`, its kind, and its parameters as words."""

    name: str
    kind: str
    words: tuple[str, ...]

    @property
    def variables(self) -> list[str]:
        """A name for each parameter: its word where the profile looks at it, else with its place."""
        return [word if word in COUNTED else f"p{number}" for number, word in enumerate(self.words, 1)]


def read_table(text: str) -> list[ProfileCall]:
    """The rows of calls.txt.

    Raises
    ------
    ValueError
        A line has a kind or parameter that there is not, or is there twice.
    """
    calls: dict[str, ProfileCall] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        unknown = [word for word in words[2:] if word not in C_TYPES]
        if len(words) < 3 or words[1] not in KINDS or unknown or words[0] in calls:
            raise ValueError(f"calls.txt, line {number}: {line!r} is no row, or names a call twice {unknown or ''}")
        calls[words[0]] = ProfileCall(words[0], words[1], tuple(words[2:]))
    return list(calls.values())


def generated(text: str) -> dict[str, str]:
    """File → content of all that is made from the table."""
    calls = read_table(text)
    return {
        "profile/rows.cpp": "".join(_rows(calls)),
        "profile/calls_c.cpp": _file(_c(number, call) for number, call in enumerate(calls)),
        "profile/calls_fortran.cpp": _file(
            _fortran(number, call, name) for number, call in enumerate(calls) for name in FORTRAN_NAMES
        ),
    }


def _rows(calls: list[ProfileCall]) -> Iterator[str]:
    yield '#include "profile/calls.hpp"\n\nnamespace wulf::profile\n{\n\nconst Row rows[] = {\n'
    for call in calls:
        yield f'    {{"MPI_{call.name}", "{call.kind}"}},\n'
    yield f"}};\n\nconst std::size_t row_count = {len(calls)};\n\n}} // namespace wulf::profile\n"


def _file(functions: Iterator[str]) -> str:
    return '#include "profile/counting.hpp"\n\nextern "C" {\n' + "".join(functions) + "}\n"


def _c(number: int, call: ProfileCall) -> str:
    variables = call.variables
    params = ", ".join(C_TYPES[word].format(name) for word, name in zip(call.words, variables, strict=True))
    words = {word: word for word in COUNTED}
    return f"""
int MPI_{call.name}({params})
{{
    wulf::profile::Span span({number});
    if (span.counted()) {{
        {_told(call, words)}
    }}
    span.begin();
    const int status = PMPI_{call.name}({", ".join(variables)});
    span.end();
    return status;
}}
"""


def _fortran(number: int, call: ProfileCall, pattern: str) -> str:
    variables, symbol = call.variables, pattern.format(call.name.lower())
    params = ", ".join(
        f"{'MPI_Fint' if word in COUNTED else 'void'} *{name}" for word, name in zip(call.words, variables, strict=True)
    )
    types = ", ".join("void *" for _ in range(len(variables) + 1))
    return f"""
void {symbol}({params}, MPI_Fint *error)
{{
    static void *real = nullptr;
    if (real == nullptr) {{
        real = wulf::profile::next("{symbol}");
    }}
    wulf::profile::Span span({number});
    if (span.counted()) {{
        {_told(call, COUNTED)}
    }}
    span.begin();
    reinterpret_cast<void (*)({types})>(real)({", ".join(variables)}, error);
    span.end();
}}
"""


def _told(call: ProfileCall, words: dict[str, str]) -> str:
    """What the profile is told of a call before it begins."""
    count, kind, peer, comm = words["count"], words["type"], words["peer"], words["comm"]
    if call.kind in ("send", "exchange"):
        told = f"span.sent({count}, {kind}, {peer}, {comm});"
        return told + (f" span.awaited({words['from']}, {comm});" if call.kind == "exchange" else "")
    if call.kind in ("receive", "probe"):
        return f"span.awaited({peer}, {comm});"
    if call.kind == "rooted":
        return f"span.joined_rooted({count}, {kind}, {words['root']}, {comm});"
    if call.kind == "all" and "count" in call.words:
        return f"span.joined({count}, {kind}, {words['root'] if 'root' in call.words else 0}, {comm});"
    return f"span.joined({comm});" if call.kind == "all" else "span.open();"
