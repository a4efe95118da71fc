"""What each knob does: effects, interactions and attribution from a measured experiment.

Times and rates are analysed as logarithms, so that effects are ratios. All effects and the drift of the campaign are
estimated together by least squares. Noise comes from what the model leaves over; from the effects themselves where
nothing is left over (Lenth 1989); and where a reboot lies between whole plots, from the whole plots (Montgomery, Design
and Analysis of Experiments, 8th ed., chapters 6 and 14). Interactions of three and more are taken to be nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc, stdtr, stdtrit

from wulf.stats.comparison import holm
from wulf.stats.designs import (
    CONTROL,
    PARTLY,
    Indices,
    Term,
    alias_groups,
    alias_shares,
    columns,
    group_names,
    model_terms,
    signed_sum,
)
from wulf.stats.samples import Floats, check_confidence, checked, logs

LENTH_LEAST = 7
"""Effects from which Lenth's error is taken at least: of fewer, two real ones make the median too great."""

ROUNDING = 1e-10
"""What is smaller than this, relative to the values analysed, is no noise but rounding."""

SINGULAR = 1e-8
"""Columns of levels are taken for dependent when the least singular value is below this times √runs."""


class Basis(StrEnum):
    """Where the error of a contrast comes from."""

    RESIDUAL = "residual"
    WITHIN = "within whole plots"
    BETWEEN = "between whole plots"
    COMBINED = "within and between whole plots"
    LENTH = "Lenth's pseudo standard error"
    NONE = "none"


@dataclass(frozen=True)
class Contrast:
    """A change between two configurations, or a mean of such changes.

    Attributes
    ----------
    value, low, high
        As a ratio (1: no change), or in the unit of the values where no logarithm was taken (0: no change); `low` and
        `high` are None where there is no error to judge by.
    p
        Two-sided, of no change, by itself; None without an interval.
    change, error
        The same on the scale of the analysis (natural logarithm, or the values' unit), where changes add up, and its
        standard error.
    df
        Degrees of freedom of the error.
    basis
        Where the error comes from.
    reason
        Why there is no interval.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None
    change: float
    error: float | None
    df: float | None
    basis: Basis
    reason: str | None = None


@dataclass(frozen=True)
class Effect:
    """A main effect, or an interaction of two: the full change from -1 to +1 (Montgomery, section 6.2).

    The main effect of a: a on against a off, averaged over the other factors. The interaction a × b: half of how much
    the effect of a changes when b is turned on.

    Attributes
    ----------
    names
        All terms of which only the sum is seen: ("a × b", "c × d"), ("a", "−b × c").
    partly
        Terms that are not in the model and go into this one to a part, at least a tenth.
    contrast
        The figure.
    holm
        p corrected over all effects but the control's (Holm 1979); None for that, and without an interval.
    control
        The A/A arm: nothing was changed, so an effect is a false alarm.
    """

    names: tuple[str, ...]
    partly: tuple[str, ...]
    contrast: Contrast
    holm: float | None
    control: bool

    @property
    def name(self) -> str:
        """The terms as one: "a × b + c × d"."""
        return signed_sum(self.names)


@dataclass(frozen=True)
class Attribution:
    """A factor's share of the change from all off to all on.

    In 0/1 coding it is the factor's effect alone and half of each interaction it takes part in: the Shapley value of a
    model with interactions of two (Shapley 1953), and the same as the main effect in ±1 coding.

    Attributes
    ----------
    names
        The factor, and whatever is aliased with it.
    share
        What is attributed. The shares' `change` sum up to the total's, ratios multiply.
    alone
        From the baseline to this factor alone.
    shared
        Half of its interactions.
    reason
        Why `alone` and `shared` are None: its interactions were not, or could not be, seen by themselves.
    """

    names: tuple[str, ...]
    share: Contrast
    alone: Contrast | None
    shared: Contrast | None
    reason: str | None = None


@dataclass(frozen=True)
class Analysis:
    """What a measured experiment says.

    Attributes
    ----------
    effects
        Main effects, then interactions, in the factors' order.
    attribution
        One for each factor, or each group that was always changed together; the control has none.
    total
        Predicted change from all off to all on; None where all factors are controls.
    drift
        The fitted trend from the first run to the last; in a split-plot campaign from the first to the last of a whole
        plot, their mean. Its p is of no trend at all. None: not modelled.
    left_out
        Interactions that could not be estimated.
    sigma
        Standard deviation of one run on the scale of the analysis, without whole-plot noise; None where nothing is
        left over.
    n
        Runs.
    confidence
        Of each interval by itself.
    log
        Whether logarithms were analysed: figures are ratios.
    notes
        What the reader has to know: what could not be modelled, and what to do about it.
    """

    effects: tuple[Effect, ...]
    attribution: tuple[Attribution, ...]
    total: Contrast | None
    drift: Contrast | None
    left_out: tuple[str, ...]
    sigma: float | None
    n: int
    confidence: float
    log: bool
    notes: tuple[str, ...]

    @property
    def control(self) -> Effect | None:
        """The A/A arm's effect; None without one."""
        return next((effect for effect in self.effects if effect.control), None)

    @property
    def control_alarm(self) -> bool | None:
        """Whether the A/A arm seems to have an effect, which it does once in 20 at 95 %; None where nobody can say."""
        p = None if self.control is None else self.control.contrast.p
        return None if p is None else p < 1 - self.confidence


