"""wulf beside its peers: the same work in the same lab, interleaved. `python -m bench --help`.

Its tables: docs/explanation/benchmarks.md.
"""
