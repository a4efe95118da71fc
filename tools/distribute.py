"""What users install, made of the wheel in dist/: `make packages`, `make bundle`; and `make source`."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from distribution import bundle, nfpm, source, targets
from provision.packages import Host
from provision.places import Places
from provision.runner import SetupError, Shell


def main() -> int:
    """Status 1 where something can't be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["packages", "bundle", "source"])
    parser.add_argument("names", nargs="*", help="packages: targets of packaging/targets.toml; bundle: Pythons")
    parser.add_argument("--arch", choices=sorted(nfpm.ARCHES), default=platform.machine())
    given = parser.parse_intermixed_args()  # ARGS= may stand before or after ONLY=
    places = Places(Path(__file__).resolve().parents[1])
    host = Host(extra=(places.sysroot,), venv=places.venv)
    try:
        with (places.build / "distribute.log").open("w", encoding="utf-8") as log:
            shell = Shell(log)
            if given.what == "source":
                print(source.source(shell, places))
            elif given.what == "bundle":
                for python in given.names or [f"{sys.version_info.major}.{sys.version_info.minor}"]:
                    print(bundle.bundle(shell, places, python, given.arch))
            else:
                for target in targets.chosen(targets.read(places.repo / "packaging/targets.toml"), given.names):
                    print(nfpm.package(shell, host, places, target, given.arch))
    except SetupError as error:
        sys.stderr.write(f"wulf: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
