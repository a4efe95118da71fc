"""One lock for all imports that happen while requests run.

Python 3.9's zipimport puts a module into sys.modules before it has run it and takes no lock, so that a second thread
which imports it meanwhile finds it half made. From 3.10 on the interpreter guards against that.
"""

from __future__ import annotations

import threading

IMPORTING = threading.RLock()
