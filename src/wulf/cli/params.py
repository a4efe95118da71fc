"""Options made from the parameters that a probe or a driver describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from wulf.cli.commands import Shared
from wulf.cli.options import PARAM_TYPES
from wulf.core.names import capitalised
from wulf.core.params import ParamSpec

MOST_CHOICES = 40
"""Characters of the choices that stand in an option's first column; of more, the help text lists them."""

FEW = 8
"""So many parameters all stand in `--help`; of more, those that are `COMMON`."""

COMMON = frozenset({
    "bytes", "streams", "rate", "window", "nodelay", "congestion", "cpu", "server_cpu", "both", "ways", "op", "mode",
    "senders", "load", "units", "workers", "batch", "n", "nb", "p", "q", "threads", "blas",
})  # fmt: skip
"""Parameters that most who use a probe or an application ask for."""


def param_options(params: Sequence[ParamSpec], names: Mapping[str, str] | None = None) -> list[click.Option]:
    """An option for each parameter; of many, the rarely needed stand in `--help-all` alone.

    Parameters
    ----------
    names
        Parameter → its option's name, where that is not the parameter's own.
    """
    few = len(params) <= FEW
    return [
        _option(one, (names or {}).get(one.name, one.name), rare=not few and one.name not in COMMON) for one in params
    ]


def _option(spec: ParamSpec, name: str, *, rare: bool) -> click.Option:
    """The option of one parameter; left out, it is chosen by what takes it."""
    unit = f" [{spec.unit}]" if spec.unit and spec.unit != "1" else ""
    shown = "" if spec.default is None else f" (default {spec.default})"
    many = len("|".join(spec.choices)) > MOST_CHOICES
    listed = f". One of: {', '.join(spec.choices)}." if many else ""
    return Shared(
        [f"--{name.replace('_', '-')}", name], title="Rarely needed" if rare else "Options", rare=rare,
        type=click.Choice(spec.choices) if spec.choices else PARAM_TYPES[spec.type], default=None,
        metavar="NAME" if many else None, help=f"{capitalised(spec.help)}{listed}{unit}{shown}",
    )  # fmt: skip
