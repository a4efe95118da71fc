"""What runs inside a lab, or on its way in: standard library alone, started by file name, small.

`python -I -S …/wulf/lab/inside init|connect|enter …` runs it without site-packages and without importing `wulf`, so
that a node's first process stays below 12 MiB and an ssh connection is not kept waiting by imports. For the same reason
these modules use os.path where the rest of wulf uses pathlib.
"""
