"""The agent's command line: no argument is a session."""

from __future__ import annotations

import json
import sys

from wulf import __version__
from wulf.agent.jobs.app import clear_all
from wulf.agent.operations import OPERATIONS, PROGRAM, description
from wulf.agent.processes.children import end_all
from wulf.agent.session import run

HELP = f"""\
{PROGRAM}: reads facts of this node, looks after its MPI, runs applications, and
changes settings so that they can be undone. Part of wulf.

usage: {PROGRAM} [--describe | --version | --help | --changes | --revert [CAMPAIGN] | --supervise COMMAND...]

Without an argument it is a session: requests as JSON Lines on stdin, answers as JSON Lines on stdout, until stdin
closes. By hand:

  {{"id": 1, "op": "facts", "only": ["cpu", "nic"]}}

operations: {", ".join(sorted(OPERATIONS))}

--changes shows what wulf has changed on this node; --revert takes it back: all, or what one campaign changed. Status 1:
something is not as it was before; 3: nothing could be done. --watchdog is what a change starts, to take it back when
nobody confirms it; with --twin, a second process takes its place when it is killed. --at-boot takes back what a boot
has kept.

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
            clear_all()
    if len(arguments) > 1 and arguments[0] == "--supervise":
        from wulf.agent.mpi.supervise import supervise

        return supervise(arguments[1:])
    if arguments in (["--changes"], ["--at-boot"]) or (arguments[:1] == ["--revert"] and len(arguments) <= 2):
        from wulf.agent.changes.byhand import by_hand

        return by_hand(*arguments)
    option = " ".join(arguments)
    if option in ("--describe", "--version", "--help", "--watchdog", "--watchdog --twin"):
        return _alone(option)
    sys.stderr.write(f"{PROGRAM}: unknown argument '{option}'; see {PROGRAM} --help\n")
    return 2


def _watchdog(paired: bool) -> int:
    from wulf.agent.changes.live import live
    from wulf.agent.changes.watch.twin import Twin
    from wulf.agent.changes.watch.watchdog import settle, watch

    settle()
    host = live()
    watch(host, Twin(host) if paired else None)
    return 0


def _alone(option: str) -> int:
    """The options that stand alone."""
    if option.startswith("--watchdog"):
        return _watchdog(paired=option.endswith("--twin"))
    text = {
        "--describe": lambda: json.dumps(description()) + "\n",
        "--version": lambda: f"{PROGRAM} {__version__}\n",
        "--help": lambda: HELP,
    }[option]()
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
