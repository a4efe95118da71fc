"""The agent's command line: no argument is a session."""

from __future__ import annotations

import json
import sys

from wulf import __version__
from wulf.agent.children import end_all
from wulf.agent.operations import OPERATIONS, PROGRAM, description
from wulf.agent.session import run

HELP = f"""\
{PROGRAM}: reads facts of this node, and looks after its MPI. Part of wulf.

usage: {PROGRAM} [--describe | --version | --help | --supervise COMMAND...]

Without an argument it is a session: requests as JSON Lines on stdin, answers as JSON Lines on stdout, until stdin
closes. By hand:

  {{"id": 1, "op": "facts", "only": ["cpu", "nic"]}}

operations: {", ".join(sorted(OPERATIONS))}

--supervise runs a command on these standard streams, and ends it, with all it started, when its input closes.
"""


def main(arguments: list[str]) -> int:
    """Run the program; returns its exit status: 0, 2 for an unknown argument, 130 when interrupted by hand."""
    if not arguments:
        try:
            return run(PROGRAM, OPERATIONS)
        except KeyboardInterrupt:
            return 130
        finally:
            end_all()
    if len(arguments) > 1 and arguments[0] == "--supervise":
        from wulf.agent.mpi.supervise import supervise

        return supervise(arguments[1:])
    if len(arguments) == 1 and arguments[0] in ("--describe", "--version", "--help"):
        text = {
            "--describe": lambda: json.dumps(description()) + "\n",
            "--version": lambda: f"{PROGRAM} {__version__}\n",
            "--help": lambda: HELP,
        }[arguments[0]]()
        sys.stdout.write(text)
        return 0
    sys.stderr.write(f"{PROGRAM}: unknown argument '{' '.join(arguments)}'; see {PROGRAM} --help\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
