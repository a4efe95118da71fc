"""wulf measures, explains, tunes and predicts the performance of commodity Linux clusters.

    import wulf

    results = wulf.load("monday")
    results.findings, results.maps, results.pandas()
    wulf.Cluster("n[1-4]").survey(quick=True)

docs/how-to/python.md says what is public: the names below, which are imported when they are first used.
"""

__version__ = "0.1.0"

_PLACES = {
    "api.changes": ("Change", "compare"),
    "api.cluster": ("Cluster",),
    "api.pictures": ("Map", "Picture"),
    "api.results": ("Results", "RunEntry", "Runs", "load", "runs"),
    "core.errors": ("LabError", "NodeError", "UsageError", "WulfError"),
    "core.findings": ("Evidence", "Finding", "Severity"),
    "core.records": ("Provenance", "Record", "Verdict"),
    "store.reading": ("StoreError",),
}

__all__ = sorted(name for names in _PLACES.values() for name in names)  # noqa: PLE0605 - names of a table


def __getattr__(name):
    """A public name, from where it is."""
    from importlib import import_module

    for place, names in _PLACES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"wulf.{place}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