def analyse(
    names: Sequence[str],
    levels: ArrayLike,
    values: ArrayLike,
    *,
    plots: ArrayLike | None = None,
    times: ArrayLike | None = None,
    trend: int = 1,
    interactions: bool = True,
    log: bool = True,
    confidence: float = 0.95,
    controls: Collection[str] = (CONTROL,),
) -> Analysis:
    """Effects, interactions of two, attribution and drift of a two-level experiment.

    Aliased terms are one effect with all names. Interactions that cannot all be estimated beside the main effects and
    the drift are left out, and named. With whole plots, what is constant within each is judged by the whole plots'
    means, the rest within them; the drift has its own course in either.

    Parameters
    ----------
    names
        The factors, k of them.
    levels
        -1 (off) or +1 (on), in the order measured, shape (n, k).
    values
        One for each run, shape (n,): a time or a rate; a run without a value is left out here and in `levels`.
    plots
        Whole plot of each run, any integers, shape (n,); None: no reboot lies between.
    times
        When each run was measured, any unit, shape (n,); None: evenly, in the order given.
    trend
        Degree of the drift's polynomial: 0 (none), 1 or 2.
    interactions
        False: main effects only.
    log
        False: effects are differences in the values' unit.
    confidence
        Of each interval by itself.
    controls
        Factors that change nothing (`wulf.stats.designs.with_control`): they have a main effect only, and no claim.

    Raises
    ------
    ValueError
        A value is not finite, or not above zero (with `log`); shapes do not fit; a level is neither -1 nor +1; a factor
        never changed, or the runs cannot tell the main effects apart.
    """
    check_confidence(confidence)
    y = logs(values) if log else checked(values)
    matrix = _checked_levels(names, levels, int(y.size))
    drift = _trend(times, int(y.size), trend)
    plot = None if plots is None else _checked_plots(plots, int(y.size))
    terms, still = _terms(names, matrix, controls, interactions=interactions)
    fits = _Fits(_fit_all(y, terms, drift, plot), confidence, log)
    effects = _effects(terms, fits)
    shown = [i for i, term in enumerate(terms) if term.main and not term.control]
    return Analysis(
        effects=effects,
        attribution=tuple(_attribution(terms, fits, i, interactions=interactions) for i in shown),
        total=fits.contrast(dict.fromkeys(shown, 1.0)) if shown else None,
        drift=fits.drift(_span(drift, times, plot)),
        left_out=tuple(signed_sum(terms[i].names) for i in fits.left_out) + still,
        sigma=fits.sigma,
        n=int(y.size),
        confidence=confidence,
        log=log,
        notes=_notes(terms, fits, int(y.size), trend),
    )


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


