"""The hardware lab's command lines, seeds and decisions, without any machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.core.errors import LabError
from wulf.lab.qemu import image, programs, recipe


def test_a_failed_build_names_mmdebstraps_error_and_leaves_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "mmdebstrap"
    fake.write_text("#!/bin/sh\necho 'I: downloading' >&2; echo 'E: no mirror' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(programs, "require", lambda _: fake)
    said: list[str] = []
    with pytest.raises(LabError, match="E: no mirror") as raised:
        image.ensure(recipe.read(), said.append)
    assert "  downloading" in said
    left = [path.name for path in (tmp_path / "cache/wulf/lab/images").iterdir()]
    key = recipe.read().key
    assert sorted(left) == [f"{key}.lock", f"{key}.log"]
    assert f"{key}.log" in raised.value.next_step
