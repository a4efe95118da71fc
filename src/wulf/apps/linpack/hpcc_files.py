"""HPCC's files: hpccinf.txt, which is an HPL.dat with five lines more, and hpccoutf.txt, which it appends to.

HPCC runs every part each time; none can be left out. The other parts take their sizes from the memory of HPL's matrix,
8·N²/(P·Q) a rank, so that a smaller N makes them smaller, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from wulf.apps.driver import Job
from wulf.apps.linpack.dat import HplDat

INPUT = "hpccinf.txt"
OUTPUT = "hpccoutf.txt"

_SECTION = re.compile(r"^Begin of (\w+) section\.$", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)
_SUMMARY = "Summary"
_FIRST = "Begin of MPIRandomAccess section.\n"


def input_text(dat: HplDat, transposes: Sequence[int] = (), blocks: Sequence[int] = ()) -> str:
    """hpccinf.txt.

    Parameters
    ----------
    transposes, blocks
        Sizes of matrix and block that PTRANS measures beside HPL's own, N/2 and NB; HPCC leaves out matrices with less
        than 0.9 of the memory of HPL's.
    """
    lines = [
        "##### This line (no. 32) is ignored (it serves as a separator). ######",
        f"{len(transposes):<12} Number of additional problem sizes for PTRANS",
        f"{' '.join(map(str, transposes)) or 0:<12} values of N",
        f"{len(blocks):<12} number of additional blocking sizes for PTRANS",
        f"{' '.join(map(str, blocks)) or 0:<12} values of NB",
    ]
    return dat.text() + "\n".join(lines) + "\n"


def job(program: str, dat: HplDat, environment: Mapping[str, str], timeout: float) -> Job:
    """One run of hpcc. Its input is read back, too: what it can't read it replaces by a configuration of its own."""
    given = {INPUT: input_text(dat)}
    return Job((program,), given, environment, mpi=True, outputs=(OUTPUT, INPUT), timeout=timeout)


def section(text: str, name: str) -> str:
    """What the last run wrote into a section; up to the end of the text where it was cut short, empty where none is."""
    text = _last_run(text)
    begin = text.find(f"Begin of {name} section.\n")
    if begin < 0:
        return ""
    end = text.find(f"End of {name} section.", begin)
    return text[begin : end if end >= 0 else len(text)]


def _last_run(text: str) -> str:
    """HPCC appends: what the run that began last wrote."""
    return text[max(0, text.rfind(_FIRST)) :]


def entries(text: str) -> dict[str, str]:
    """key=value of the last run's summary; empty where it has none, or not to its end."""
    found = section(text, _SUMMARY)
    if f"End of {_SUMMARY} section." not in _last_run(text):
        return {}
    return {key: value.strip() for key, value in _ENTRY.findall(found)}


def summary(text: str) -> dict[str, float]:
    """The summary's numbers."""
    numbers = {}
    for key, value in entries(text).items():
        try:
            numbers[key] = float(value)
        except ValueError:  # a word: LANG=C
            continue
    return numbers


def cut_short(text: str) -> str:
    """Why there is no summary: in which part the output ends."""
    text = _last_run(text)
    begun = _SECTION.findall(text)
    if not begun:
        return f"{OUTPUT} has no section: HPCC did not get so far"
    if f"End of {begun[-1]} section." in text:
        return f"{OUTPUT} ends after the part {begun[-1]}: the run was cut short"
    return f"{OUTPUT} ends within the part {begun[-1]}: the run was cut short"
