"""`python -I -S …/wulf/lab/inside COMMAND …`: makes this folder a package of its own, then runs one of its modules."""

# ruff: noqa: PTH120

import importlib
import os
import sys

COMMANDS = ("init", "connect", "enter", "link", "daemon")


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        print(f"usage: inside {'|'.join(COMMANDS)} …  (wulf runs this; see `wulf lab --help`)", file=sys.stderr)
        return 2
    # Appended, not put first: no module of ours may ever hide one of the standard library's.
    sys.path[:1] = []
    sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    module = importlib.import_module(f"inside.{sys.argv[1]}")
    return int(module.main(sys.argv[2:]) or 0)


if __name__ == "__main__":
    sys.exit(main())
