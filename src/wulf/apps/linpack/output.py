"""What HPL prints: one row a configuration, its residual, and what went wrong.

Rows are looked for line by line, so that what other ranks or the MPI say in between does no harm. The forms are those
of HPL 1.0 (three residuals a row) to 2.3, of HPCC, and of the vendors' builds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from wulf.apps.driver import Check, Figure, OutputReading

_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)"
_ROW = re.compile(
    rf"(?:^|\s)(W[RC]\S*)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+({_NUMBER})\s+({_NUMBER})(?:\s|$)", re.IGNORECASE
)
_RESIDUAL = re.compile(rf"\|\|.*=\s*({_NUMBER})\s*\.{{3,}}\s*(PASSED|FAILED)", re.IGNORECASE)
_THRESHOLD = re.compile(rf"scaled residuals are less than\s+({_NUMBER})")
_SKIPPED = re.compile(r"(\d+) tests? skipped because of illegal input")
_VERSION = re.compile(r"HPLinpack\s+(\S+)")
_ERROR = re.compile(r"HPL (?:ERROR|WARNING) from process")
_SAID = re.compile(r">>>\s*(.*?)\s*<<<")
_END = "End of Tests."
GIGA = 1e9

MISFIT = 0.01
"""Relatively, beyond their digits, N, time and rate may fail to fit: a timer is read twice."""

LOWER_ORDER = 2.25
"""Over N: the share of 3/2·N² in HPL's operations, which builds count differently."""


@dataclass(frozen=True)
class HplResult:
    """One configuration that was run.

    Parameters
    ----------
    variant
        The code under T/V: WR11C2R4.
    rate
        flop/s, in the digits that HPL prints.
    printed
        Time [s] and rate [Gflop/s] as they stand in the output; empty where nobody printed them.
    residuals
        As printed; none where the output has none for it.
    passed
        Whether all residuals did; None: there is none.
    """

    variant: str
    n: int
    nb: int
    p: int
    q: int
    rate: float
    printed: tuple[str, str] | None = None
    residuals: tuple[float, ...] = ()
    passed: bool | None = None

    @property
    def seconds(self) -> float:
        """From N and the rate, which HPL prints with more digits than the time of a short run."""
        return operations(self.n) / self.rate

    @property
    def contradiction(self) -> str:
        """Where N, time and rate do not fit each other by more than their digits explain; empty where they do."""
        if self.printed is None or not (seconds := float(self.printed[0])) > 0:
            return ""
        room = MISFIT + LOWER_ORDER / self.n + sum(map(_rounding, self.printed))
        counted = operations(self.n) / seconds
        if abs(counted / self.rate - 1) <= room:
            return ""
        said = f"{self.variant} N={self.n} in {self.printed[0]} s is {counted / GIGA:.4g} Gflop/s"
        return f"{said}, and the output says {self.printed[1]}"


@dataclass(frozen=True)
class Output:
    """All that an output says; `threshold` is the residual from which on an answer is wrong, None where it is lost."""

    rows: tuple[HplResult, ...]
    threshold: float | None
    errors: tuple[str, ...]
    skipped: int
    ended: bool
    version: str | None

    def trouble(self) -> str:
        """Why there is no row, or none to rely on."""
        if self.errors:
            return "; ".join(self.errors)
        if self.skipped:
            return f"HPL skipped {self.skipped} because of illegal input values, or for want of memory"
        if self.version is None and not self.rows:
            return "HPL printed nothing of its own: did it start?"
        return "no result in the output" if self.ended else "the output ends before the result: it was cut short"


def operations(n: int) -> float:
    """Floating-point operations that HPL counts: 2/3·N³ + 3/2·N²."""
    return 2 / 3 * n**3 + 3 / 2 * n**2


