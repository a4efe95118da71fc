"""What is said where a lab can have no Slurm."""

from __future__ import annotations

import os

import pytest

from wulf.core.errors import LabError
from wulf.lab import manage, slurm


def test_loopback_nodes_have_no_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "check", lambda: None)
    with pytest.raises(LabError, match=r"can't start Slurm .*\(as asked\)"):
        manage.up(2, backend="loopback", name=f"unit-{os.getpid()}", with_slurm=True)
