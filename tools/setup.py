#!/usr/bin/env python3
"""Sets up what one make target needs: `python3 tools/setup.py demo`. Standard library only.

This file keeps to what Python 3.6 can read, so that an old python3 gets a sentence and not a traceback.
"""

import os
import shutil
import sys

MINIMUM = (3, 11)
NEWER = ("python3.11", "python3.12", "python3.13", "python3.14")

ADVICE = """wulf needs Python 3.11 or newer; python3 here is {found}, and none of {names} is on the PATH.
  → Debian, Ubuntu: apt-get install python3.11
    Fedora, RHEL:   dnf install python3.11
    openSUSE:       zypper install python311"""


def hand_over() -> None:
    """Replace this process by a newer python of the PATH; leave with advice (2) where there is none."""
    for name in NEWER:
        path = shutil.which(name)
        if path:
            os.execv(path, [path, *sys.argv])
    found = "%d.%d" % sys.version_info[:2]  # noqa: UP031 - read by old pythons too
    sys.stderr.write(ADVICE.format(found=found, names=", ".join(NEWER)) + "\n")
    sys.exit(2)


if __name__ == "__main__":
    if tuple(sys.version_info[:2]) < MINIMUM:
        hand_over()
    from provision.main import main

    sys.exit(main(sys.argv[1:]))
