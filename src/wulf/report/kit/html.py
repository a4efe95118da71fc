"""HTML pages as wulf writes them: one file each, which needs no network, now or ever.

Their content security policy allows no connection at all, and no script but those whose digests it lists; so a node
name or a fact that smuggles markup in could not run even if it were not escaped, which it is.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from wulf.core.names import printable
from wulf.core.programs import PLOTLY, unpacked
from wulf.store.reading import StoreError


def fill_template(name: str, **context: Any) -> str:
    """One of the page templates with the pages' common style; every text in it is escaped.

    Raises
    ------
    AttributeError
        A value is no element of pages, as where a file says a number in the place of a text.
    """
    from jinja2 import UndefinedError

    try:
        return str(_environment().get_template(name).render(style=template("report.css"), **context))
    except UndefinedError as error:
        raise AttributeError(f"{name}: {error}") from error


@cache
def _environment() -> Any:
    """Where templates are compiled, each once."""
    import jinja2  # slow to import, too

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters |= {"code": _code, "unbroken": _unbroken}
    return environment


def _printable(value: Any) -> Any:
    """No text of a page holds a control character; markup is ours."""
    return printable(value) if type(value) is str else value


def _code(text: str) -> Any:
    """Text as safe markup in which `backquotes` are code."""
    import markupsafe

    escaped = str(markupsafe.escape(printable(text)))
    return markupsafe.Markup(re.sub("`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704 - escaped


def _unbroken(text: str) -> Any:
    """Text as safe markup whose figures stay on one line with their units."""
    import markupsafe

    return markupsafe.Markup(re.sub(r"(?<=\d) (?=[^\W\d])", "&nbsp;", str(markupsafe.escape(printable(text)))))  # noqa: S704 - escaped


def template(name: str) -> str:
    return (files("wulf.report.kit") / "templates" / name).read_text(encoding="utf-8")


def plotly(charts: Sequence[object]) -> str:
    """plotly.js, which draws a page's charts; empty where it has none.

    Raises
    ------
    StoreError
        It is not there: this clone has not been set up.
    """
    return _plotly() if charts else ""


@cache
def _plotly() -> str:
    """As the wheel carries it, or as set-up unpacked it in a clone."""
    package = Path(__file__).parents[2]
    carried = package / "programs" / PLOTLY
    path = carried if carried.is_file() else unpacked(package.parents[1], PLOTLY)
    if path is not None:
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    raise StoreError(f"{carried} is missing, which draws the charts of pages", "in a clone: run `make build`")


def drawing_script(*names: str) -> str:
    """The scripts that draw a page's charts, in this order, after what all of them have in common."""
    return "".join(template(name) for name in ("drawing.js", *names))


def script_digest(script: str) -> str:
    """A script's digest as a content security policy writes it (CSP level 3, hash-source)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def json_for_script(content: Any) -> str:
    """JSON that can stand inside a script element: no `<` that could end it or begin a comment."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
