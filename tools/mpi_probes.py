"""Writes src/wulf/measure/mpi_probes.json: what wulf-mpi can do, asked of the built program.

wulf-mpi is built on the cluster, with its MPI; where wulf itself runs there may be none, and the command line still has
to know the probes. `python tools/mpi_probes.py [PROGRAM]`; without one, of build/mpi-openmpi or build/mpi-mpich.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from wulf.measure.mpi import DATA, kept  # noqa: E402 - from this tree, whatever is installed

BUILDS = ("openmpi", "mpich")


def main(arguments: list[str]) -> int:
    """Ask the program, and write what it says."""
    built = [ROOT / f"build/mpi-{kind}/wulf-mpi" for kind in BUILDS]
    program = Path(arguments[0]) if arguments else next((path for path in built if path.exists()), None)
    if program is None:
        print(f"no wulf-mpi is built: expected {' or '.join(map(str, built))}", file=sys.stderr)
        return 2
    answer = subprocess.run([program, "--describe"], capture_output=True, text=True, check=True, timeout=30)
    path = ROOT / "src/wulf/measure" / DATA
    path.write_text(json.dumps(kept(json.loads(answer.stdout)), indent=1, ensure_ascii=False) + "\n")
    print(f"{path.relative_to(ROOT)} as {program} describes itself")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
