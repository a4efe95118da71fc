"""What a factorial experiment shows besides the knobs' own worth: interactions of two, and the drift of the campaign.

Times and rates are analysed as logarithms, so that effects are ratios. All effects and the drift are estimated together
by least squares; the noise is what the model leaves over (Montgomery, Design and Analysis of Experiments, 8th ed.,
chapters 6 and 10). Interactions of three and more are taken to be nothing, which is why nothing that is kept depends on
these effects: what each knob is worth, `wulf.tune.campaign.contrasts` takes from configurations that were measured.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from wulf.stats.comparison import holm_of
from wulf.stats.designs import CONTROL, Term, alias_groups, columns, group_names, model_terms, signed_sum
from wulf.stats.samples import Floats, check_confidence, checked, logs

ROUNDING = 1e-10
"""What is smaller than this, relative to the values analysed, is no noise but rounding."""

SINGULAR = 1e-8
"""Columns of levels are taken for dependent when the least singular value is below this times √runs."""

NO_NOISE = "no run is left over to see the noise: measure one replicate more at least"


@dataclass(frozen=True)
class Contrast:
    """A change between two configurations, or a mean of such changes.

    Attributes
    ----------
    value, low, high
        As a ratio (1: no change); `low` and `high` are None where no run is left over to see the noise.
    p
        Two-sided, of no change, by itself; None without an interval.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True)
class Effect:
    """A main effect, or an interaction of two: the full change from -1 to +1 (Montgomery, section 6.2).

    The main effect of a: a on against a off, averaged over the other factors. The interaction a × b: half of how much
    the effect of a changes when b is turned on.

    Attributes
    ----------
    names
        All terms of which only the sum is seen: ("a × b", "c × d"), ("a", "−b × c").
    contrast
        The figure.
    holm
        p corrected over all effects but the control's (Holm 1979); None for that, and without an interval.
    control
        The A/A arm: nothing was changed, so an effect is a false alarm.
    """

    names: tuple[str, ...]
    contrast: Contrast
    holm: float | None
    control: bool

    @property
    def name(self) -> str:
        """The terms as one: "a × b + c × d"."""
        return signed_sum(self.names)


@dataclass(frozen=True)
class Analysis:
    """What a measured experiment says.

    Attributes
    ----------
    effects
        Main effects, then interactions, in the factors' order.
    drift
        The fitted trend from the first run to the last. None: it cannot be told from the effects.
    confidence
        Of each interval by itself.
    notes
        What the reader has to know: what could not be modelled, and what to do about it.
    """

    effects: tuple[Effect, ...]
    drift: Contrast | None
    confidence: float
    notes: tuple[str, ...]


def analyse(
    names: Sequence[str],
    levels: ArrayLike,
    values: ArrayLike,
    *,
    times: ArrayLike,
    interactions: bool = True,
    confidence: float = 0.95,
    controls: Collection[str] = (CONTROL,),
) -> Analysis:
    """Effects, interactions of two and drift of a two-level experiment.

    Aliased terms are one effect with all names. Interactions that cannot all be estimated beside the main effects and
    the drift are left out, and the notes say so.

    Parameters
    ----------
    names
        The factors, k of them.
    levels
        -1 (off) or +1 (on), in the order measured, shape (n, k).
    values
        One for each run, shape (n,): a time or a rate; a run without a value is left out here and in `levels`.
    times
        When each run was measured, any unit, shape (n,).
    interactions
        False: main effects only.
    confidence
        Of each interval by itself.
    controls
        Factors that change nothing (`wulf.stats.designs.with_control`): they have a main effect only, and no claim.

    Raises
    ------
    ValueError
        A value is not finite, or not above zero; shapes do not fit; a level is neither -1 nor +1; a factor never
        changed, or the runs cannot tell the main effects apart.
    """
    check_confidence(confidence)
    y = logs(values)
    matrix = _checked_levels(names, levels, int(y.size))
    time = _time(times, int(y.size))
    terms = _terms(names, matrix, controls, interactions=interactions)
    fit = _fit(y, terms, time)
    contrasts = [_contrast(fit, i, confidence) for i in range(len(fit.changes))]
    found = contrasts[: len(fit.terms)]
    corrected = holm_of({i: one.p for i, one in enumerate(found) if not fit.terms[i].control})
    effects = (Effect(t.names, one, corrected.get(i), t.control)
               for i, (t, one) in enumerate(zip(fit.terms, found, strict=True)))  # fmt: skip
    return Analysis(tuple(effects), contrasts[-1] if fit.drift else None, confidence, _notes(terms, fit, int(y.size)))


def _checked_levels(names: Sequence[str], levels: ArrayLike, n: int) -> NDArray[np.int8]:
    matrix = np.asarray(levels, dtype=float)
    if n == 0 or not names:
        raise ValueError(f"{n} runs of {len(names)} factors: effects need both")
    if len(set(names)) != len(names):
        raise ValueError(f"factors {', '.join(names)}: names must differ")
    if matrix.shape != (n, len(names)):
        raise ValueError(
            f"levels have shape {matrix.shape}, and {n} values of {len(names)} factors ({n}, {len(names)})"
        )
    if not (np.abs(matrix) == 1).all():
        run, factor = np.argwhere(np.abs(matrix) != 1)[0]
        raise ValueError(f"{names[factor]} is {matrix[run, factor]:g} in run {run}: levels are -1 (off) and +1 (on)")
    still = [name for name, column in zip(names, matrix.T, strict=True) if np.ptp(column) == 0]
    if still:
        raise ValueError(f"{', '.join(still)} never changed over {n} runs: leave it out, or measure its other level")
    return matrix.astype(np.int8)


