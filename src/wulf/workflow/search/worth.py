"""What a search's figures are held against: the machine's price and peaks, as its options name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wulf.core.errors import UsageError
from wulf.model.cost import GIGA, Sourced, scaled
from wulf.model.draws import known
from wulf.report.model.amounts import sourced_object
from wulf.store.run import Run
from wulf.workflow.model.cost import FLOPS, measured_peak

MEASURED = "measured peak"


def machine_object(
    unit: str,
    price: float | None,
    currency: str,
    peaks: Sequence[tuple[str, float]],
    measured: tuple[Run, Sequence[str]] | None = None,
    *,
    places: bool = False,
    seed: int = 0,
) -> Mapping[str, Any] | None:
    """As search.json has it; None where nothing is known.

    Parameters
    ----------
    unit
        Of the search's figure.
    peaks
        Names and GFLOPS.
    measured
        A run of `wulf node`, and the nodes whose measured peaks are summed.
    places
        Whether it is HPL's rate, of which Top500 lists are made.

    Raises
    ------
    UsageError
        The figure is no rate in flop/s; the run has no peak of a node.
    """
    asked = price is not None or peaks or measured is not None
    if unit != FLOPS:
        if asked:
            raise UsageError(
                f"the figure is in {unit}: no share of a peak, nor a price of a GFLOPS", f'unit = "{FLOPS}"'
            )
        return None
    found = {name: Sourced(scaled(known(gflops), GIGA)) for name, gflops in peaks}
    if measured is not None:
        found[MEASURED] = measured_peak(*measured, np.random.default_rng(seed))
    if not asked and not places:
        return None
    told = {name: sourced_object(peak) for name, peak in found.items()}
    return {"price": price, "currency": currency, "peaks": told, "places": places}
