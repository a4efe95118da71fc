"""Writes src/wulf/measure/mpi/probes.json: what wulf-mpi can do, asked of the built program.

wulf-mpi is built on the cluster, with its MPI; where wulf itself runs there may be none, and the command line still has
to know the probes. `python tools/mpi_probes.py [PROGRAM]`; without one, of what the tests built last.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from wulf.measure.mpi.probes import DATA, kept  # noqa: E402 - from this tree, whatever is installed

BUILDS = ROOT / "build/tests-cache/wulf/mpi"


def main(arguments: list[str]) -> int:
    """Ask the program, and write what it says."""
    built = max(BUILDS.glob("*/wulf-mpi"), key=lambda path: path.stat().st_mtime, default=None)
    program = Path(arguments[0]) if arguments else built
    if program is None:
        print(f"no wulf-mpi is in {BUILDS}: `python -m tests.process.native.mpi_session` builds it", file=sys.stderr)
        return 2
    answer = subprocess.run([program, "--describe"], capture_output=True, text=True, check=True, timeout=30)
    path = ROOT / "src/wulf/measure/mpi" / DATA
    path.write_text(json.dumps(kept(json.loads(answer.stdout)), indent=1, ensure_ascii=False) + "\n")
    print(f"{path.relative_to(ROOT)} as {program} describes itself")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
