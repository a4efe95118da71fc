"""The `wulf` program: the command line, or one line of text where that can't even be loaded.

By itself Python would end with 1, which means "something stands out": a health check would drain a node since an update
of wulf was half done.
"""

from __future__ import annotations

import sys

INTERNAL, INTERRUPTED = 70, 130  # as wulf.core.errors has them, which may be what can't be loaded


def main() -> None:
    """Entry point."""
    try:
        from wulf.cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being loaded
        what = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"error: wulf can't be loaded: {what}\n  → install it anew", file=sys.stderr)
        sys.exit(INTERNAL)
    command()
