"""pip without pip: its wheel from the package index, found as pip itself would find it.

The index is the "simple" one of PEP 503; its links carry the digest (#sha256=) and the Python that a file needs.
"""

from __future__ import annotations

import base64
import configparser
import hashlib
import html
import os
import re
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from provision.runner import SetupError

DEFAULT_INDEX = "https://pypi.org/simple"
LINK = re.compile(r"<a\s([^>]*)>\s*([^<]+?)\s*</a>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*["']([^"']*)["']""")
WHEEL = re.compile(r"pip-(\d+(?:\.\d+)*)-[\w.]+-none-any\.whl$")
CHECK_INDEX = "set PIP_INDEX_URL, https_proxy or PIP_CERT as this site needs them, or install python3-venv as root"


@dataclass(frozen=True)
class Wheel:
    """One file of the index."""

    version: tuple[int, ...]
    url: str
    sha256: str | None


def config_files(environ: Mapping[str, str]) -> list[Path]:
    """List pip's configuration files, the later the stronger (pip's "Configuration" chapter)."""
    home = Path(environ.get("HOME", "/"))
    user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    files = [Path("/etc/pip.conf"), home / ".pip/pip.conf", user / "pip/pip.conf"]
    given = environ.get("PIP_CONFIG_FILE")
    return [*files, Path(given)] if given else files


def option(name: str, environ: Mapping[str, str], files: Iterable[Path]) -> str | None:
    """Look up an option of pip, such as index-url: the environment first, then the configuration files."""
    if value := environ.get(f"PIP_{name.upper().replace('-', '_')}"):
        return value
    parser = configparser.RawConfigParser()
    parser.read(files, encoding="utf-8")
    return parser.get("install", name, fallback=parser.get("global", name, fallback=None))


def index_page(environ: Mapping[str, str], files: Iterable[Path]) -> str:
    """Say where the index lists pip's files."""
    index = option("index-url", environ, files) or DEFAULT_INDEX
    return index.rstrip("/") + "/pip/"


def certificates(environ: Mapping[str, str], files: Iterable[Path]) -> str | None:
    """Name the file or folder of certificates to trust; None leaves it to the system."""
    names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    given = option("cert", environ, files) or next((environ[name] for name in names if environ.get(name)), None)
    return given if given and Path(given).exists() else None


def newest(page: str, url: str, python: tuple[int, int]) -> Wheel:
    """Choose the newest released wheel of pip on an index page that this Python can run."""
    wheels = []
    for attributes, name in LINK.findall(page):
        fields = {key.lower(): html.unescape(value) for key, value in ATTRIBUTE.findall(attributes)}
        match = WHEEL.match(name)
        if match and "data-yanked" not in attributes and _runs(fields.get("data-requires-python", ""), python):
            link, _, fragment = urljoin(url, fields.get("href", "")).partition("#")
            sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
            wheels.append(Wheel(tuple(int(part) for part in match.group(1).split(".")), link, sha256))
    if not wheels:
        raise SetupError(
            f"{without_secret(url)} lists no wheel of pip that Python {python[0]}.{python[1]} can run", CHECK_INDEX
        )
    return max(wheels, key=lambda wheel: wheel.version)


def _runs(requires: str, python: tuple[int, int]) -> bool:
    """Check the lower bounds of a Requires-Python; pip sets no upper ones."""
    bounds = re.findall(r">=\s*(\d+)\.(\d+)", requires)
    return all(python >= (int(major), int(minor)) for major, minor in bounds)


def without_secret(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def request_of(url: str) -> urllib.request.Request:
    """Move a user and password from the URL into a header, as HTTP wants them."""
    request = urllib.request.Request(without_secret(url), headers={"User-Agent": "wulf-setup"})
    parts = urlsplit(url)
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        request.add_header("Authorization", "Basic " + base64.b64encode(secret).decode())
    return request


def fetch_pip(folder: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Download pip's wheel into a folder and check its digest; return its path."""
    files = config_files(environ)
    bundle = certificates(environ, files)
    at = {"cafile": bundle} if bundle and Path(bundle).is_file() else {"capath": bundle}
    context = ssl.create_default_context(**at)
    page = index_page(environ, files)
    wheel = newest(_get(page, context).decode(errors="replace"), page, sys.version_info[:2])
    content = _get(wheel.url, context)
    if wheel.sha256 and hashlib.sha256(content).hexdigest() != wheel.sha256:
        raise SetupError(
            f"{without_secret(wheel.url)} is not what the index says (sha256)", "try again; is a proxy in between?"
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / urlsplit(wheel.url).path.rpartition("/")[2]
    path.write_bytes(content)
    return path


def _get(url: str, context: ssl.SSLContext) -> bytes:
    try:
        with urllib.request.urlopen(request_of(url), context=context, timeout=60) as answer:
            content: bytes = answer.read()
            return content
    except (urllib.error.URLError, OSError) as error:
        raise SetupError(f"{without_secret(url)} can't be fetched: {error}", CHECK_INDEX) from error
