"""What an installation can do, in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wulf import __version__
from wulf.cluster.installation import Answer
from wulf.core.names import plural
from wulf.report.kit.view import Columns, Section, View


def installation_view(answers: Sequence[Answer]) -> View:
    """What it can do, then what it lacks, and how to come by that."""
    able, lacking = ([one for one in answers if bool(one.lacks) is lacks] for lacks in (False, True))
    broken = [one for one in answers if one.broken]
    if broken:
        headline = f"wulf {__version__} is not whole: it can't {broken[0].ability.name}"
    elif lacking:
        headline = f"wulf {__version__} works here; {plural(len(lacking), 'thing')} of {len(answers)} it can't do"
    else:
        headline = f"wulf {__version__} can do everything here"
    sections = []
    if able:
        rows = [(one.ability.name, one.ability.commands, one.by) for one in able]
        sections.append(Section("It can", table=Columns(("what", "commands", "with"), rows, words=3)))
    sections += [
        Section(
            f"It can't {one.ability.name} ({one.ability.commands})",
            [f"{one.lacks}."],
            small=[f"→ {one.ability.advice}"],
        )
        for one in lacking
    ]
    return View("What this installation can do", headline, sections)


def installation_object(answers: Sequence[Answer]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "version": __version__,
        "whole": not any(one.broken for one in answers),
        "abilities": [
            {
                "name": one.ability.name, "commands": one.ability.commands, "able": not one.lacks,
                "with": one.by or None, "lacks": one.lacks or None, "advice": one.ability.advice if one.lacks else None,
            }
            for one in answers
        ],
    }  # fmt: skip
