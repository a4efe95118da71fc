"""What a launch adds to the noise of its runs: all runs at one number of workers may share nodes, placement and memory.

A mean then scatters around its curve by τ² more than its own runs tell, and no repetition within the launch makes that
smaller. How far all means are from the curve tells τ: Q(τ²) = Σ left² / (own + τ²) has a χ² distribution, which gives
the estimate where Q is its mean (Paule & Mandel 1982), and draws where it is a draw (the Q profile: Viechtbauer,
Statistics in Medicine 26, 2007), none below zero.
"""

from __future__ import annotations

import numpy as np

from wulf.stats.samples import Floats

STEPS = 400
"""Of τ², on a log scale, between which draws are interpolated."""

PRIOR_DOF = 0.5
"""Besides the means, as if half of one more had shown that launches vary as much as means of runs do: with one or two
degrees of freedom left, χ² alone would let them vary by anything."""


def launch_variance(left: Floats, own: Floats, dof: float) -> float:
    """τ², at least 0.

    Parameters
    ----------
    left
        Relative distances of the means from the curve, shape (points,).
    own
        Relative variance of each mean by its runs alone, shape (points,).
    dof
        Points less parameters.
    """
    return float(_solved(left, own, np.array([float(dof)]))[0])


def launch_draws(random: np.random.Generator, left: Floats, own: Floats, dof: float, draws: int) -> Floats:
    """What τ² may be, shape (draws,)."""
    from scipy.special import chdtr, chdtri

    usual = 2 * float(np.mean(own))
    squares, variances = np.append(left, (PRIOR_DOF * usual) ** 0.5), np.append(own, usual / 2)
    total = float(np.sum(squares**2 / variances))
    places = random.uniform(size=draws) * chdtr(dof + PRIOR_DOF, total)
    return _solved(squares, variances, np.asarray(chdtri(dof + PRIOR_DOF, 1 - places)))


def _solved(left: Floats, own: Floats, wanted: Floats) -> Floats:
    """Where Q comes to each of these; 0 where it is less already without τ²."""
    most = max(float(np.sum(left**2)) / max(float(wanted.min()), 1e-3), 1e-30)
    tried = np.concatenate([[0.0], np.geomspace(min(float(own.min()) * 1e-3, most), most, STEPS)])
    found = np.sum(left**2 / (own + tried[:, None]), axis=1)
    result: Floats = np.interp(wanted, found[::-1], tried[::-1])
    return result
