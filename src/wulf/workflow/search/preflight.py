"""The preflight of HPL's search on the nodes: every BLAS that they have, by products of HPL's shape on all cores."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePath
from random import Random
from typing import Any

from wulf.cluster.applications import Applications, Executable
from wulf.core.errors import NodeError
from wulf.measure.blas import Library, LibraryRates, called_libraries, common_path
from wulf.search.preflight import Preflight, ProductArm, Rate, Standing, compare

ROWS = 1000
"""Rows and columns of the product: past a core's caches, and a second's work for the slowest library."""

SECONDS, PATIENCE, FIND_BLAS = 0.1, 120.0, 60.0
"""Of one product's measurement, about; for its answer; and for the libraries to be found."""

SHARE = 0.1
"""Of a search's budget, at most."""

OWN, ALL = "own", "all"
"""Instead of paths: the library that the program finds by itself, and whatever all nodes have."""


@dataclass(frozen=True)
class Choice:
    """The libraries to search over.

    Attributes
    ----------
    libraries
        Paths, the one that is there without a search first; none: the program's own alone.
    nb
        The block size that products prefer; None: not known.
    about
        As the search's journal and result hold it; empty where nothing was measured.
    """

    libraries: tuple[str, ...] = ()
    nb: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Spent in products."""
        return float(self.about.get("seconds", 0.0))


def choose_blas(
    apps: Applications,
    wanted: Sequence[str],
    program: Executable,
    sizes: Sequence[int],
    *,
    seed: int,
    budget: float | None,
) -> Choice:
    """Measure the libraries that are wanted; those that are proven to be slower than the fastest are left out.

    Parameters
    ----------
    wanted
        Paths or labels, or OWN, or ALL; none: ALL, if the program can be given another library at all.

    Raises
    ------
    UsageError
        A named library is not there on all nodes.
    """
    if tuple(wanted) == (OWN,):
        return Choice()
    if not wanted and program.blas is None:
        return Choice()
    paths = _paths(apps, [] if tuple(wanted) == (ALL,) else wanted)
    apps.say(f"measuring {len(paths)} BLAS libraries")
    found = compare(
        paths, sizes, lambda arm: _product(apps, arm), Random(seed),  # noqa: S311 - an order is no secret
        clock=time.monotonic, limit=None if budget is None else SHARE * budget,
    )  # fmt: skip
    if not found.kept:
        found.notes.append("No BLAS library could be measured: the program's own is used.")
    return Choice(_own_first(found.kept, program.blas), found.best_nb, preflight_object(found, program.blas))


def _paths(apps: Applications, named: Sequence[str]) -> tuple[str, ...]:
    """The libraries to try: as named and there on all nodes, or all that all nodes have."""
    answers = apps.ask("blas_find", FIND_BLAS, also=list(named))
    there = [{library["path"] for library in one["libraries"]} for one in answers.values()]
    common = set.intersection(*there) if there else set()
    return tuple(common_path(each, answers) for each in named) or tuple(sorted(common))


def _product(apps: Applications, arm: ProductArm) -> Rate:
    """On all nodes at once; the slowest one's rate, for which the others wait in a solve."""
    params = {
        "m": ROWS, "n": ROWS, "k": arm.nb, "update": True, "library": arm.library, "processes": 0, "threads": 0,
        "seconds": SECONDS,
    }  # fmt: skip
    try:
        answers = apps.ask("run", SECONDS + PATIENCE, probe="dgemm", params=params)
    except NodeError as error:
        if not all(apps.alive(node) for node in apps.nodes):
            raise
        return Rate(None, error.what)
    libraries = [library for node, answer in answers.items() for library in called_libraries(node, answer)]
    return _slowest(libraries, 2.0 * ROWS * ROWS * arm.nb)


def _slowest(libraries: Sequence[Library], operations: float) -> Rate:
    """One rate of the nodes' answers. A library whose functions have names of their own is for no program.

    It is all products over all their time, not the median product's: of products that are shorter than a time slice the
    median is one that nothing disturbed, of longer ones it is not, so that small blocks would win on a busy node.
    """
    if not libraries:
        return Rate(None, "no node called it")
    first = libraries[0]
    named = first.get("name") != PurePath(str(first.get("path", ""))).name  # else it is the file's name for want of one
    title = " ".join(str(part) for name in ("name", "version") if named and (part := first.get(name)))
    if not all(library.get("plain", True) for library in libraries):
        return Rate(None, "it is a Python wheel's, with names of its own: not for other programs", title)
    lost = next((library["rate"] for library in libraries if library["rate"]["value"] is None), None)
    if lost is not None:
        return Rate(None, str(lost.get("reason")), title)
    rates = [operations * one["rate"].get("n", 0) / one["seconds"] if one["seconds"] > 0 else 0.0 for one in libraries]
    return Rate(min(rates), title=title) if min(rates) > 0 else Rate(None, "a node counted no product", title)


def _own_first(kept: tuple[str, ...], own: str | None) -> tuple[str, ...]:
    """The program's own library, where it was kept, is what there is without a search."""
    return tuple(sorted(kept, key=lambda path: path != own)) if own in kept else kept


def preflight_object(found: Preflight, own: str | None) -> dict[str, Any]:
    """As the journal's head and search.json have it, in SI units."""
    return {
        "own": own, "rows": ROWS, "products": found.products, "seconds": found.seconds,
        "libraries": [
            {"path": one.arm.library, "label": LibraryRates("", one.arm.library, {}, {}).label,
             "title": found.titles.get(one.arm.library, ""), "nb": one.arm.nb, "kept": not one.worse, **_standing(one)}
            for one in found.libraries
        ],
        "sizes": [{"nb": one.arm.nb, **_standing(one)} for one in sorted(found.sizes, key=lambda one: one.arm.nb)],
        "best_nb": found.best_nb,
        "unusable": [{"path": path, "reason": why} for path, why in found.unusable.items()],
        "notes": list(found.notes),
    }  # fmt: skip


def _standing(one: Standing) -> dict[str, Any]:
    rate = {key: getattr(one.rate, key) for key in ("value", "low", "high", "n", "reason")}
    if one.against is None:
        return {"rate": rate, "against": None}
    about = asdict(one.against)
    kept = {key: about[key] for key in ("ratio", "low", "high", "p", "n", "reason")}
    return {"rate": rate, "against": {**kept, "judgement": str(one.against.judgement)}}