def _checked_plots(plots: ArrayLike, n: int) -> Indices:
    labels = np.asarray(plots).ravel()
    if labels.size != n:
        raise ValueError(f"{labels.size} whole-plot labels for {n} runs: each needs one")
    return np.unique(labels, return_inverse=True)[1].ravel()


def _trend(times: ArrayLike | None, n: int, degree: int) -> Floats:
    """Legendre polynomials of time, shape (n, degree): nearly orthogonal, the first from -1 to 1."""
    if degree not in (0, 1, 2):
        raise ValueError(f"a trend of degree {degree} is not offered: 0 (none), 1 and 2 are")
    at = np.arange(n, dtype=float) if times is None else checked(times)
    if at.size != n:
        raise ValueError(f"{at.size} times for {n} runs: each needs one")
    if degree == 0:
        return np.empty((n, 0))
    if np.ptp(at) == 0:
        raise ValueError("all runs were measured at one time: a drift cannot be seen (trend=0 leaves it out)")
    legendre: Floats = np.polynomial.legendre.legvander(2 * (at - at.min()) / np.ptp(at) - 1, degree)[:, 1:]
    return legendre


def _span(drift: Floats, times: ArrayLike | None, plot: Indices | None) -> Floats:
    """How far the trend's polynomials go from the first run to the last of each whole plot, the plots' mean."""
    if not drift.shape[1]:
        return np.empty(0)
    at = np.arange(len(drift)) if times is None else checked(times)
    members = [np.arange(len(drift))] if plot is None else [np.flatnonzero(plot == p) for p in np.unique(plot)]
    spans: Floats = np.mean([drift[m[at[m].argmax()]] - drift[m[at[m].argmin()]] for m in members], axis=0)
    return spans


@dataclass(frozen=True)
class _Term:
    """Terms that share a column: `names` for a person, `factors` of the first one, all `mains` among them."""

    names: tuple[str, ...]
    factors: Term
    mains: Term
    column: Floats
    control: bool

    @property
    def main(self) -> bool:
        return bool(self.mains)


def _terms(
    names: Sequence[str], levels: NDArray[np.int8], controls: Collection[str], *, interactions: bool
) -> tuple[list[_Term], tuple[str, ...]]:
    """Main effects and interactions, and the names of those that never vary.

    A control has no interactions: what changes nothing changes no other's effect.
    """
    real = {i for i, name in enumerate(names) if name not in controls}
    wanted = [t for t in model_terms(len(names)) if len(t) == 1 or (interactions and real.issuperset(t))]
    products = columns(levels, wanted)
    found = []
    for group in alias_groups(products):
        first = wanted[group[0][0]]
        opposite = [names[wanted[at][0]] for at, sign in group if sign < 0 and len(wanted[at]) == 1]
        if opposite:
            raise ValueError(
                f"{names[first[0]]} was on exactly when {opposite[0]} was off: their effects cannot be told apart, "
                "measure the baseline too"
            )
        mains = tuple(wanted[at][0] for at, _ in group if len(wanted[at]) == 1)
        control = bool(mains) and real.isdisjoint(mains)
        found.append(_Term(group_names(names, wanted, group), first, mains, products[:, group[0][0]], control))
    still = [" × ".join(names[i] for i in t) for t, c in zip(wanted, products.T, strict=True) if np.ptp(c) == 0]
    return found, tuple(still)


