"""Names of signals, of the real-time ones too, for which Python has none."""

from __future__ import annotations

import signal


def name_of(number: int) -> str:
    """'SIGSEGV', 'SIGRTMIN+3'; 'signal 99' of one that this system does not have."""
    try:
        return signal.Signals(number).name
    except ValueError:
        if signal.SIGRTMIN <= number <= signal.SIGRTMAX:
            return f"SIGRTMIN+{number - signal.SIGRTMIN}"
        return f"signal {number}"
