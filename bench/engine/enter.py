"""`enter.py LAB NODE COMMAND …`: a command on a node of a lab that is up, with our standard streams."""

from __future__ import annotations

import sys

from wulf import lab as labs


def main(arguments: list[str]) -> int:
    """The command's exit status."""
    lab, node, *command = arguments
    found = labs.find(lab)
    if found is None:
        print(f"the lab {lab} is down", file=sys.stderr)
        return 2
    return found.exec(node, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
