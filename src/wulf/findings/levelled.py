"""Records of one metric over many subjects as figures that can be compared: levelled by the passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from wulf.core.records import Record, Verdict, passes_of
from wulf.stats.cluster.levelling import Figures, by_pass, figures

_QUANTILE = float(ndtri(0.975))


def usable(record: Record | None) -> bool:
    """Whether a record has a figure above zero, of which ratios can be taken."""
    return record is not None and record.verdict in (Verdict.OK, Verdict.NOISY) and (record.value or 0.0) > 0


def figures_of(records: Sequence[Record | None]) -> Figures:
    """What the records of one metric say, with what each pass had in common taken out.

    A record without samples (a derived one) counts with its value and interval; one that is not `usable` is NaN.
    """
    own = [record if record is not None and usable(record) else None for record in records]
    with_samples = [place for place, record in enumerate(own) if record is not None and record.samples]
    values, errors = (np.full(len(own), np.nan) for _ in range(2))
    found = Figures(values, errors, np.full(len(own), np.inf), 0.0)
    for place, record in enumerate(own):
        if record is not None and not record.samples:
            values[place] = record.value
            if record.low is not None and record.high is not None and record.low > 0:
                errors[place] = np.log(record.high / record.low) / (2 * _QUANTILE)
    if not with_samples:
        return found
    sampled = [record for record in own if record is not None and record.samples]
    levelled = figures(by_pass([one.samples for one in sampled], [passes_of(one) for one in sampled]))
    values[with_samples], errors[with_samples] = levelled.values, levelled.errors
    found.freedom[with_samples] = levelled.freedom
    return replace(found, resolution=levelled.resolution)
