"""What a command leaves that keeps its outcome as one JSON object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Done:
    """The result as JSON holds it, the run's folder, and the exit code."""

    result: dict[str, Any]
    path: Path
    exit_code: int
