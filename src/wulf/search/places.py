"""Places in texts, as {block}, and what is put there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from wulf.core.records import Param
from wulf.search.space import written

_PLACE = re.compile(r"\{([A-Za-z_][\w.]*)\}")
"""A placeholder; what else stands in braces is left as it is."""


def places_of(texts: Iterable[str]) -> set[str]:
    """The names of all places in these texts."""
    return {name for text in texts for name in _PLACE.findall(text)}


def filled(text: str, values: Mapping[str, Param]) -> str:
    """The text with these values in their places; a place without a value stays as it is."""
    return _PLACE.sub(lambda match: written(values[match[1]]) if match[1] in values else match[0], text)
