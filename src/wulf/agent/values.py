"""Values of settings: the kernel's text and JSON in SI units, one from the other.

Words of a target that say how: `scale` (a number of the file times so much is in SI units), `kind`:

    bool     0 and 1, N and Y, off and on
    int      a number, even where it is written as hexadecimal
    text     as it is, even if all digits
    mask     a hexadecimal mask of CPUs ('00000000,0000000f'), shown as a list ('0-3', 'none')
    cpus     a list of CPUs, in its shortest form
    choice   the word in brackets of 'always [madvise] never'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent import cpulist
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

WORDS = ("scale", "kind")
NO_CPUS = "none"

_OFF, _ON = ("0", "n", "no", "off", "false", "disabled"), ("1", "y", "yes", "on", "true", "enabled")


def from_text(text: str, target: Mapping[str, Any]) -> Any:
    """What the kernel's (or a configuration file's) text says. Raises Unknown where it is not of the target's kind."""
    text = " ".join(text.split())
    kind = target.get("kind")
    try:
        if kind in _READERS:
            return _READERS[kind](text)
        if kind == "text" or not text.lstrip("-").isdigit():
            return text
        return scaled(int(text), target.get("scale", 1))
    except ValueError:
        raise Unknown(f"'{text[:40]}' is no {kind}") from None


def scaled(number: float, scale: float) -> float:
    """Number times scale without the noise of binary fractions: 50 and 1e-6 give 5e-05, as a person writes it."""
    return number * scale if isinstance(scale, int) else float(f"{number * scale:.12g}")


def whole(value: Any, scale: float = 1) -> int:
    """The kernel's whole number for a value in SI units. Raises Unknown where the value is no number."""
    if not isinstance(value, (bool, int, float)):
        raise Unknown(f"'{value}' is no number")
    try:
        return round(value / scale)
    except (ValueError, OverflowError):  # not a number, or endless
        raise Unknown(f"{value} is no number that can be written") from None


def to_text(value: Any, target: Mapping[str, Any]) -> str:
    """The kernel's text for a value; the inverse of `from_text`. Raises Unknown where the value can't be one."""
    kind = target.get("kind")
    try:
        if kind == "mask":
            return mask(value)
        if kind == "cpus":
            return cpulist.fold(cpulist.parse(str(value)))
        if isinstance(value, (bool, int, float)):
            return str(whole(value, target.get("scale", 1)))
    except ValueError:
        raise Unknown(f"'{value}' is no list of CPUs") from None
    return str(value)


def mask(cpus: Any) -> str:
    """A list of CPUs as the kernel reads masks: '0-3' is 'f'; groups of 32 CPUs with commas between."""
    bits = 0 if str(cpus) in (NO_CPUS, "") else sum(1 << cpu for cpu in cpulist.parse(str(cpus)))
    digits = f"{bits:x}"
    head = len(digits) % 8
    groups = [digits[:head]] * bool(head) + [digits[at : at + 8] for at in range(head, len(digits), 8)]
    return ",".join(groups)


def below(folder: str, path: str) -> str:
    """`path`, if it lies below the folder as it stands; Unknown where it would lead elsewhere."""
    if not path.startswith(f"{folder}/") or ".." in path.split("/"):
        raise Unknown(f"/{path} is not below /{folder}")
    return path


def _bool(text: str) -> bool:
    word = text.lower()
    if word not in (*_OFF, *_ON):
        raise ValueError(text)
    return word in _ON


def _unmask(text: str) -> str:
    bits = int(text.replace(",", ""), 16)
    return cpulist.fold(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1) or NO_CPUS


def _choice(text: str) -> str:
    _, _, rest = text.partition("[")
    word, bracket, _ = rest.partition("]")
    return word if bracket else text  # a file of configuration names the word alone


_READERS = {
    "bool": _bool,
    "int": lambda text: int(text, 0),
    "mask": _unmask,
    "cpus": lambda text: cpulist.fold(cpulist.parse(text)),
    "choice": _choice,
}
