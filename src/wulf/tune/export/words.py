"""Values in the words of those who take them: SI units become what a file, a directive or an argument holds."""

from __future__ import annotations

from wulf.tune.setting import Value


def kernel(value: Value, scale: float = 1) -> str:
    """As a file of the kernel takes it: numbers in the file's own unit, of which one is `scale` SI units."""
    return str(value) if isinstance(value, str) else str(round(value / scale))


def switch(value: Value, scale: float = 1) -> str:
    """As ethtool takes it: on and off, else as the kernel does."""
    return ("on" if value else "off") if isinstance(value, bool) else kernel(value, scale)


def directive(option: str, value: Value) -> str:
    """As systemd.link(5) takes it: yes and no; spans of time with their unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{kernel(value, 1e-6)}us" if option.endswith("Sec") else kernel(value)


def quoted(text: str) -> str:
    """One word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