@dataclass(frozen=True)
class _Fit:
    """Least squares of some terms, and of the trend.

    Attributes
    ----------
    where
        The terms' indices; those asked for and not among them are `left_out`.
    change, spread
        Full changes, and their covariance in units of the variance of one run.
    slopes, slope_spread
        The trend's coefficients likewise; empty where there is no trend in the model.
    variance, df, basis, reason
        Noise of one run, and where it was seen; variance is None where it was not, and the reason says why.
    """

    where: list[int]
    left_out: list[int]
    change: Floats
    spread: Floats
    slopes: Floats
    slope_spread: Floats
    variance: float | None
    df: float
    basis: Basis
    reason: str | None


def _fit_all(y: Floats, terms: list[_Term], drift: Floats, plot: Indices | None) -> list[_Fit]:
    """One fit; with whole plots one within them, and one of their means."""
    products = np.stack([term.column for term in terms], axis=1)
    everything = list(range(len(terms)))
    if plot is None:
        ones = np.ones((y.size, 1))
        return [_fit(y, ones, terms, products=products, wanted=everything, drift=drift, basis=Basis.RESIDUAL)]
    member = (plot[:, None] == np.unique(plot)[None, :]).astype(float)
    outer = [i for i in everything if all(np.ptp(products[plot == p, i]) == 0 for p in np.unique(plot))]
    inner = [i for i in everything if i not in outer]
    within = _fit(y, member, terms, products=products, wanted=inner, drift=drift, basis=Basis.WITHIN)
    mean = (member / member.sum(axis=0)).T
    rest = mean @ (y - products[:, within.where] @ within.change / 2)
    between = _fit(
        rest, np.ones((rest.size, 1)), terms,
        products=mean @ products, wanted=outer, drift=mean @ drift, basis=Basis.BETWEEN,
    )  # fmt: skip
    return [within, between]


def _fit(
    y: Floats, base: Floats, terms: list[_Term], *, products: Floats, wanted: list[int], drift: Floats, basis: Basis
) -> _Fit:
    """As much as can be told apart: everything; no interactions; no trend; neither. The base is means to be removed."""
    mains = [i for i in wanted if terms[i].main]
    rest = _without(base, y[:, None])[:, 0]
    for trend in (drift, drift[:, :0]):
        for where in (wanted, mains):
            model = _without(base, np.column_stack([products[:, where], trend]))
            if np.linalg.matrix_rank(model, tol=SINGULAR * sqrt(y.size)) < model.shape[1]:
                continue
            t, df = len(where), y.size - base.shape[1] - model.shape[1]
            found, inverse, squares = _least_squares(model, rest, ROUNDING * float(np.abs(y).max()))
            change, spread = 2 * found[:t], 4 * inverse[:t, :t]
            least = base.shape[1] + len(wanted) + drift.shape[1] + 1
            return _Fit(
                where, [i for i in wanted if i not in where], change, spread, found[t:], inverse[t:, t:],
                *_noise(change / np.sqrt(np.diag(spread)), squares, df, basis, least),
            )  # fmt: skip
    what = "whole plots" if basis is Basis.BETWEEN else "runs"
    raise ValueError(
        f"{y.size} {what} cannot tell {len(mains)} main effects apart ({', '.join(terms[i].names[0] for i in mains)}): "
        f"measure more {what} of the design"
    )


def _without(base: Floats, x: Floats) -> Floats:
    """What is left of the columns after least squares on the base (Frisch & Waugh 1933; Lovell 1963)."""
    q = np.linalg.qr(base)[0]
    rest: Floats = x - q @ (q.T @ x)
    return rest


def _least_squares(model: Floats, y: Floats, tiny: float) -> tuple[Floats, Floats, float]:
    """Coefficients, their covariance in units of the noise's variance, and the residual sum of squares."""
    inverse = np.linalg.inv(model.T @ model).astype(float)
    found = inverse @ (model.T @ y)
    found[np.abs(found) < tiny] = 0.0
    residual = y - model @ found
    residual[np.abs(residual) < tiny] = 0.0
    return found, inverse, float(residual @ residual)


