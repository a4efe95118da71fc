"""Metrics as Prometheus reads them: OpenMetrics 1.0.0, and the older text format 0.0.4. Pure.

Sources: OpenMetrics, "A cloud-native, highly scalable metrics protocol" (openmetrics.io, 1.0.0); prometheus.io,
"Exposition formats". They differ in what a counter and an info are called, in units, and in the last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, isnan
from typing import Literal


class Form(StrEnum):
    """A format that both sides know."""

    OPENMETRICS = "openmetrics"
    TEXT = "text"

    @property
    def content_type(self) -> str:
        """As HTTP names it."""
        return _CONTENT_TYPES[self]


_CONTENT_TYPES = {
    Form.OPENMETRICS: "application/openmetrics-text; version=1.0.0; charset=utf-8",
    Form.TEXT: "text/plain; version=0.0.4; charset=utf-8",
}

Kind = Literal["gauge", "counter", "info"]

_SUFFIXES: Mapping[Kind, str] = {"gauge": "", "counter": "_total", "info": "_info"}

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


@dataclass(frozen=True)
class Family:
    """Samples of one name.

    Attributes
    ----------
    name
        Without the suffix that its kind gives a sample: `_total` of a counter, `_info` of an info, whose value is 1.
    help
        What it says, in a sentence.
    unit
        A base unit that the name ends with: `seconds`.
    """

    name: str
    help: str
    kind: Kind = "gauge"
    unit: str = ""
    samples: Sequence[Sample] = ()

    @property
    def sample_name(self) -> str:
        """What queries call it."""
        return self.name + _SUFFIXES[self.kind]

    def of(self, samples: Iterable[Sample]) -> Family:
        """The same, with these samples."""
        return replace(self, samples=list(samples))


def exposition(families: Iterable[Family], form: Form) -> str:
    """Metrics as text; a family without samples is left out."""
    parts = [part for family in families if family.samples for part in (_head(family, form), _lines(family))]
    if form is Form.OPENMETRICS:
        parts.append("# EOF")
    return "\n".join(parts) + "\n"


def _head(family: Family, form: Form) -> str:
    if form is Form.TEXT:
        name, kind = family.sample_name, "gauge" if family.kind == "info" else family.kind
        return f"# HELP {name} {escaped(family.help, quotes=False)}\n# TYPE {name} {kind}"
    unit = f"\n# UNIT {family.name} {family.unit}" if family.unit else ""
    return f"# TYPE {family.name} {family.kind}{unit}\n# HELP {family.name} {escaped(family.help)}"


def _lines(family: Family) -> str:
    name = family.sample_name
    return "\n".join([f"{name}{_braces(labels)} {_number(value)}" for labels, value in family.samples])


def _braces(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join([f'{name}="{escaped(value)}"' for name, value in labels.items()]) + "}"


_SPECIAL = re.compile(r'[\\"\n\0\ud800-\udfff]')


def escaped(text: str, *, quotes: bool = True) -> str:
    """A label's value, or a help, as both formats write it; what is no character of theirs becomes U+FFFD.

    Parameters
    ----------
    quotes
        False: of a help of the older format, where a quotation mark stands for itself.
    """
    if not _SPECIAL.search(text):
        return text
    text = re.sub("[\0\ud800-\udfff]", "\ufffd", text)  # half a surrogate pair, which JSON can write, and NUL
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


def _number(value: float) -> str:
    if isnan(value):
        return "NaN"
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def preferred(accept: str) -> Form:
    """The format for whoever sends this `Accept`: OpenMetrics 1.0.0 where it is asked for no less than text is."""
    wanted = {"application/openmetrics-text": 0.0, "text/plain": 0.0}
    for entry in accept.split(","):
        kind, *params = (part.strip().lower() for part in entry.split(";"))
        given = dict(param.split("=", 1) for param in params if "=" in param)
        if kind in wanted and given.get("version", "1.0.0").strip('"') in ("1.0.0", "0.0.4"):
            wanted[kind] = max(wanted[kind], _quality(given.get("q", "1")))
    openmetrics, text = wanted.values()
    return Form.OPENMETRICS if openmetrics and openmetrics >= text else Form.TEXT


def _quality(text: str) -> float:
    """Of RFC 9110, 12.4.2; 0 for what is none."""
    return float(text) if re.fullmatch(r"(0|1)(\.\d{0,3})?", text) else 0.0
