from __future__ import annotations

from pathlib import Path

import pytest

from wulf.lab import LabNode, login

NODES = [LabNode("n1", "10.77.0.1", "fd77::1", None), LabNode("n2", "10.77.0.2", None, None)]


def test_sshd_accepts_keys_alone() -> None:
    lines = login._sshd_config(NODES[0], "alice", penalties=False).splitlines()
    assert "AuthenticationMethods publickey" in lines
    assert "PasswordAuthentication no" in lines
    assert "UsePAM no" in lines
    assert "AllowUsers alice" in lines
    assert not [line for line in lines if line.startswith("AcceptEnv")]
    assert [line for line in lines if line.startswith("ListenAddress")] == [
        "ListenAddress 10.77.0.1:2222",
        "ListenAddress [fd77::1]:2222",
    ]


def test_penalties_are_named_only_to_an_sshd_that_knows_them(tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"\0persourcepenalties\0")
    (tmp_path / "old").write_bytes(b"\0maxstartups\0")
    assert login._has_penalties(tmp_path / "new")
    assert not login._has_penalties(tmp_path / "old")
    assert "PerSourcePenalties no" in login._sshd_config(NODES[0], "a", penalties=True)
    assert "PerSourcePenalties" not in login._sshd_config(NODES[0], "a", penalties=False)


def test_accounts_hold_the_user_once_unlocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login.os, "geteuid", lambda: 0)
    monkeypatch.setattr(login.os, "getegid", lambda: 0)
    for own_user, name, uid in ((False, "root", "0"), (True, "wulf", "1000")):
        etc = tmp_path / name
        login._write_etc(etc, NODES, own_user)
        accounts = [line.split(":") for line in (etc / "passwd").read_text().splitlines()]
        assert [fields[2] for fields in accounts if fields[0] == name] == [uid]
        assert len([fields for fields in accounts if fields[2] == uid]) == 1
        assert "sshd" in [fields[0] for fields in accounts]
        assert (etc / "shadow").read_text().startswith(f"{name}:*:")
        assert "10.77.0.2 n2" in (etc / "hosts").read_text()