def parse(text: str) -> Output:
    """An output, whole or cut anywhere."""
    rows: list[HplResult] = []
    errors: list[str] = []
    for line in text.splitlines():
        row, residual, error = _ROW.search(line), _RESIDUAL.search(line), _SAID.search(line)
        if row and float(row[7]) > 0 and math.isfinite(float(row[7])):
            n, nb, p, q = (int(row[place]) for place in (2, 3, 4, 5))
            rows.append(HplResult(row[1], n, nb, p, q, float(row[7]) * GIGA, (row[6], row[7])))
        elif residual and rows:
            rows[-1] = _with_residual(rows[-1], float(residual[1]), residual[2].upper() == "PASSED")
        elif error and error[1] not in errors:
            errors.append(error[1])
    threshold, skipped, version = _THRESHOLD.search(text), _SKIPPED.search(text), _VERSION.search(text)
    return Output(
        tuple(rows),
        float(threshold[1]) if threshold else None,
        tuple(errors) if _ERROR.search(text) else (),
        int(skipped[1]) if skipped else 0,
        _END in text,
        version[1] if version else None,
    )


def _rounding(text: str) -> float:
    """Half a unit of a number's last digit, relatively; of 0 none."""
    mantissa, _, exponent = text.lower().partition("e")
    value = abs(float(text))
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals) / value if value else 0.0


def _with_residual(row: HplResult, residual: float, passed: bool) -> HplResult:
    return replace(row, residuals=(*row.residuals, residual), passed=passed and row.passed is not False)


def reading(output: Output, asked: Mapping[str, int] | None = None) -> OutputReading:
    """Figures and checks: the fastest row whose residuals passed.

    Parameters
    ----------
    asked
        n, nb, p, q that the input asked for, where it is one configuration: another row than that is a failed check.
        HPCC takes a configuration of its own when it can't read its input.
    """
    checks = [_residual_check(row, output.threshold) for row in output.rows if row.residuals]
    checks += [Check("arithmetic", False, said) for row in output.rows if (said := row.contradiction)]
    if asked and output.rows:
        checks.append(_input_check(output.rows[-1], asked))
    good = [row for row in output.rows if row.passed]
    if not good:
        return OutputReading(without(_reason(output)), tuple(checks), _facts(output, None))
    best = max(good, key=lambda row: row.rate)
    figures = (
        Figure("rate", "flop/s", best.rate, "higher"),
        Figure("time", "s", best.seconds, "lower"),
    )
    return OutputReading(figures, tuple(checks), _facts(output, best))


def _reason(output: Output) -> str:
    if any(row.passed is False for row in output.rows):
        return "the residual is too large: the answer is wrong"
    if output.rows and not output.errors:
        return "no residual follows the result: the output was cut short, or the input turned the check off"
    return output.trouble()


def without(reason: str) -> tuple[Figure, ...]:
    """The figures where there are none, and why."""
    return (
        Figure("rate", "flop/s", None, "higher", reason),
        Figure("time", "s", None, "lower", reason),
    )


def _residual_check(row: HplResult, threshold: float | None) -> Check:
    worst = max(row.residuals, key=lambda value: math.inf if math.isnan(value) else value)
    limit = "" if threshold is None else f", less than {threshold:g} is asked"
    return Check("residual", bool(row.passed), f"{row.variant} N={row.n} NB={row.nb}: residual {worst:.7g}{limit}")


def _input_check(row: HplResult, asked: Mapping[str, int]) -> Check:
    ran = {name: getattr(row, name) for name in asked}
    said = ", ".join(f"{name.upper()} {value}" for name, value in ran.items())
    instead = "" if ran == dict(asked) else f", not {', '.join(f'{k.upper()} {v}' for k, v in asked.items())}"
    return Check("configuration", ran == dict(asked), f"it ran {said}{instead}")


def _facts(output: Output, row: HplResult | None) -> dict[str, str | float]:
    facts: dict[str, str | float] = {} if output.version is None else {"hpl.version": output.version}
    if row is not None:
        facts |= {"variant": row.variant, "n": row.n, "nb": row.nb, "grid": f"{row.p}x{row.q}"}
        facts["residual"] = max(row.residuals)
    return facts
