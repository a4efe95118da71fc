"""What wulf knows of wulf-mpi's probes is what the built program says of them."""

from __future__ import annotations

import json
import subprocess

from tests.process.native.mpi_session import built, each_mpi
from wulf.measure.mpi.probes import described, kept


@each_mpi
def test_the_kept_description_is_the_programs_own(kind: str) -> None:
    """Else: `python tools/mpi_probes.py`."""
    out = subprocess.run([built(kind), "--describe"], check=True, capture_output=True, text=True, timeout=60).stdout
    assert described() == kept(json.loads(out))
