"""Files that are no entries of the catalogue are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.core.errors import UsageError
from wulf.tune.catalogue import FOLDER, catalogue, read

GOOD = (FOLDER / "tcp.sack.toml").read_text()


def test_an_entry_is_read_with_what_it_leaves_out() -> None:
    setting = catalogue()["tcp.sack"]
    assert (setting.group, setting.by_hand, setting.flap, setting.security) == ("tcp", False, False, "none")
    assert catalogue()["bios.c1e"].by_hand


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "tcp.sack.toml is no entry"),
        (GOOD.replace('scope = "netns"', 'scope = "netspace"'), "scope"),
        (GOOD.replace("tested", "testet"), "testet"),
        (GOOD.replace('name = "tcp.sack"', 'name = "TCP SACK"'), "name"),
        (GOOD.replace("[advice.latency]", "[advice.speed]"), "advice.speed"),
        (GOOD.replace("persist = { sysctl", "persist = { sysctrl"), "sysctrl"),
        (GOOD.replace('name = "tcp.sack"', 'name = "tcp.dsack"'), "holds the setting tcp.dsack"),
    ],
)
def test_a_wrong_one_is_refused_with_its_field(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "tcp.sack.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says.replace(".", r"\.")):
        read(path)


def test_a_missing_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tcp\.gone\.toml"):
        read(tmp_path / "tcp.gone.toml")