def _noise(
    contrasts: Floats, squares: float, df: int, basis: Basis, least: int
) -> tuple[float | None, float, Basis, str | None]:
    """Variance of the noise, its degrees of freedom, and where it was seen; or why it was not."""
    if df >= 1:
        return squares / df, float(df), basis, None
    if basis is Basis.BETWEEN:
        reason = f"too few whole plots to see their noise: {least} are needed at least, so replicate the design"
        return None, 0.0, Basis.NONE, reason
    if contrasts.size < LENTH_LEAST:
        reason = (
            f"no run is left over to see the noise, and Lenth's method needs {LENTH_LEAST} effects instead of "
            f"{contrasts.size}: measure one replicate more at least"
        )
        return None, 0.0, Basis.NONE, reason
    return lenth_error(contrasts) ** 2, contrasts.size / 3, Basis.LENTH, None


def lenth_error(contrasts: ArrayLike) -> float:
    """Lenth's pseudo standard error of contrasts with equal variance, most of which are nothing.

    1.5 times the median of those |c| that are below 2.5 times 1.5 median |c|; Student's t with m/3 degrees of freedom
    (Lenth, Technometrics 31, 1989), which claims rather too little than too much.

    Raises
    ------
    ValueError
        There are none, or one is not finite.
    """
    sizes = np.abs(checked(contrasts))
    if not sizes.size:
        raise ValueError("no contrasts: their error needs some")
    first = 1.5 * float(np.median(sizes))
    return 1.5 * float(np.median(sizes[sizes <= 2.5 * first]))


@dataclass(frozen=True)
class _Fits:
    """All fits of a campaign, and how their figures are to be given."""

    fits: list[_Fit]
    confidence: float
    log: bool

    @property
    def left_out(self) -> list[int]:
        return sorted(i for fit in self.fits for i in fit.left_out)

    @property
    def where(self) -> list[int]:
        return sorted(i for fit in self.fits for i in fit.where)

    @property
    def sigma(self) -> float | None:
        """Of one run, as the residuals show it."""
        first = self.fits[0]
        return sqrt(first.variance) if first.variance is not None and first.basis is not Basis.LENTH else None

    def contrast(self, weights: Mapping[int, float]) -> Contrast:
        """A weighted sum of effects.

        The variances of several fits add up. Student's t then has the fewest degrees of freedom among them, which
        claims rather too little (Mickey & Brown 1966); Welch and Satterthwaite's claim too much with few whole plots.
        """
        change, parts = 0.0, []
        for fit in self.fits:
            w = np.array([weights.get(i, 0.0) for i in fit.where])
            if w.any():
                change += float(w @ fit.change)
                parts.append((fit, float(w @ fit.spread @ w)))
        unseen = next((fit for fit, _ in parts if fit.variance is None), None)
        if unseen is not None:
            return self._judged(change, None, 0.0, Basis.NONE, unseen.reason)
        error = sqrt(sum((fit.variance or 0.0) * spread for fit, spread in parts))
        basis = parts[0][0].basis if len(parts) == 1 else Basis.COMBINED
        return self._judged(change, error, min(fit.df for fit, _ in parts), basis, None)

    def drift(self, span: Floats) -> Contrast | None:
        """The trend over `span`; its p is of all its coefficients together (F test)."""
        fit = self.fits[0]
        if not fit.slopes.size:
            return None
        change = float(span @ fit.slopes)
        if fit.variance is None:
            return self._judged(change, None, 0.0, Basis.NONE, fit.reason)
        error = sqrt(fit.variance * float(span @ fit.slope_spread @ span))
        found = self._judged(change, error, fit.df, fit.basis, None)
        if fit.variance == 0:
            return replace(found, p=0.0 if fit.slopes.any() else 1.0)
        size = float(fit.slopes @ np.linalg.solve(fit.slope_spread, fit.slopes)) / fit.slopes.size / fit.variance
        return replace(found, p=float(fdtrc(fit.slopes.size, fit.df, size)))

    def _judged(self, change: float, error: float | None, df: float, basis: Basis, reason: str | None) -> Contrast:
        """Student's t interval, on the scale that the figures are given in."""

        def given(x: float) -> float:
            with np.errstate(over="ignore"):  # the bound of one degree of freedom may well be infinite
                return float(np.exp(x)) if self.log else x

        if error is None:
            return Contrast(given(change), None, None, None, change, None, None, basis, reason)
        half = float(stdtrit(df, (1 + self.confidence) / 2)) * error
        p = 2 * float(stdtr(df, -abs(change) / error)) if error > 0 else float(change == 0)
        return Contrast(given(change), given(change - half), given(change + half), p, change, error, df, basis)


