"""What is shown of a command that takes long."""

from __future__ import annotations

import io

import pytest
from provision.progress import Apt, Count, Display, Ninja, Nothing, Pip, text


class Screen(io.StringIO):
    def __init__(self, live: bool) -> None:
        super().__init__()
        self._live = live

    def isatty(self) -> bool:
        return self._live


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def read(count: Count, lines: str) -> tuple[int, int]:
    for line in lines.splitlines():
        count.read(line)
    return count.done, count.total


def test_ninja_says_itself_how_far_it_is() -> None:
    said = "ninja: Entering directory\n[1/31] Building a\n[12/31] Building b\nwarning: [3/4]"
    assert read(Ninja(), said) == (12, 31)


def test_a_package_of_apt_is_fetched_unpacked_and_set_up() -> None:
    lines = """
        0 upgraded, 2 newly installed, 0 to remove and 9 not upgraded.
        Get:1 http://deb.debian.org/debian bookworm/main amd64 ninja-build amd64 1.11.1-2 [129 kB]
        Get:2 http://deb.debian.org/debian bookworm/main amd64 cmake amd64 3.25.1-1 [8692 kB]
        Preparing to unpack .../ninja-build_1.11.1-2_amd64.deb ...
        Unpacking ninja-build (1.11.1-2) ...
        Setting up ninja-build (1.11.1-2) ...
    """
    assert read(Apt(), "\n".join(line.strip() for line in lines.splitlines())) == (4, 6)


def test_pip_collects_and_then_unpacks() -> None:
    count = Pip(10)
    lines = "Collecting a\n  Downloading a.whl\nCollecting b\nInstalling collected packages: b, a"
    assert read(count, lines) == (2, 14)
    assert read(count, "Collecting more\n" * 20) == (22, 31), "more than were expected"


@pytest.mark.parametrize(
    ("done", "total", "elapsed", "said"),
    [
        (10, 40, 20, "10 of 40, 60 s left"),
        (0, 40, 3, "0 of 40"),
        (40, 40, 9, "40 of 40, 0 s left"),
        (0, 0, 7, "7 s so far"),
        (50, 40, 7, "7 s so far"),
    ],
)
def test_time_left_is_that_of_what_is_left(done: int, total: int, elapsed: float, said: str) -> None:
    count = Ninja()
    count.done, count.total = done, total
    assert text(count, elapsed) == said


def test_a_terminal_has_one_line_that_is_written_over_and_nothing_of_what_is_short() -> None:
    screen, clock = Screen(live=True), Clock()
    display = Display("building", Ninja(), screen, clock)
    display.read("[1/4] a")
    assert screen.getvalue() == ""
    clock.now += 2.5
    display.read("[2/4] b")
    clock.now += 0.1
    display.read("[3/4] c")  # too soon after the last
    display.end()
    assert screen.getvalue() == "\r\x1b[K  building: 2 of 4, 2 s left\r\x1b[K"


def test_a_pipe_has_a_line_every_thirty_seconds_also_of_a_command_that_says_nothing() -> None:
    screen, clock = Screen(live=False), Clock()
    display = Display("fetching", Nothing(), screen, clock)
    for _ in range(65):
        clock.now += 1
        display.look()
    display.end()
    assert screen.getvalue().splitlines() == ["wulf: fetching: 30 s so far", "wulf: fetching: 60 s so far"]