def _time(times: ArrayLike, n: int) -> Floats:
    """From -1/2 at the first run to 1/2 at the last, so that its coefficient is the whole drift."""
    at = checked(times)
    if at.size != n:
        raise ValueError(f"{at.size} times for {n} runs: each needs one")
    if np.ptp(at) == 0:
        raise ValueError("all runs were measured at one time: a drift cannot be seen")
    found: Floats = (at - at.min()) / np.ptp(at) - 0.5
    return found


@dataclass(frozen=True)
class _Term:
    """Terms that share a column: `names` for a person; whether a main effect, or the control's, is among them."""

    names: tuple[str, ...]
    column: Floats
    main: bool
    control: bool


def _terms(
    names: Sequence[str], levels: NDArray[np.int8], controls: Collection[str], *, interactions: bool
) -> list[_Term]:
    """Main effects and interactions; those that never vary left out.

    A control has no interactions: what changes nothing changes no other's effect.
    """
    real = {i for i, name in enumerate(names) if name not in controls}
    asked: list[Term] = [t for t in model_terms(len(names)) if len(t) == 1 or (interactions and real.issuperset(t))]
    products = columns(levels, asked)
    found = []
    for group in alias_groups(products):
        opposite = [names[asked[at][0]] for at, sign in group if sign < 0 and len(asked[at]) == 1]
        if opposite:
            raise ValueError(
                f"{names[asked[group[0][0]][0]]} was on exactly when {opposite[0]} was off: their effects cannot be "
                "told apart, measure the baseline too"
            )
        mains = {asked[at][0] for at, _ in group if len(asked[at]) == 1}
        control = bool(mains) and real.isdisjoint(mains)
        found.append(_Term(group_names(names, asked, group), products[:, group[0][0]], bool(mains), control))
    return found


@dataclass(frozen=True)
class _Fit:
    """Least squares of some terms, and of the drift where it can be told from them.

    Attributes
    ----------
    terms
        Those in the model.
    drift
        Whether the drift is in it.
    changes, errors
        Full changes of all terms, the drift's last, and their standard errors where the noise is seen.
    df
        Runs left over to see the noise.
    """

    terms: list[_Term]
    drift: bool
    changes: Floats
    errors: Floats
    df: int


def _fit(y: Floats, terms: list[_Term], time: Floats) -> _Fit:
    """As much as can be told apart: everything; no interactions; no drift; neither."""
    mains = [term for term in terms if term.main]
    for drift in (True, False):
        for some in (terms, mains):
            parts = [term.column / 2 for term in some] + ([time] if drift else [])
            model = np.column_stack(parts) - np.mean(parts, axis=1)
            if np.linalg.matrix_rank(model, tol=SINGULAR * sqrt(y.size)) == model.shape[1]:
                return _Fit(some, drift, *_least_squares(model, y))
    raise ValueError(
        f"{y.size} runs cannot tell {len(mains)} main effects apart ({', '.join(term.names[0] for term in mains)}): "
        "measure more runs of the design"
    )


def _least_squares(model: Floats, y: Floats) -> tuple[Floats, Floats, int]:
    """Coefficients, their standard errors, and the degrees of freedom of the noise; a mean is fitted besides."""
    tiny = ROUNDING * float(np.abs(y).max())
    inverse = np.linalg.inv(model.T @ model)
    found = inverse @ (model.T @ (y - y.mean()))
    found[np.abs(found) < tiny] = 0.0
    residual = y - y.mean() - model @ found
    residual[np.abs(residual) < tiny] = 0.0
    df = y.size - 1 - model.shape[1]
    return found, np.sqrt(np.diag(inverse) * (residual @ residual) / max(1, df)), df


def _contrast(fit: _Fit, at: int, confidence: float) -> Contrast:
    """Student's t interval, as ratios."""
    change, error = float(fit.changes[at]), float(fit.errors[at])
    if fit.df < 1:
        return Contrast(float(np.exp(change)), None, None, None)
    half = float(stdtrit(fit.df, (1 + confidence) / 2)) * error
    p = 2 * float(stdtr(fit.df, -abs(change) / error)) if error > 0 else float(change == 0)
    with np.errstate(over="ignore"):  # the bound of one degree of freedom may well be infinite
        low, value, high = (float(np.exp(change + side * half)) for side in (-1, 0, 1))
    return Contrast(value, low, high, p)


def _notes(terms: list[_Term], fit: _Fit, n: int) -> tuple[str, ...]:
    """What could not be modelled, and what to do about it."""
    notes = []
    if len(fit.terms) < len(terms):
        notes.append(
            f"{n} runs cannot tell {len(terms) - len(fit.terms)} interactions from the other effects and the drift, "
            "and they are not modelled: measure more runs of the design, or replicates"
        )
    if not fit.drift:
        notes.append("the drift cannot be told from the effects and is not modelled: measure in random order")
    if fit.df < 1:
        notes.append(NO_NOISE)
    notes += [
        f"the control {term.names[0]} is aliased: what it shows may come from {signed_sum(term.names[1:])}"
        for term in terms
        if term.control and len(term.names) > 1
    ]
    return tuple(notes)
