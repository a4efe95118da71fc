"""Every option and argument of every command, with values that it can't take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import click

from tests.process.cli.bad_input.trial import DEVICE, PIPE, Input
from wulf.cli.main import cli
from wulf.cli.model.command import Gain
from wulf.cli.options import Percent, Seconds

NODES = ("--nodes", "a.invalid,b.invalid")
"""Nobody answers there: what is no error of usage ends as incomplete."""

BASES: Mapping[str, tuple[str, ...]] = {
    "completion": ("bash",),
    "compare": ("one", "two"),
    "design": ("parts.toml", "--budget", "5000"),
    "history": ("rtt",),
    "lab exec": ("n1", "true"),
    "lab power-cut": ("n1",),
    "lab power-on": ("n1",),
    "lab set": ("n1",),
    "mpi install": ("openmpi",),
    "model farm": ("farm.csv",),
    "model speedup": ("times.csv",),
    "networks show": ("gigabit",),
    "predict": ("trace",),
    "query": ("SELECT * FROM runs",),
    "rates get": ("mem.l1.size",),
    "runs export": ("one",),
    "runs rm": ("not-there",),
    "rates publish": ("--from", "not-there"),
    "search own": ("space.toml",),
    "sentry ack": ("1",),
    "sentry close": ("1",),
    "sentry once": ("plan.toml",),
    "sentry run": ("plan.toml",),
    "trace export": ("trace", "--to", "goal", "out"),
    "trace import": ("x.goal", "--from", "goal"),
    "trace show": ("trace",),
    "tune import": ("table.csv",),
    "tune export": ("run", "--format", "shell"),
    "tune verify": ("run",),
    "watch": ("a.invalid", "b.invalid"),
}
"""What a command needs besides. A `net` pattern's pair is added below."""

LEFT_OUT = {
    "demo": "it makes a lab, whatever else is wrong",
    "stats selftest": "it simulates for minutes, whatever else is wrong",
    "rates refresh": "it measures this machine wherever it is at rest",
    "rates serve": "it serves until it is ended",
}
"""Commands of which any value that is taken does something, and what."""

NODESETS = ("n[1-10000000]", "n[1-99999999999999999999]", "n[", "[1-4", "n[4-1]", "@nobody", ",")
NUMBERS = ("x", "9" * 5000, "1e", "--", "0x10", "1,5", "½")
UNBOUNDED = ("nan", "inf", "-inf", "1e999")
TEXTS = (
    "\x1b[31mred\x1b[0m", "a" * 100_000, "\udcff\udcfe", "../../../../etc/passwd", "\u202egnp", "[" * 10_000,
    "{}", "'; exit 1; '", "%s%n", "a\nb", "9" * 5000, "nan", "a=b=c", "=", ":",
)  # fmt: skip
PLACES = ("not/there", ".", DEVICE, PIPE, "a" * 5000, "\udcff", "/proc/self/mem", "not\nthere")

REFUSED_NAMES: Mapping[str, Sequence[str]] = {
    "--nodes": NODESETS,
    "--network": ("10.0.0.0/99", "300.1.1.1/8", "x"),
    "--lab": ("-1", "0", "1.5", "9" * 5000),
    "--rate": ("fast", "-1Mbit", "nan", "1e999Mbit"),
    "--delay": ("soon", "-1ms", "nanms"),
    "--loss": ("101%", "-1%", "nan%"),
    "--param": ("x",),
    "--check": ("(" * 10_000,),
}
"""Texts with a grammar of their own, and what breaks it."""


def commands(group: click.Command = cli, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands that are no groups, by their words."""
    if not isinstance(group, click.Group):
        yield name, group
        return
    context = click.Context(group)
    for word in group.list_commands(context):
        found = group.get_command(context, word)
        assert found is not None
        yield from commands(found, f"{name} {word}".strip())


def base(name: str, command: click.Command) -> tuple[str, ...]:
    """Words that the command can't do without."""
    own = BASES.get(name, ())
    arguments = {one.name for one in command.params if isinstance(one, click.Argument)}
    if name.startswith("net ") and "client" in arguments:
        own = ("a.invalid", "b.invalid") if "server" in arguments else ("a.invalid",)
    if any("--nodes" in one.opts for one in command.params):
        own = (*own, *NODES)
    return own


def bad_values(param: click.Parameter) -> Iterator[tuple[str, bool]]:
    """Values, and whether nothing but a refusal will do."""
    kind = param.type
    if isinstance(kind, click.Choice):
        yield from ((value, True) for value in ("nothing of these", "\x1b[31m", "a" * 10_000))
    elif isinstance(kind, click.IntRange | click.types.IntParamType):
        yield from ((value, True) for value in (*NUMBERS, *UNBOUNDED, "1.5"))
        if isinstance(kind, click.IntRange) and kind.min is not None:
            yield str(int(kind.min) - 1), True
        yield from ((value, False) for value in ("-1", "0", "1" + "0" * 30, "9223372036854775808"))
    elif isinstance(kind, click.FloatRange | click.types.FloatParamType | Percent | Seconds | Gain):
        bounded = isinstance(kind, Percent | Seconds | Gain | click.FloatRange)
        yield from ((value, True) for value in (*(n for n in NUMBERS if not n.startswith("9")), *UNBOUNDED))
        yield "-1", bounded
        yield from ((value, False) for value in ("9" * 5000, "1e308", "5e-324", "-0"))
    elif isinstance(kind, click.Path):
        yield from ((value, False) for value in PLACES)
    else:
        broken = next((REFUSED_NAMES[name] for name in param.opts if name in REFUSED_NAMES), ())
        yield from ((value, True) for value in broken)
        yield from ((value, False) for value in TEXTS)


def inputs() -> Iterator[Input]:
    """For every option all its bad values once, and for every command that has it one of them."""
    seen: dict[tuple[str, str], int] = {}
    for name, command in commands():
        if name in LEFT_OUT:
            continue
        for param in command.params:
            if isinstance(param, click.Option) and (param.is_flag or param.count):
                continue
            values = list(bad_values(param))
            key = (param.opts[0], repr(type(param.type)))
            times = seen[key] = seen.get(key, -1) + 1
            for value, refused in values if times == 0 else [values[times % len(values)]]:
                if isinstance(param, click.Argument) and value.startswith("-"):
                    continue  # it would be an option
                yield _input(name, command, param, value, refused=refused)


def _input(name: str, command: click.Command, param: click.Parameter, value: str, *, refused: bool) -> Input:
    shown = value if len(value) < 30 else f"{value[:20]}… ({len(value)})"
    words = base(name, command)
    if isinstance(param, click.Argument):
        arguments = [one for one in command.params if isinstance(one, click.Argument)]
        at = arguments.index(param)
        given = list(words)
        if at < len(given) and not given[at].startswith("--"):
            given[at] = value
        else:
            given.insert(0, value)
        words = tuple(given)
    else:
        option = param.opts[0]
        words = tuple(w for w in words if w not in NODES) if option == "--nodes" else words
        words = (*words, f"{option}={value}")
    what = f"{name}: {param.opts[0]} {shown!r}"
    wanted: Literal["refused", "either"] = "refused" if refused else "either"
    return Input(f"options of {name.split(maxsplit=1)[0]}", what, (*name.split(), *words), wanted=wanted)
