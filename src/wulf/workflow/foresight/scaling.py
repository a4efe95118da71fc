"""Run times on other numbers of ranks: from traces of three numbers or more, with the error of those left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wulf.core.errors import UsageError
from wulf.model.foresight.prediction import Scaling
from wulf.model.speedup.study import study

LEAST_COUNTS = 3
"""Numbers of ranks: a form of two parameters through two points fits always, and nothing is left to hold out."""


def check_counts(ranks: Sequence[int], asked: Sequence[int]) -> None:
    """Refuse what no model can answer.

    Raises
    ------
    UsageError
        Other numbers of ranks are asked for, and there are traces of fewer than three.
    """
    if asked and len(set(ranks)) < LEAST_COUNTS:
        raise UsageError(
            f"a trace of {', '.join(map(str, sorted(set(ranks))))} ranks says nothing of {', '.join(map(str, asked))}: "
            "who sends what to whom is another program then",
            f"trace the program with {LEAST_COUNTS} numbers of ranks or more, and give all the traces",
        )


def scaling_of(network: str, seconds: Mapping[int, Sequence[float]], asked: Sequence[int], seed: int = 0) -> Scaling:
    """Run time over ranks on one network: the form of least held-out error, and what it says of other numbers.

    Parameters
    ----------
    seconds
        Ranks → predicted run times of the traces with so many.
    """
    if len(seconds) < LEAST_COUNTS:
        return Scaling(network, refused=f"traces of {len(seconds)} numbers of ranks: {LEAST_COUNTS} are needed")
    found = study({float(ranks): values for ranks, values in seconds.items()}, seed=seed)
    if found.best is None:
        return Scaling(network, found, refused="; ".join(found.refused.values()))
    far = [count for count in asked if not found.supported(count)]
    refused = f"{', '.join(map(str, far))} ranks are more than twice those traced: nothing supports it" if far else ""
    return Scaling(network, found, {count: found.predict(count) for count in asked if count not in far}, refused)
