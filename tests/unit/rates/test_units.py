"""The units of systemd that measure rates, beside what root's own programs trust."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

import pytest

from wulf.agent.files.state import run_folder, state_folder
from wulf.agent.settings import pmqos

UNIT = Path(__file__).parents[3] / "packaging" / "systemd" / "wulf-rates.service"


@pytest.fixture
def service() -> dict[str, str]:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(UNIT.read_text())
    return dict(parser["Service"])


def test_root_trusts_nothing_that_belongs_to_the_services_account(
    service: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd gives that account all that lies in its directories; journal and agent of root's must not be there."""
    monkeypatch.delenv("WULF_STATE", raising=False)
    owned = [Path("/var/lib") / service["StateDirectory"], Path("/run") / service["RuntimeDirectory"]]
    for trusted in (state_folder(), run_folder(), pmqos._note()):
        assert not [folder for folder in owned if trusted.is_relative_to(folder)]