def _effects(terms: list[_Term], fits: _Fits) -> tuple[Effect, ...]:
    """All fitted terms with p corrected for their number, and with what goes into them of those left out."""
    contrasts = {i: fits.contrast({i: 1.0}) for i in fits.where}
    claims = {i: found.p for i, found in contrasts.items() if found.p is not None and not terms[i].control}
    corrected = dict(zip(claims, holm(list(claims.values())), strict=True))
    partly = _partly(terms, fits)
    return tuple(
        Effect(terms[i].names, partly[i], found, corrected.get(i), terms[i].control) for i, found in contrasts.items()
    )


def _partly(terms: list[_Term], fits: _Fits) -> dict[int, tuple[str, ...]]:
    """Names of the terms left out that go into each fitted one."""
    where, left_out = fits.where, fits.left_out
    if not left_out:
        return dict.fromkeys(where, ())
    shares = alias_shares(*(np.stack([terms[i].column for i in some], axis=1) for some in (where, left_out)))
    return {
        i: tuple(signed_sum(terms[left_out[j]].names) for j in np.flatnonzero(row >= PARTLY))
        for i, row in zip(where, shares, strict=True)
    }


def _attribution(terms: list[_Term], fits: _Fits, main: int, *, interactions: bool) -> Attribution:
    """A main effect, and what of it is the factor's own where all of its interactions were seen by themselves."""
    term, share = terms[main], fits.contrast({main: 1.0})
    others = {j for t in terms if not t.control for j in t.mains if j not in term.mains}
    if not others:
        return Attribution(term.names, share, None, None, "there is no other factor to interact with")
    if not interactions:
        return Attribution(term.names, share, None, None, "interactions were not asked for")
    own = [
        i for i in fits.where if not terms[i].main and len(terms[i].names) == 1 and term.mains[0] in terms[i].factors
    ]
    if len(term.names) > 1 or len(own) < len(others):
        return Attribution(term.names, share, None, None, "its interactions were not all seen by themselves")
    alone = fits.contrast({main: 1.0, **dict.fromkeys(own, -1.0)})
    return Attribution(term.names, share, alone, fits.contrast(dict.fromkeys(own, 1.0)))


def _notes(terms: list[_Term], fits: _Fits, n: int, trend: int) -> tuple[str, ...]:
    """What could not be modelled, and what to do about it."""
    notes = []
    if fits.left_out:
        rest = "the other effects and the drift" if trend else "the other effects"
        notes.append(
            f"{n} runs cannot tell {len(fits.left_out)} interactions from {rest}, and they are not modelled: "
            "measure more runs of the design, or replicates"
        )
    for fit, where in zip(fits.fits, ("", " between whole plots"), strict=False):
        if trend and fit.where and not fit.slopes.size:
            notes.append(
                f"the drift{where} cannot be told from the effects and is not modelled: measure in random order"
            )
        if fit.where and fit.reason:
            notes.append(fit.reason)
    notes += [
        f"the control {term.names[0]} is aliased: what it shows may come from {signed_sum(term.names[1:])}"
        for term in terms
        if term.control and len(term.names) > 1
    ]
    return tuple(notes)
