"""What can be wrong with a rates file, or with one rate of it: a type each, so that a program can fall back by type."""

from __future__ import annotations

from wulf.core.errors import WulfError


class RatesError(WulfError):
    """Base of all that `wulf.rates` raises; the command line ends with 3."""


class RatesMissingError(RatesError):
    """There is no rates file, or it can't be opened."""


class RatesTornError(RatesError):
    """The file is not what `wulf rates publish` writes: cut short, edited, or something else."""


class RatesVersionError(RatesError):
    """The file has a schema that this reader does not know."""


class RatesMachineError(RatesError):
    """The file was measured on another machine: another kernel, processor, memory, or boot parameters."""


class RateMissingError(RatesError, KeyError):
    """The file has no rate of this name. Also a KeyError, as of any mapping."""


class RateUnknownError(RatesError):
    """The rate stands in the file without a value; the error says why there is none."""


class RateOldError(RatesError):
    """The rate was measured longer ago than was asked for."""
