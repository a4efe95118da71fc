"""Whether somebody uses a node: its load, its CPUs, who is logged in; from recorded files."""

from __future__ import annotations

import struct
from pathlib import Path

from wulf.agent.jobs.occupancy import occupancy


def recorded(root: Path, *, utmp: bytes | None = None, sessions: dict[str, str] | None = None) -> Path:
    (root / "proc").mkdir()
    (root / "proc/loadavg").write_text("1.50 0.40 0.10 1/200 4711\n")
    (root / "proc/stat").write_text("cpu  1 2 3\ncpu0 1 2 3\ncpu1 1 2 3\nintr 7\n")
    folder = root / "run/systemd/sessions"
    folder.mkdir(parents=True)
    for name, text in (sessions or {}).items():
        (folder / name).write_text(text)
    if utmp is not None:
        (root / "run/utmp").write_bytes(utmp)
    return root


def entry(kind: int, user: str) -> bytes:
    return struct.pack("=hxxi32s4s32s256shhiii16s20x", kind, 1, b"pts/0", b"0", user.encode(), b"", 0, 0, 0, 0, 0, b"")


def test_load_and_cpus_are_the_kernel_s(tmp_path: Path) -> None:
    assert occupancy(str(recorded(tmp_path))) == {"load": 1.5, "cpus": 2, "users": []}


def test_users_are_those_of_utmp_who_are_logged_in_now(tmp_path: Path) -> None:
    content = entry(7, "ada") + entry(8, "gone") + entry(2, "reboot") + entry(7, "ada") + b"torn"
    assert occupancy(str(recorded(tmp_path, utmp=content)))["users"] == ["ada"]


def test_users_are_those_of_logind_with_a_terminal(tmp_path: Path) -> None:
    sessions = {
        "3": "USER=eve\nCLASS=user\nTTY=pts/1\nSTATE=active\n",
        "c4": "USER=gdm\nCLASS=greeter\nTTY=tty1\nSTATE=active\n",
        "5": "USER=root\nCLASS=user\nSTATE=active\n",
        "6": "USER=bob\nCLASS=user\nTTY=pts/2\nSTATE=closing\n",
        "3.ref": "",
    }
    assert occupancy(str(recorded(tmp_path, sessions=sessions)))["users"] == ["eve"]


def test_the_live_node_answers() -> None:
    found = occupancy()
    assert found["load"] >= 0
    assert found["cpus"] >= 1
