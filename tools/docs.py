#!/usr/bin/env python3
"""The documentation: `make docs` builds the site, `docs.py refresh` renews the output that pages show."""

import sys

from handbook.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
