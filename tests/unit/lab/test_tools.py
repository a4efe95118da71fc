from __future__ import annotations

from pathlib import Path

import pytest

from wulf.core.errors import LabError
from wulf.lab import manage, tools


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_found_in_a_set_up_without_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "usr" / "sbin" / "wulf-test-sshd")
    assert tools.find("wulf-test-sshd") is None
    monkeypatch.setenv("WULF_SYSROOT", str(tmp_path))
    assert tools.find("wulf-test-sshd") == path
    assert f"{tmp_path}/usr/lib" in tools.environment(path)["LD_LIBRARY_PATH"].split(":")


def test_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = program(tmp_path / "bin" / "ssh")
    monkeypatch.setenv("PATH", str(first.parent))
    assert tools.find("ssh") == first
    assert "LD_LIBRARY_PATH" not in tools.environment(first) or tmp_path not in tools.environment(first).values()


def test_missing_names_the_packages_of_three_families() -> None:
    with pytest.raises(LabError, match="needs wulf-no-such") as caught:
        tools.require("wulf-no-such")
    for word in ("apt install openssh-server", "dnf install openssh-server", "zypper install openssh"):
        assert word in caught.value.next_step


def test_without_sshd_it_is_loopback_or_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda name: None if name == "sshd" else Path("/bin/true"))
    with pytest.raises(LabError, match="needs sshd"):
        manage._choose("netns", wire=None)
    choice = manage._choose(None, wire=None)
    assert (choice.backend, choice.why) == ("loopback", "sshd not installed")
