"""The build of an image, killed: no mount, no process, and nobody else's files are touched by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.conftest import skip_or_fail, traces
from tests.processes import wait_until

pytestmark = pytest.mark.lab

FAKE = """#!/bin/sh
# as mmdebstrap in root's mode: mounts in the folder that it fills
for word; do last=$before; before=$word; done
mkdir -p "$last/dev/shm" && mount -t tmpfs tmpfs "$last/dev/shm" && touch "$last/dev/shm/full" {mark}
sleep 1000
"""

BUILD = """
import sys
from pathlib import Path
from wulf.lab.qemu import image, programs, recipe
programs.require = lambda _: Path(sys.argv[1])
image.ensure(recipe.read(), print)
"""


def test_a_killed_build_leaves_no_mount_and_no_process(netns: None, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        skip_or_fail("only root builds an image")
    fake, mark = tmp_path / "mmdebstrap", tmp_path / "mounted"
    fake.write_text(FAKE.format(mark=mark))
    fake.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    build = subprocess.Popen([sys.executable, "-c", BUILD, str(fake)], env=environment)
    try:
        assert wait_until(mark.exists, 60)
        assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()  # not even while it is built
        build.send_signal(signal.SIGKILL)
        build.wait()
        assert wait_until(lambda: not [one for one in traces(tmp_path.name) if "sleep" in one or "mmdeb" in one], 60)
    finally:
        build.kill()
    (tree,) = (tmp_path / "cache/wulf/lab/images").glob("*/tree")
    assert not list((tree / "dev/shm").iterdir())
