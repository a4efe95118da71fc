"""What is claimed of a curve: nothing of noise; and in which words."""

from __future__ import annotations

import numpy as np

from tests.unit.report.make_run import record
from wulf.core.findings import Finding
from wulf.core.records import Record
from wulf.findings.curves import judged
from wulf.measure.engine.curve import NET_ARMS, NET_SUSPECTS, PHASE, curve_cells, proof_cells
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric

STREAM = Cell(0, "n1", "n2", "tcp", "stream", {"seconds": 0.1}, (Metric("throughput", "B/s", "higher"),))
SIZES = [2**exponent for exponent in range(23)]
LOOKS = (11, 16, 24)


def campaign(random: np.random.Generator, spread: float, beyond: float = 1.0) -> Finding:
    """A curve that is flat up to 64 KiB, and `beyond` of that from there on, measured and proven."""

    def measured(cell: Cell, phase: str, replicates: int) -> Record:
        size = int(cell.params["bytes"] or 0)
        samples = random.lognormal(0.0, spread, replicates) * (beyond if size > 65536 else 1.0) * 1e9
        params = {**cell.params, **cell.about}
        return record(
            "n1>n2", "throughput", float(np.median(samples)), unit="B/s", phase=phase, params=params,
            samples=samples.tolist(),
        )  # fmt: skip

    cells = curve_cells(STREAM, NET_ARMS[:1], SIZES)
    records = [measured(cell, PHASE, 11) for cell in cells]
    proof = proof_cells(cells, records, NET_SUSPECTS)
    blocks = int(random.choice(LOOKS))
    records += [measured(cell, cell.phase, blocks) for cell in proof]
    (finding,) = judged(records, NET_SUSPECTS, LOOKS)[1]
    return finding


def test_of_flat_curves_hardly_any_claims_a_fall() -> None:
    """All claims of one way err together with at most 5 %; of 60, more than 7 would come with a chance of 0.9 %."""
    random = np.random.default_rng(5)
    claims = ("It falls", "Measured anew")
    claimed = [any(claim in campaign(random, 0.1).text for claim in claims) for _ in range(60)]
    assert sum(claimed) <= 7


def test_a_fall_of_a_tenth_is_found_whatever_the_draw() -> None:
    random = np.random.default_rng(6)
    found = [campaign(random, 0.02, beyond=0.9) for _ in range(20)]
    assert all("It falls beyond" in finding.text for finding in found)
    assert all("Nothing that was tried explains it." in finding.text for finding in found), (
        "no suspect changed anything"
    )
    for finding in found:
        fall = min((one for one in finding.evidence if "," not in one.subject), key=lambda one: one.value or 1.0)
        assert fall.low is not None and fall.high is not None
        assert fall.low < 0.95 and fall.high > 0.85
